import { z } from 'zod'
import { listSellers, pauseSeller, resumeSeller, type SellerStanding, sellerStates } from '../../store/sellers.ts'
import { type App, idParams, problems } from '../app.ts'
import { cursorCodec, pageSchema, pagingSchema } from '../paging.ts'
import { Problem } from '../problems.ts'
import type { RouteParts } from './parts.ts'

const cursors = cursorCodec('sellers', z.string())

const sellerSchema = z
  .object({
    sellerId: z.string(),
    state: z.enum(sellerStates).meta({
      description:
        'stopped: the marketplace refuses the credentials; paused: by an operator. In both states nothing of the seller runs.',
    }),
    reason: z.string().nullable().meta({ description: 'Why it is stopped or paused, and what to do.' }),
    since: z.date().nullable().meta({ description: 'Since when it is stopped or paused.' }),
    pausedBy: z.string().nullable(),
    nextProbeAt: z.date().nullable().meta({ description: 'When the next token is requested while it is stopped.' }),
    served: z.boolean().meta({ description: 'It is in the settings of this daemon.' }),
  })
  .meta({ id: 'Seller' })

const reloadSchema = z
  .object({
    sellers: z.array(z.string()).meta({ description: 'Ids of the sellers that this process serves now.' }),
    added: z.array(z.string()),
    removed: z.array(z.string()),
  })
  .meta({ id: 'ReloadedSellers' })

const actor = z.string().trim().min(1, 'must not be empty').max(200).meta({ description: 'Who decides.' })
const reason = z.string().trim().min(1, 'must not be empty').max(2_000).meta({ description: 'Why.' })

/** Default actor: the holder of the key. */
const anOperator = 'operator'

/** State of the sellers; pausing and resuming one. */
export const sellerRoutes = (app: App, { services }: RouteParts): void => {
  const { database } = services
  const shown = ({ sellerId, state, reason: why, since, pausedBy, probeAt }: SellerStanding) => {
    const served = services.sellers().includes(sellerId)
    return { sellerId, state, reason: why, since, pausedBy, nextProbeAt: probeAt, served }
  }
  const found = (sellerId: string, standing: SellerStanding | null): SellerStanding => {
    if (standing === null) throw new Problem('not-found', { detail: `There is no seller ${sellerId}.` })
    return standing
  }

  app.route({
    method: 'GET',
    url: '/v1/sellers',
    schema: {
      tags: ['sellers'],
      summary: 'State of each seller',
      querystring: z.object(pagingSchema),
      response: { 200: pageSchema(sellerSchema), ...problems() },
    },
    handler: async ({ query }) => {
      const page = await listSellers(database, cursors.decode(query.cursor), query.limit)
      return { items: page.items.map(shown), nextCursor: cursors.encode(page.next) }
    },
  })

  app.route({
    method: 'POST',
    url: '/v1/sellers/reload',
    schema: {
      tags: ['sellers'],
      summary: 'Read the settings of the sellers again',
      description:
        'As SIGHUP does, in this process alone. If the settings have faults, all sellers stay as they were, and the answer lists the faults.',
      response: { 200: reloadSchema, ...problems(422) },
    },
    handler: async () => {
      const result = await services.reloadSellers()
      if (result.ok) return { sellers: [...result.sellers], added: [...result.added], removed: [...result.removed] }
      throw new Problem('invalid-settings', {
        detail: 'All sellers stay as they were.',
        errors: result.faults.map((fault) => {
          const [, path = 'settings', message = fault] = /^([A-Z][A-Z_]*): (.*)$/s.exec(fault) ?? []
          return { path, message }
        }),
      })
    },
  })

  app.route({
    method: 'POST',
    url: '/v1/sellers/:id/pause',
    schema: {
      tags: ['sellers'],
      summary: 'Pause a seller',
      description:
        'Nothing of it runs until it is resumed, across restarts too; events are accepted and wait. Work in progress is completed first.',
      params: idParams,
      body: z.strictObject({ actor: actor.default(anOperator), reason }),
      response: { 200: sellerSchema, ...problems(404, 413, 415, 422) },
    },
    handler: async ({ params: { id }, body, log }) => {
      const standing = found(id, await pauseSeller(database, { sellerId: id, actor: body.actor, reason: body.reason }))
      log.info({ seller_id: id, actor: body.actor }, 'seller paused')
      return shown(standing)
    },
  })

  app.route({
    method: 'POST',
    url: '/v1/sellers/:id/resume',
    schema: {
      tags: ['sellers'],
      summary: 'Resume a stopped or paused seller',
      description: 'Its credentials are tried at once. If they are refused repeatedly, it is stopped again.',
      params: idParams,
      body: z.strictObject({ actor: actor.default(anOperator), reason: reason.nullish() }).nullish(),
      response: { 200: sellerSchema, ...problems(404, 413, 415, 422) },
    },
    handler: async ({ params: { id }, body, log }) => {
      const by = body?.actor ?? anOperator
      const standing = found(id, await resumeSeller(database, { sellerId: id, actor: by, reason: body?.reason ?? null }))
      log.info({ seller_id: id, actor: by }, 'seller resumed')
      return shown(standing)
    },
  })
}
