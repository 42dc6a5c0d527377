import type { FastifyReply } from 'fastify'
import { z } from 'zod'
import { type ClaimEvidence, toEvidenceCsv, toEvidenceHtml } from '../../../domain/inventory/claim-document.ts'
import { claimDecisions, claimStates } from '../../../domain/inventory/claim-states.ts'
import { claimKinds } from '../../../domain/inventory/claims.ts'
import { readClaimEvidence } from '../../../store/inventory/claim-evidence.ts'
import {
  type ClaimItem,
  type ClaimRefusal,
  decideClaim,
  listClaimItems,
  readClaimItem,
} from '../../../store/inventory/claim-items.ts'
import { listClaimPayments } from '../../../store/inventory/claim-payments.ts'
import { type App, problems } from '../../app.ts'
import { resolveActor, resolveSellerFilter } from '../../auth/caller.ts'
import { csvType } from '../../csv.ts'
import { Problem } from '../../problems.ts'
import { buildList, flagSchema, skuFilter, textFilter, toSchema } from '../../schemas/lists.ts'
import { monthSchema } from '../../schemas/months.ts'
import { bigintKey } from '../../schemas/paging.ts'
import { actorSchema, claimEvidenceSchema, claimItemSchema, claimPaymentSchema } from '../../schemas/schemas.ts'
import type { RouteParts } from '../parts.ts'

const kind = z.enum(claimKinds).optional().meta({ description: 'Of this kind.' })
const state = z.enum([...claimStates, 'all'])

const items = buildList('claim-items', claimItemSchema, z.object({ id: bigintKey, deadline: z.string().nullable() }), {
  sellerId: textFilter('Of this seller.'),
  month: monthSchema.optional(),
  sku: skuFilter('Of this SKU.'),
  kind,
  state: state.default('open'),
  dueTo: toSchema('To be filed'),
  sort: z
    .enum(['-id', 'deadline'])
    .default('-id')
    .meta({ description: '-id: newest first; deadline: the next deadline first, claims without one last.' }),
})

const payments = buildList('claim-payments', claimPaymentSchema, z.object({ sellerId: z.string(), lineKey: z.string() }), {
  sellerId: textFilter('Of this seller.'),
  sku: skuFilter('Of this SKU.'),
  claimId: bigintKey.optional().meta({ description: 'Of this claim.' }),
  assigned: flagSchema.optional().meta({ description: 'Whether it is known which claim the row pays.' }),
})

/** Why each decision is refused, after `Claim ID `, and what to do. */
const refusals: Readonly<Record<Exclude<ClaimRefusal, 'not-found'>, string>> = {
  withdrawn: 'is withdrawn: a later report or log shows that nothing is missing.',
  'log-not-read':
    'is not ready: the log of its SKU has not been read in full since the difference was found. It is read with the next runs; force files it now.',
  'not-filed': 'was not filed: record that it was filed, then the answer of the marketplace.',
  'amount-without-payment': 'has an amount paid only as paid or paid in part.',
  'amount-missing': 'needs the amount that was paid, above 0.',
  'amount-too-precise': 'has an amount with more digits after the point than its currency has: check it, such as 12.50.',
  'amount-above-value': 'is worth less than this amount: check it; force records it all the same.',
}

/** Maximum number of claims in one file of evidence. */
const maxClaims = 500

const formats = ['json', 'csv', 'html'] as const
const format = z
  .enum(formats)
  .default('json')
  .meta({ description: 'html: a page to print; csv: one row for each piece of evidence.' })
const htmlType = 'text/html'
const evidenceAnswer = {
  description: 'The claims with their evidence.',
  content: {
    'application/json': { schema: z.object({ items: z.array(claimEvidenceSchema) }) },
    [csvType]: { schema: z.string() },
    [htmlType]: { schema: z.string() },
  },
}

const sendEvidence = (
  reply: FastifyReply,
  asked: (typeof formats)[number],
  { name, title, claims }: { readonly name: string; readonly title: string; readonly claims: readonly ClaimEvidence[] },
) => {
  if (asked === 'json') return { items: [...claims] }
  reply.header('content-disposition', `${asked === 'csv' ? 'attachment' : 'inline'}; filename="${name}.${asked}"`)
  if (asked === 'csv') {
    reply.type(`${csvType}; charset=utf-8; header=present`)
    return toEvidenceCsv(claims)
  }
  reply.header('content-security-policy', "default-src 'none'; style-src 'unsafe-inline'")
  reply.type(`${htmlType}; charset=utf-8`)
  return toEvidenceHtml(title, claims)
}

