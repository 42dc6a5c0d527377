import { z } from 'zod'
import { type Erasure, eraseBuyer, type UnsettledItem } from '../../store/privacy/erasures.ts'
import { type App, problems } from '../app.ts'
import { resolveActor } from '../auth/caller.ts'
import { Problem } from '../problems.ts'
import { actorSchema } from '../schemas/schemas.ts'
import type { RouteParts } from './parts.ts'

const erasureSchema = z
  .object({
    sellerId: z.string(),
    customerOrderId: z.string(),
    purchaseOrderIds: z.array(z.string()),
    returnOrderIds: z.array(z.string()),
    openPurchaseOrderIds: z.array(z.string()).meta({
      description: 'Orders with units that are neither shipped nor cancelled: their shipment still needs the address.',
    }),
    rows: z.record(z.string(), z.int().nonnegative()).meta({ description: 'Rows with data, by table.' }),
    auditId: z.bigint().nullable().meta({ description: 'Entry of the audit; null: dry run, nothing was erased.' }),
  })
  .meta({ id: 'Erasure' })

const toAnswer = (erasure: Erasure) => ({
  ...erasure,
  purchaseOrderIds: [...erasure.purchaseOrderIds],
  returnOrderIds: [...erasure.returnOrderIds],
  openPurchaseOrderIds: [...erasure.openPurchaseOrderIds],
  rows: { ...erasure.rows },
})

const describeUnsettled = ({ what, name, purchaseOrderId, state }: UnsettledItem): string =>
  `${what} ${name} of order ${purchaseOrderId} is ${state}; it must be settled first, automatically or by an operator`

/** Erases a buyer from all stored data. */
export const erasureRoutes = (app: App, { services }: RouteParts): void => {
  app.route({
    method: 'POST',
    url: '/v1/erasures',
    config: { needs: ['operate', 'own'] },
    schema: {
      tags: ['erasures'],
      summary: 'Erase the buyer of a customer order; units and money are kept; it cannot be undone',
      querystring: z.object({
        dryRun: z
          .enum(['true', 'false'], 'must be true or false')
          .transform((text) => text === 'true')
          .default(false)
          .meta({ description: 'Only reports what would be erased.' }),
      }),
      body: z.strictObject({
        sellerId: z.string().min(1).max(255),
        customerOrderId: z.string().trim().min(1).max(255),
        reason: z
          .string()
          .trim()
          .min(1, 'must not be empty')
          .max(2_000)
          .meta({ description: 'Why. It is stored, so it must not name the buyer.' }),
        actor: actorSchema,
      }),
      response: { 200: erasureSchema, ...problems(404, 409, 413, 415, 422) },
    },
    handler: async ({ body, query, caller, log }) => {
      const by = resolveActor(caller, body.actor)
      const result = await eraseBuyer(services.database, { ...body, ...by }, query.dryRun ? 'dry-run' : 'erase')
      if (result.ok) {
        const { erasure } = result
        if (erasure.auditId !== null)
          log.info({ seller_id: body.sellerId, audit_id: String(erasure.auditId), actor: by.actor }, 'erased a buyer')
        return toAnswer(erasure)
      }
      switch (result.fault) {
        case 'not-found':
          throw new Problem('not-found', {
            detail: `Nothing is stored of customer order ${body.customerOrderId} of seller ${body.sellerId}.`,
          })
        case 'reason-names-buyer':
          throw new Problem('invalid-body', {
            detail: 'The reason is stored and must not contain data that is erased.',
            errors: [{ path: 'reason', message: 'contains a name or an address of the buyer' }],
          })
        case 'unsettled':
          throw new Problem('illegal-state', {
            detail: `Not yet: ${result.unsettled.map(describeUnsettled).join('; ')}.`,
            errors: result.unsettled.map((one) => ({ path: 'customerOrderId', message: describeUnsettled(one) })),
          })
      }
    },
  })
}
