import { randomUUID } from 'node:crypto'
import { z } from 'zod'
import {
  type ChannelKind,
  channelHoursSchema,
  channelKinds,
  channelStates,
  defaultSeverities,
} from '../../../domain/alarms/alarm-channels.ts'
import { alarmConcerns, alarmSeverities } from '../../../domain/alarms/alarm-rules.ts'
import type { JsonObject } from '../../../domain/values/json.ts'
import {
  type AlarmChannel,
  type ChannelAddress,
  changeAlarmChannel,
  createAlarmChannel,
  listAlarmChannels,
  readAlarmChannel,
  removeAlarmChannel,
} from '../../../store/alarms/alarm-channels.ts'
import type { SqlRunner } from '../../../store/db/database.ts'
import { type AuditAction, recordAct } from '../../../store/keys/audit.ts'
import { type App, idParams, problems } from '../../app.ts'
import { type Caller, resolveActor } from '../../auth/caller.ts'
import { Problem } from '../../problems.ts'
import { buildList } from '../../schemas/lists.ts'
import type { AlarmChannelServices } from '../../services.ts'
import type { RouteParts } from '../parts.ts'

const maxName = 100
const maxRecipients = 50
const maxSellers = 1_000
const maxRepeatHours = 24 * 30

const stateSchema = z.enum(channelStates).meta({
  description: 'paused: nothing is sent; alarms that are still open when it is resumed are sent then.',
})
const severitiesSchema = z
  .array(z.enum(alarmSeverities))
  .readonly()
  .meta({ description: 'Severities of the alarms that it gets.' })
const concernsSchema = z
  .array(z.enum(alarmConcerns))
  .readonly()
  .meta({ description: 'Audiences of the alarms that it gets; empty: all.' })
const sellersSchema = z
  .array(z.string())
  .readonly()
  .meta({ description: 'Sellers of the alarms that it gets; empty: all, and alarms of the daemon itself.' })
const hoursMeta = { description: 'When messages are sent; outside of these hours they wait. null: always.' }
const repeatMeta = { description: 'An alarm that stays open is repeated after this number of hours; null: never.' }

const channelSchema = z
  .object({
    id: z.string(),
    name: z.string(),
    kind: z.enum(channelKinds),
    target: z.string().meta({ description: 'Host of its URL, which is secret, or the recipients.' }),
    severities: severitiesSchema,
    concerns: concernsSchema,
    sellerIds: sellersSchema,
    hours: channelHoursSchema.nullable().meta(hoursMeta),
    repeatHours: z.int().nullable().meta(repeatMeta),
    state: stateSchema,
    failures: z.int().meta({ description: 'Failed attempts since the last success.' }),
    failingSince: z.date().nullable(),
    lastError: z
      .string()
      .nullable()
      .meta({ description: 'Why the last attempt failed, or what was not accepted: a code or a status.' }),
    lastSentAt: z.date().nullable(),
    nextAt: z.date().nullable().meta({ description: 'After a failure: when the next attempt is due.' }),
    createdAt: z.date(),
    updatedAt: z.date(),
  })
  .meta({ id: 'AlarmChannel' })

const channels = buildList('alarm-channels', channelSchema, z.string(), {})

const nameSchema = z.string().trim().min(1, 'must not be empty').max(maxName, `must have at most ${maxName} characters`)
const urlSchema = z
  .string()
  .optional()
  .meta({ description: 'Slack, Teams: the URL of the incoming webhook or workflow. It is secret, and no answer contains it.' })
const recipientsSchema = z
  .array(z.email('must be an e-mail address'))
  .min(1, 'must name at least one')
  .max(maxRecipients, `must name at most ${maxRecipients}`)
  .optional()
  .meta({ description: 'E-mail: the recipients.' })
const unique = <Value>(values: readonly Value[]): Value[] => [...new Set(values)]
const rules = {
  severities: z.array(z.enum(alarmSeverities)).min(1, 'must name at least one').transform(unique),
  concerns: z.array(z.enum(alarmConcerns)).transform(unique),
  sellerIds: z
    .array(z.string().min(1, 'must not be empty').max(1_000))
    .max(maxSellers, `must name at most ${maxSellers}`)
    .transform(unique),
  hours: channelHoursSchema.nullable(),
  repeatHours: z.int().min(1, 'must be at least 1').max(maxRepeatHours, `must be at most ${maxRepeatHours}`).nullable(),
}

