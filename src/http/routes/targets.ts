import { z } from 'zod'
import { listTargets, targetTactics } from '../../store/campaigns/target-queries.ts'
import type { App } from '../app.ts'
import { resolveSellerFilter } from '../auth/caller.ts'
import { buildList, flagSchema, textFilter } from '../schemas/lists.ts'
import type { RouteParts } from './parts.ts'

const targetSchema = z
  .object({
    sellerId: z.string(),
    tactic: z.enum(targetTactics).meta({ description: 'contextual: by the viewed items; behavioral: by audience.' }),
    id: z.bigint(),
    name: z.string().nullable(),
    taxonPath: z.array(z.string()).readonly().nullable().meta({ description: 'Names from the department down.' }),
    itemCount: z.int().nullable().meta({ description: 'Items at this node of the taxonomy; null: not known.' }),
    reach: z.array(z.string()).readonly().nullable().meta({ description: 'TIER_1 to TIER_7; null for audiences.' }),
    reachBands: z.array(z.string()).readonly().nullable().meta({ description: 'LOW, MID, HIGH; null for audiences.' }),
    audienceType: z.string().nullable(),
    attribute: z.string().nullable(),
    isDisabled: z.boolean().nullable().meta({ description: 'null: the marketplace does not say.' }),
    missingSince: z.date().nullable().meta({ description: 'Time since which complete listings do not contain it.' }),
    usable: z.boolean().meta({ description: 'Whether an ad group may use it now: neither disabled nor missing.' }),
    firstSeenAt: z.date(),
    changedAt: z.date(),
  })
  .meta({ id: 'Target' })

/** Ids use all of Postgres' bigint. */
const idKey = z
  .string()
  .regex(/^\d{1,19}$/)
  .transform(BigInt)
  .refine((id) => id < 2n ** 63n)

const targets = buildList('targets', targetSchema, z.object({ sellerId: z.string(), tactic: z.enum(targetTactics), id: idKey }), {
  sellerId: textFilter('Of this seller.'),
  tactic: z.enum(targetTactics).optional(),
  usable: flagSchema.optional().meta({ description: 'Whether an ad group may use it now.' }),
  q: textFilter('Part of the name or of the path, in upper or lower case.'),
})

/** Targets and audiences of display advertising. */
export const targetRoutes = (app: App, { services }: RouteParts): void => {
  app.route({
    method: 'GET',
    url: '/v1/targets',
    config: { needs: ['read', 'own'] },
    schema: {
      tags: ['campaigns'],
      summary: 'Contextual targets and behavioral audiences, by seller, tactic and id',
      querystring: targets.querystring,
      response: targets.response,
    },
    handler: (request, reply) => {
      const { query, caller } = request
      const filter = {
        sellerId: resolveSellerFilter(caller, query.sellerId),
        tactic: query.tactic ?? null,
        usable: query.usable ?? null,
        text: query.q ?? null,
      }
      return targets.answer(request, reply, (after, limit) => listTargets(services.database, filter, after, limit))
    },
  })
}
