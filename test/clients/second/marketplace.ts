import { createHmac } from 'node:crypto'
import { z } from 'zod'
import { describePublished } from '../../../src/clients/contract/published.ts'
import type { Answer, Call } from '../../../src/clients/http/call.ts'
import type { CallOptions, SendOptions } from '../../../src/clients/http/call-options.ts'
import { type Caller, createCaller } from '../../../src/clients/http/caller.ts'
import type { FaultRules } from '../../../src/clients/http/classify.ts'
import type { Marketplace } from '../../../src/clients/http/client.ts'
import { declareEndpoint, declareWrites, type Operations } from '../../../src/clients/http/endpoint.ts'
import { asRecord, decimalText, parseTimestamp } from '../../../src/clients/http/json.ts'
import { perMinute } from '../../../src/clients/http/operation.ts'
import type { OrderCommands, OrderWriter } from '../../../src/clients/http/order-commands.ts'
import { type Observed, type Page, type RecordReader, readRecord } from '../../../src/clients/http/record.ts'
import type { PurchaseOrder } from '../../../src/domain/orders/order.ts'
import { shownShipments } from '../../../src/domain/orders/shipments.ts'
import { calendar } from '../../../src/domain/values/calendar.ts'
import { statusWords, type Vocabulary } from '../../../src/domain/values/vocabulary.ts'

// A marketplace that no seller knows: other authorisation, other faults, other words and other orders than those of the specification.

/** How one of its sellers reaches it. */
export type ShopConnection = Readonly<Record<'sellerId' | 'url' | 'apiKey' | 'secret', string>>

/** What it calls things. */
export const vocabulary: Vocabulary = {
  calendar: calendar('Europe/Berlin'),
  statuses: statusWords({
    ...{ created: ['offen'], acknowledged: ['angenommen'], shipped: ['unterwegs'] },
    ...{ cancelled: ['storniert'], refunded: ['erstattet'] },
  }),
  shipNodes: { seller: 'Haendler', marketplace: 'Zentrale', all: ['Haendler', 'Zentrale'] },
  productCharge: 'WARE',
  cancelReasons: ['vergriffen', 'Kundenwunsch'],
  buyerCancelReason: 'Kundenwunsch',
  refundReasons: ['defekt'],
  ...{ carriers: new Set(['Post']), acknowledgeWithinHours: 12, cancelsAfterDays: null },
  settingsCarriers: { services: new Map(), mailboxServices: new Set() },
  settingsForm: { hasPriority: true, methods: [] },
  returns: null,
}

const problem = z.object({ problem: z.object({ kind: z.string(), text: z.string().nullish(), at: z.string().nullish() }) })
const statuses: Readonly<Record<string, number>> = { slow_down: 429, bad_signature: 401, closed: 503 }

const rules: FaultRules = {
  read(body) {
    const { data } = problem.safeParse(body)
    const named = data === undefined ? undefined : statuses[data.problem.kind]
    const { kind = null, at = null, text = null } = data?.problem ?? {}
    return {
      faults: kind === null ? [] : [{ code: kind, field: at, description: text }],
      statuses: named === undefined ? [] : [named],
      fromMarketplace: data !== undefined,
      isFailure: data !== undefined,
      hasError: data !== undefined,
      onlyWarnings: data === undefined,
      notEnrolled: false,
    }
  },
  isOutage: () => false,
  isNotFound: ([fault]) => fault?.code === 'no_such_order',
  isAlreadyDone: ([fault]) => fault?.code === 'sent_before',
}

/** The signature of a request: over its method, target and body. */
export const formatSignature = (secret: string, method: string, target: string, body: string): string =>
  createHmac('sha256', secret).update(`${method} ${target}\n${body}`).digest('hex')

/** The marketplace. */
export const shop: Marketplace<ShopConnection> = {
  connect({ sellerId, url, apiKey, secret }, parts) {
    const caller = createCaller({
      ...{ sellerId, requestTimeoutMs: 5_000, parts, baseUrl: url, rules },
      authorise: () => ({
        credentials: async () => ({ headers: { 'x-api-key': apiKey }, secrets: [secret, apiKey], reject: () => false }),
      }),
      headers: ({ method, target, body }, credentials, correlationId) => {
        return { ...credentials, 'x-signature': formatSignature(secret, method, target, body ?? ''), 'x-request': correlationId }
      },
      budgetHeaders: { remaining: ['x-left'], replenishAt: ['x-more-at'] },
    })
    const credentials = {
      check: async () => ({ accepted: true }) as const,
      clearRefusals: () => undefined,
      areAccepted: () => true,
    }
    return {
      ...{
        hosts: { shop: caller },
        vocabulary,
        orderCommands: salesEndpoint,
        returnCommands: null,
        orderWrites: salesWrites,
        returnWrites: null,
        clock: caller.clock,
        credentials,
      },
      retire: () => caller.retire(),
      close: () => caller.close(),
    }
  },
}

/** Units are one row each here, and money stands in cents. */
const wireSale = z.object({
  ref: z.string(),
  placed: z.string(),
  pieces: z.array(z.object({ row: z.number(), article: z.string(), cents: z.number().int(), parcel: z.string().nullable() })),
})