const newChannelSchema = z.strictObject({
  name: nameSchema,
  kind: z.enum(channelKinds),
  url: urlSchema,
  recipients: recipientsSchema,
  severities: rules.severities.default([...defaultSeverities]).meta({ description: 'Severities of the alarms that it gets.' }),
  concerns: rules.concerns.default([]).meta({ description: 'Audiences of the alarms that it gets; empty: all.' }),
  sellerIds: rules.sellerIds.default([]).meta({ description: 'Sellers of the alarms that it gets; empty: all.' }),
  hours: rules.hours.default(null).meta(hoursMeta),
  repeatHours: rules.repeatHours.default(null).meta(repeatMeta),
})

const changedChannelSchema = z
  .strictObject({
    name: nameSchema.optional(),
    url: urlSchema,
    recipients: recipientsSchema,
    severities: rules.severities.optional(),
    concerns: rules.concerns.optional(),
    sellerIds: rules.sellerIds.optional(),
    hours: rules.hours.optional(),
    repeatHours: rules.repeatHours.optional(),
    state: stateSchema.optional(),
  })
  .refine((body) => Object.keys(body).length > 0, 'names nothing to change')

const buildNotFound = (id: string): Problem => new Problem('not-found', { detail: `There is no alarm channel ${id}.` })

const buildFault = (path: string, message: string): Problem => new Problem('invalid-body', { errors: [{ path, message }] })

/** @throws Problem when there is no such channel */
const requireChannel = async (sql: SqlRunner, id: string): Promise<AlarmChannel> => {
  const channel = await readAlarmChannel(sql, id)
  if (channel === null) throw buildNotFound(id)
  return channel
}

const audit = (
  sql: SqlRunner,
  caller: Caller,
  action: Extract<AuditAction, `alarm_channel.${string}`>,
  subject: string,
  details: JsonObject = {},
): Promise<bigint> => recordAct(sql, { by: resolveActor(caller, null), action, sellerId: null, subject, reason: null, details })

interface GivenAddress {
  readonly url?: string | undefined
  readonly recipients?: readonly string[] | undefined
}

/** The address in a body; null: it has none. Messages do not quote it. @throws Problem when it is not one of this kind of channel */
const readAddress = (
  services: Pick<AlarmChannelServices, 'findUrlFault' | 'hasMailServer'>,
  kind: ChannelKind,
  { url, recipients }: GivenAddress,
): ChannelAddress | null => {
  if (kind === 'email') {
    if (url !== undefined) throw buildFault('url', 'is not for e-mail; accepted: recipients')
    if (recipients === undefined) return null
    if (!services.hasMailServer)
      throw buildFault('recipients', 'cannot get e-mail: the mail server is not set (SMTP_URL and SMTP_FROM)')
    const list = unique(recipients)
    return { address: list.join(','), target: list.join(', ') }
  }
  if (recipients !== undefined) throw buildFault('recipients', 'are for e-mail only; accepted: url')
  if (url === undefined) return null
  const message = services.findUrlFault(url)
  if (message !== null) throw buildFault('url', message)
  return { address: url, target: new URL(url).host }
}

/** Channels of people to which alarms are sent. They concern the daemon as a whole: a key that is bound to sellers is refused. */
export const alarmChannelRoutes = (app: App, parts: RouteParts): void => {
  readRoutes(app, parts)
  changeRoutes(app, parts)
  testRoute(app, parts)
}

const readRoutes = (app: App, { services }: RouteParts): void => {
  const { database } = services

  app.route({
    method: 'GET',
    url: '/v1/alarm-channels',
    config: { needs: ['read', 'all'] },
    schema: {
      tags: ['alarms'],
      summary: 'Channels to which alarms are sent',
      querystring: channels.querystring,
      response: channels.response,
    },
    handler: (request, reply) => channels.answer(request, reply, (after, limit) => listAlarmChannels(database, after, limit)),
  })

  app.route({
    method: 'GET',
    url: '/v1/alarm-channels/:id',
    config: { needs: ['read', 'all'] },
    schema: {
      tags: ['alarms'],
      summary: 'A channel to which alarms are sent',
      params: idParams,
      response: { 200: channelSchema, ...problems(404) },
    },
    handler: ({ params: { id } }) => requireChannel(database, id),
  })
}