/** Claims with their state, and their evidence. */
export const claimRoutes = (app: App, { services }: RouteParts): void => {
  const { database } = services
  const findClaim = async (id: bigint): Promise<ClaimItem> => {
    const claim = await readClaimItem(database, id)
    if (claim === null) throw new Problem('not-found', { detail: `There is no claim ${id}.` })
    return claim
  }

  app.route({
    method: 'GET',
    url: '/v1/claims/items',
    config: { needs: ['read', 'own'] },
    schema: {
      tags: ['inventory'],
      summary: 'Claims with their state: one for each SKU, month and kind, or inbound shipment, newest first',
      querystring: items.querystring,
      response: items.response,
    },
    handler: (request, reply) => {
      const { query, caller } = request
      const filter = {
        sellerId: resolveSellerFilter(caller, query.sellerId),
        month: query.month ?? null,
        sku: query.sku ?? null,
        kind: query.kind ?? null,
        state: query.state === 'all' ? null : query.state,
        dueBefore: query.dueTo ?? null,
        byDeadline: query.sort === 'deadline',
      }
      return items.answer(request, reply, (after, limit) => listClaimItems(database, filter, after, limit))
    },
  })

  app.route({
    method: 'GET',
    url: '/v1/claims/payments',
    config: { needs: ['read', 'own'] },
    schema: {
      tags: ['inventory'],
      summary:
        'Rows of settlement reports that reimburse units, with the claim that each pays, by seller and newest report first',
      querystring: payments.querystring,
      response: payments.response,
    },
    handler: (request, reply) => {
      const { query, caller } = request
      const filter = {
        sellerId: resolveSellerFilter(caller, query.sellerId),
        sku: query.sku ?? null,
        claimId: query.claimId ?? null,
        assigned: query.assigned ?? null,
      }
      return payments.answer(request, reply, (after, limit) => listClaimPayments(database, filter, after, limit))
    },
  })

  app.route({
    method: 'GET',
    url: '/v1/claims/evidence',
    config: { needs: ['read', 'own'] },
    schema: {
      tags: ['inventory'],
      summary: 'The evidence of all claims of a month',
      description: `At most ${maxClaims} claims; 422 if there are more.`,
      querystring: z.object({
        month: monthSchema,
        sellerId: textFilter('Of this seller.'),
        kind,
        state: state.default('open'),
        format,
      }),
      response: { 200: evidenceAnswer, ...problems(422) },
    },
    handler: async ({ query, caller }, reply) => {
      const { month } = query
      const filter = {
        ...{
          sellerId: resolveSellerFilter(caller, query.sellerId),
          month,
          sku: null,
          kind: query.kind ?? null,
          dueBefore: null,
          byDeadline: false,
        },
        state: query.state === 'all' ? null : query.state,
      }
      const page = await listClaimItems(database, filter, null, maxClaims)
      if (page.next !== null) {
        throw new Problem('invalid-body', { detail: `There are more than ${maxClaims} claims: set sellerId, kind or state.` })
      }
      const claims: ClaimEvidence[] = []
      for (const claim of page.items) claims.push(await readClaimEvidence(database, claim))
      return sendEvidence(reply, query.format, { name: `claims-${month}`, title: `Claims for ${month}`, claims })
    },
  })

  app.route({
    method: 'GET',
    url: '/v1/claims/:id',
    config: { needs: ['read', 'claim'] },
    schema: {
      tags: ['inventory'],
      summary: 'One claim',
      params: z.object({ id: bigintKey }),
      response: { 200: claimItemSchema, ...problems(404) },
    },
    handler: ({ params: { id } }) => findClaim(id),
  })

  app.route({
    method: 'GET',
    url: '/v1/claims/:id/evidence',
    config: { needs: ['read', 'claim'] },
    schema: {
      tags: ['inventory'],
      summary: 'The evidence of a claim: rows of the reports as they came, log entries, and the arithmetic in words',
      params: z.object({ id: bigintKey }),
      querystring: z.object({ format }),
      response: { 200: evidenceAnswer, ...problems(404) },
    },
    handler: async ({ params: { id }, query }, reply) => {
      const claim = await findClaim(id)
      const claims = [await readClaimEvidence(database, claim)]
      return sendEvidence(reply, query.format, { name: `claim-${id}`, title: `Claim ${id}`, claims })
    },
  })

  app.route({
    method: 'POST',
    url: '/v1/claims/:id',
    config: { needs: ['operate', 'claim'] },
    schema: {
      tags: ['inventory'],
      summary: 'Set the state of a claim: filed, paid in part, paid, refused, or open again',
      description:
        '409 if the claim is withdrawn; if it would be filed before the whole log of its SKU has been read once, since a late entry may still settle it; if an answer of the marketplace is recorded before the claim was filed; or if the amount paid is missing, above the value, or has more digits than the currency has. `force` files it all the same, and accepts a higher amount. Opening or filing a claim again removes its amount.',
      params: z.object({ id: bigintKey }),
      body: z.strictObject({
        state: z.enum(claimDecisions),
        actor: actorSchema,
        reason: z
          .string()
          .trim()
          .min(1, 'must not be empty')
          .max(2_000)
          .nullish()
          .meta({ description: 'Why; recorded in the audit.' }),
        reference: z
          .string()
          .trim()
          .min(1, 'must not be empty')
          .max(200)
          .nullish()
          .meta({ description: 'The number of the case at the marketplace.' }),
        paidAmount: z
          .string()
          .regex(/^\d{1,12}(\.\d{1,4})?$/, 'must be an amount such as 12.50')
          .nullish()
          .meta({ description: 'What was paid, in the currency of the value.' }),
        force: z.boolean().default(false),
      }),
      response: { 200: claimItemSchema, ...problems(404, 409) },
    },
    handler: async ({ params: { id }, body, caller, log }) => {
      const by = resolveActor(caller, body.actor)
      const { state: to, force } = body
      const decided = { id, by, state: to, reason: body.reason ?? null, reference: body.reference ?? null, force }
      const result = await database.transaction((tx) => decideClaim(tx, { ...decided, paidAmount: body.paidAmount ?? null }))
      if (result === 'not-found') throw new Problem('not-found', { detail: `There is no claim ${id}.` })
      if (typeof result === 'string') throw new Problem('illegal-state', { detail: `Claim ${id} ${refusals[result]}` })
      log.info({ claim_id: String(id), state: to, actor: by.actor }, 'claim decided')
      return result
    },
  })
}
