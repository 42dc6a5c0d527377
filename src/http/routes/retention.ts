import { z } from 'zod'
import { retainedData, retentionRules } from '../../domain/sync/retention.ts'
import { recordAct } from '../../store/keys/audit.ts'
import { type RetentionOverview, readRetentionOverview } from '../../store/privacy/retention.ts'
import { type App, problems } from '../app.ts'
import { resolveActor } from '../auth/caller.ts'
import type { RouteParts } from './parts.ts'

const wholeNumber = z.int().min(0)

const retainedSchema = z
  .object({
    data: z.enum(retainedData),
    setting: z.string().meta({ description: 'Name of the setting.' }),
    keepMs: wholeNumber.nullable().meta({ description: 'How long it is kept, in milliseconds; null: for ever.' }),
    table: z.string(),
    rows: wholeNumber,
    bytes: wholeNumber.meta({ description: 'On disk, with indexes and long values.' }),
    oldest: z.date().nullable().meta({ description: 'Oldest row in the sample; null: there is none.' }),
    going: z.object({ rows: wholeNumber, bytes: wholeNumber }).meta({
      description: 'What would be removed now. Of events, and of attempts that still count, only the large columns are emptied.',
    }),
    estimated: z.boolean().meta({ description: 'Estimated from a part of the pages: the table is large.' }),
    running: z.boolean().meta({ description: 'A process is removing data of the table, or was until a minute ago.' }),
    dueAt: z.date().meta({ description: 'When the next pass begins, within an hour.' }),
    finishedAt: z.date().nullable().meta({ description: 'When the last pass ended.' }),
    lastRemoved: wholeNumber.nullable().meta({ description: 'Rows that the last pass removed or emptied.' }),
  })
  .meta({ id: 'RetainedData' })

/** Retention periods, what is due for removal, and starting the removal. */
export const retentionRoutes = (app: App, { services }: RouteParts): void => {
  const { database, retention } = services
  const toAnswer = ({ goingRows, goingBytes, ...rest }: RetentionOverview, keepMs: number | null) => ({
    ...rest,
    setting: retentionRules[rest.data].variable,
    keepMs,
    going: { rows: goingRows, bytes: goingBytes },
  })

  app.route({
    method: 'GET',
    url: '/v1/retention',
    config: { needs: ['read', 'all'] },
    schema: {
      tags: ['retention'],
      summary: 'How long data is kept, and what is due for removal',
      response: { 200: z.object({ items: z.array(retainedSchema) }), ...problems() },
    },
    handler: async () => {
      const items: z.input<typeof retainedSchema>[] = []
      // Sequentially: each query may take a second, and other requests need connections too.
      for (const data of retainedData) {
        const keepMs = retention.keep[data] === 'forever' ? null : retention.keep[data]
        items.push(toAnswer(await readRetentionOverview(database, data, keepMs), keepMs))
      }
      return { items }
    },
  })

  app.route({
    method: 'POST',
    url: '/v1/retention/run',
    config: { needs: ['operate', 'all'] },
    schema: {
      tags: ['retention'],
      summary: 'Remove old data now',
      description:
        'Runs in the background, in small steps; `running`, `dueAt` and `lastRemoved` of `GET /v1/retention` show the progress.',
      response: { 202: z.object({ askedAt: z.date() }), ...problems(503) },
    },
    handler: async ({ caller, log }, reply) => {
      const act = { action: 'retention.run_requested', sellerId: null, subject: 'retention', reason: null } as const
      await recordAct(database, { by: resolveActor(caller, null), ...act })
      const askedAt = await retention.run()
      log.info('removal of old data requested')
      return reply.status(202).send({ askedAt })
    },
  })
}