const changeRoutes = (app: App, { services }: RouteParts): void => {
  const { database, alarmChannels } = services

  app.route({
    method: 'POST',
    url: '/v1/alarm-channels',
    config: { needs: ['operate', 'all'] },
    schema: {
      tags: ['alarms'],
      summary: 'Add a channel for alarms: Slack, Teams or e-mail',
      description:
        'It gets the open alarms that match its rules in one message, and from then on each alarm once: when it opens, and when it is over. ' +
        '`url` for Slack and Teams, `recipients` for e-mail.',
      body: newChannelSchema,
      response: { 201: channelSchema, ...problems(413, 415, 422) },
    },
    handler: async ({ body: { url, recipients, ...body }, log, caller }, reply) => {
      const address = readAddress(alarmChannels, body.kind, { url, recipients })
      if (address === null) {
        const path = body.kind === 'email' ? 'recipients' : 'url'
        throw buildFault(path, `is required for the kind ${body.kind}`)
      }
      const id = `ch_${randomUUID().replaceAll('-', '')}`
      const channel = await database.transaction(async (tx) => {
        const created = await createAlarmChannel(tx, { ...body, ...address, id })
        await audit(tx, caller, 'alarm_channel.added', id, { name: body.name, kind: body.kind })
        return created
      })
      await alarmChannels.enqueue(id)
      log.info({ channel_id: id, kind: body.kind }, 'alarm channel added')
      return reply.status(201).send(channel)
    },
  })

  app.route({
    method: 'PATCH',
    url: '/v1/alarm-channels/:id',
    config: { needs: ['operate', 'all'] },
    schema: {
      tags: ['alarms'],
      summary: 'Change, pause or resume a channel for alarms',
      description: 'Waiting messages are sent at once, also to a channel that has failed.',
      params: idParams,
      body: changedChannelSchema,
      response: { 200: channelSchema, ...problems(404, 413, 415, 422) },
    },
    handler: async ({ params: { id }, body, log, caller }) => {
      const { url, recipients, name, severities, concerns, sellerIds, hours, repeatHours, state } = body
      const changed = Object.keys(body)
      const { kind } = await requireChannel(database, id)
      const change = {
        ...(readAddress(alarmChannels, kind, { url, recipients }) ?? {}),
        ...(name === undefined ? {} : { name }),
        ...(severities === undefined ? {} : { severities }),
        ...(concerns === undefined ? {} : { concerns }),
        ...(sellerIds === undefined ? {} : { sellerIds }),
        ...(hours === undefined ? {} : { hours }),
        ...(repeatHours === undefined ? {} : { repeatHours }),
        ...(state === undefined ? {} : { state }),
      }
      const channel = await database.transaction(async (tx) => {
        const stored = await changeAlarmChannel(tx, id, change)
        if (stored === null) throw buildNotFound(id)
        await audit(tx, caller, 'alarm_channel.changed', id, { changed, state: stored.state })
        return stored
      })
      await alarmChannels.enqueue(id)
      log.info({ channel_id: id, changed, state: channel.state }, 'alarm channel changed')
      return channel
    },
  })

  app.route({
    method: 'DELETE',
    url: '/v1/alarm-channels/:id',
    config: { needs: ['operate', 'all'] },
    schema: {
      tags: ['alarms'],
      summary: 'Remove a channel for alarms',
      params: idParams,
      response: { 200: z.object({ id: z.string(), removed: z.literal(true) }), ...problems(404) },
    },
    handler: async ({ params: { id }, log, caller }) => {
      await database.transaction(async (tx) => {
        if (!(await removeAlarmChannel(tx, id))) throw buildNotFound(id)
        await audit(tx, caller, 'alarm_channel.removed', id)
      })
      log.info({ channel_id: id }, 'alarm channel removed')
      return { id, removed: true as const }
    },
  })
}

const testRoute = (app: App, { services, stopping }: RouteParts): void => {
  const { database, alarmChannels } = services

  app.route({
    method: 'POST',
    url: '/v1/alarm-channels/:id/test',
    config: { needs: ['operate', 'all'] },
    schema: {
      tags: ['alarms'],
      summary: 'Send a test message now',
      description: 'Sent once, in any state of the channel and at any hour. The answer is its result.',
      params: idParams,
      response: {
        200: z.object({
          delivered: z.boolean(),
          status: z
            .int()
            .nullable()
            .meta({ description: 'HTTP status, or status of the mail server; null: there was no answer.' }),
          error: z.string().nullable().meta({ description: 'A code such as timeout, address-refused, EAUTH or ECONNREFUSED.' }),
          durationMs: z.number(),
        }),
        ...problems(404),
      },
    },
    handler: async ({ params: { id }, caller }) => {
      await requireChannel(database, id)
      await audit(database, caller, 'alarm_channel.test_requested', id)
      const result = await alarmChannels.test(id, stopping)
      if (result === null) throw buildNotFound(id)
      return result
    },
  })
}