const findLine = (row: number, pieces: z.infer<typeof wireSale>['pieces']): PurchaseOrder['lines'][number] => {
  const sent = pieces.flatMap(({ parcel }) => (parcel === null ? [] : [parcel]))
  const amount = decimalText(pieces.reduce((sum, { cents }) => sum + cents, 0) / 100) ?? '0'
  const unknown = { cancellationReason: null, methodCode: null, trackingUrl: null, shippedAt: null, raw: {} }
  const taken = { ...unknown, status: 'angenommen', quantity: pieces.length - sent.length, carrier: null, trackingNumber: null }
  const shipped = sent.map((parcel) => ({ ...taken, status: 'unterwegs', quantity: 1, carrier: 'Post', trackingNumber: parcel }))
  return {
    ...{ lineNumber: String(row), sku: pieces[0]?.article ?? null, productName: null, unitOfMeasure: null, statusDate: null },
    ordered: pieces.length,
    units: { acknowledged: pieces.length, shipped: sent.length, cancelled: 0, refunded: 0 },
    statuses: [...shipped, ...(taken.quantity > 0 ? [taken] : [])],
    shipments: shownShipments(shipped),
    charges: [{ chargeType: 'WARE', chargeName: 'Ware', amount, currency: 'EUR', tax: null }],
    ...{ refundedAmount: '0', refundReasons: [], refunds: [], currency: 'EUR', intentToCancel: false, raw: pieces },
  }
}

const reader: RecordReader<z.infer<typeof wireSale>, PurchaseOrder> = {
  resource: 'order',
  schema: wireSale,
  published: describePublished(wireSale),
  keyField: 'ref',
  toDomain: ({ ref, placed, pieces }, raw) => ({
    ...{ purchaseOrderId: ref, customerOrderId: null, orderDate: parseTimestamp(placed), orderType: null, methodCode: null },
    ...{ shipNodeType: 'Haendler', estimatedShipDate: null, estimatedDeliveryDate: null, totalAmount: null, currency: 'EUR' },
    ...{ customerName: null, customerEmail: null, customerPhone: null, shippingAddress: null, raw },
    lines: [...Map.groupBy(pieces, ({ row }) => row)].map(([row, own]) => findLine(row, own)),
  }),
}

const operations = {
  list: { name: 'sales.list', limit: perMinute(600), payloadKeys: ['page.sales'] },
  get: { name: 'sales.get', limit: perMinute(600), payloadKeys: ['sale'] },
  send: { name: 'sales.send', limit: perMinute(60), payloadKeys: ['sale'], write: true },
} as const satisfies Operations

const nextPage = z.object({ page: z.object({ after: z.string().nullable() }) })

interface Parcels {
  readonly ref: string
  readonly rows: readonly { readonly row: number; readonly parcel: string; readonly pieces: number }[]
}

/** Its orders; shipping is the one command on them. */
interface Sales extends OrderCommands<Parcels> {
  list(after: string | null, options: CallOptions): Promise<Page<PurchaseOrder>>
}

const only = (caller: Caller, call: Call, answer: Answer, atMs: number): Observed<PurchaseOrder> => {
  const [record] = answer.records
  if (record === undefined) throw caller.unexpectedAnswer(call, answer)
  const { correlationId, httpStatus } = answer
  return { record: readRecord(reader, record, () => undefined), observedAt: caller.clock.at(atMs), correlationId, httpStatus }
}

const createSales = (caller: Caller): Sales => {
  return {
    commands: {
      ship: {
        operation: operations.send,
        request: (ref, { parcels }) => ({
          ref,
          rows: parcels.flatMap(({ trackingNumber: parcel, lines }) =>
            lines.map(({ lineNumber, quantity }) => ({ row: Number(lineNumber), parcel, pieces: quantity })),
          ),
        }),
      },
    },
    async list(after, options) {
      const target = after === null ? '/sales' : `/sales?after=${encodeURIComponent(after)}`
      const call: Call = { operation: operations.list, method: 'GET', target, body: null, recordsAt: ['page', 'sales'] }
      const answer = await caller.call(call, options)
      const { data } = nextPage.safeParse(answer.envelope)
      if (data === undefined) throw caller.unexpectedAnswer(call, answer)
      const records = answer.records.map((record) => readRecord(reader, record, () => undefined))
      const at = { observedAt: caller.clock.at(answer.sentMs), marketplaceNow: caller.clock.now() }
      return { records, totalCount: null, nextCursor: data.page.after, ...at, correlationId: answer.correlationId }
    },
    async get(ref, options) {
      const call: Call = { operation: operations.get, method: 'GET', target: `/sales/${ref}`, body: null, recordsAt: ['sale'] }
      const answer = await caller.call(call, options)
      return answer.found ? only(caller, call, answer, answer.sentMs) : null
    },
  }
}

/** Sends the one command on its orders. */
export const salesWrites = declareWrites(
  ({ shop: caller }: { readonly shop: Caller }): OrderWriter<Parcels> => ({
    async send({ ref, rows }, options: SendOptions) {
      const [target, body] = [`/sales/${ref}/parcels`, JSON.stringify({ rows })]
      const call: Call = { operation: operations.send, method: 'POST', target, body, recordsAt: ['sale'] }
      const answer = await caller.call(call, options)
      return only(caller, call, answer, answer.answeredMs)
    },
  }),
)

/** Its orders, and the requests of the one command on them. */
export const salesEndpoint = declareEndpoint({
  operations,
  read: (rawText) => readRecord(reader, asRecord(rawText), () => undefined),
  make: ({ shop: caller }: { readonly shop: Caller }) => createSales(caller),
})
