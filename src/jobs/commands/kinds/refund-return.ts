import type { MarketplaceClient, ReadClient } from '../../../clients/http/client.ts'
import type { Observed } from '../../../clients/http/record.ts'
import type { RefundReturnPayload } from '../../../domain/commands/command.ts'
import {
  judgeReturn,
  type OrderBaseline,
  orderBaselineSchema,
  type ReturnBaseline,
  takeBaseline,
  untouchedBaseline,
} from '../../../domain/commands/evidence.ts'
import { buildProof, provenOrder, raiseBaseline } from '../../../domain/commands/proof.ts'
import type { PurchaseOrder } from '../../../domain/orders/order.ts'
import type { ReturnOrder } from '../../../domain/orders/return.ts'
import {
  availableOfReturn,
  countReturned,
  describeReturned,
  listReturnedLedgers,
  provenOfReturn,
  type ReturnedLine,
  refundedByReturnLine,
} from '../../../domain/orders/returned-units.ts'
import { buildLedgers, checkBeforeSend, type LedgerCommand } from '../../../domain/orders/units.ts'
import { checkMoneyLeft } from '../../../domain/refunds/refund-money.ts'
import { computeProgress } from '../../../domain/sync/progress.ts'
import type { Vocabulary } from '../../../domain/values/vocabulary.ts'
import { readOrderWork } from '../../../store/commands/command-ledgers.ts'
import type { StoredCommand } from '../../../store/commands/commands.ts'
import { runPipelined } from '../../../store/commit/query-batching.ts'
import { lockOrder, storeOrder } from '../../../store/orders/orders.ts'
import { readReturnedLines, storeReturn } from '../../../store/orders/returns.ts'
import type { Blocker, CommandSubject } from '../engine/subject.ts'

/** A return with the order of its units. */
export interface ReturnWithOrder {
  readonly order: PurchaseOrder
  readonly returned: ReturnBaseline
}

/** A command that refunds units through their return. */
export type RefundReturnCommand = Pick<StoredCommand, 'id' | 'sellerId' | 'applied'> & {
  readonly purchaseOrderId: string
  readonly payload: RefundReturnPayload
}

type OrderWork = Awaited<ReturnType<typeof readOrderWork>>

const takeReturn = ({ returnOrderId, lines }: ReturnOrder): ReturnBaseline => ({
  returnOrderId,
  lines: lines.map(({ returnOrderLineNumber, quantity, refundedQuantity }) => ({
    returnLineNumber: returnOrderLineNumber,
    quantity,
    refunded: refundedQuantity,
  })),
})

/** The baseline with the refunded units that our commands prove. */
const raiseReturn = (returned: ReturnBaseline, commands: readonly LedgerCommand[]): ReturnBaseline => ({
  ...returned,
  lines: returned.lines.map((line) => {
    const proven = provenOfReturn({ ...line, returnOrderId: returned.returnOrderId }, commands)
    return { ...line, refunded: line.refunded === null ? null : Math.max(line.refunded, proven) }
  }),
})

/** Refunded units that are known and that a read result does not show, as sentences: it is stale, or shows no refunds at all. */
const listLagging = (known: ReturnBaseline, seen: ReturnBaseline): string[] =>
  known.lines.flatMap(({ returnLineNumber, refunded }) => {
    const line = seen.lines.find((candidate) => candidate.returnLineNumber === returnLineNumber)
    if (line === undefined) return [`line ${returnLineNumber} of the return is missing`]
    if (line.refunded === null) return [`line ${returnLineNumber} of the return does not show its refunded units`]
    if (line.refunded >= (refunded ?? 0)) return []
    return [`line ${returnLineNumber} of the return shows ${line.refunded} refunded units, ${refunded} are known`]
  })

/** Units of the returns that cannot be refunded through them any more, as sentences. Reservations do not count: commands of an order run one at a time. */
const listReturnFaults = (
  { returnOrderId, lines }: RefundReturnPayload,
  returned: readonly ReturnedLine[],
  view: ReturnBaseline,
  commands: readonly LedgerCommand[],
): string[] => {
  const shown = returned.map((line) => {
    const seen = view.lines.find(({ returnLineNumber }) => returnLineNumber === line.returnLineNumber)
    const refunded = line.returnOrderId === returnOrderId ? Math.max(line.refunded ?? 0, seen?.refunded ?? 0) : line.refunded
    return { ...line, refunded }
  })
  const ledgers = listReturnedLedgers(
    shown,
    commands.filter(({ state }) => state !== 'pending'),
  )
  const asked = new Map<number, number>()
  for (const { returnLineNumber, quantity } of lines) asked.set(returnLineNumber, (asked.get(returnLineNumber) ?? 0) + quantity)
  return [...asked].flatMap(([returnLineNumber, quantity]) => {
    const ledger = ledgers.find(({ line }) => line.returnOrderId === returnOrderId && line.returnLineNumber === returnLineNumber)
    if (ledger === undefined) return [`the return has no line ${returnLineNumber} of this order`]
    return quantity > availableOfReturn(ledger) ? [`${describeReturned(ledger)}, ${quantity} asked`] : []
  })
}

const findBlocker = (
  { payload }: RefundReturnCommand,
  work: OrderWork,
  returned: readonly ReturnedLine[],
  stored: ReturnWithOrder,
  view: ReturnWithOrder,
  { shipNodes }: Vocabulary,
): Blocker | null => {
  const faults: string[] = []
  if (view.order.shipNodeType?.toLowerCase() === shipNodes.marketplace.toLowerCase())
    faults.push('the marketplace fulfilled this order itself and refunds its returns')
  const ledgers = buildLedgers(countReturned(view.order, returned), work.ledgerCommands, work.shadowSince)
  faults.push(...checkBeforeSend(ledgers, { kind: 'refund-return', payload }).map(({ message }) => message))
  faults.push(...listReturnFaults(payload, returned, view.returned, work.ledgerCommands))
  faults.push(...checkMoneyLeft(payload, stored.order, view.order))
  return faults.length === 0 ? null : { state: 'rejected', reason: faults.join('; ') }
}

/**
 * A return, with the order of its units, as the subject of the command that refunds units through it; null: its marketplace does not support the command.
 * Both are read right before the request is sent: the marketplace refunds returned units as well, and a second refund pays twice (public facts 4.3).
 */
export const refundReturnSubject = (
  command: RefundReturnCommand,
  client: ReadClient,
  live: MarketplaceClient | null,
): CommandSubject<ReturnWithOrder, object> | null => {
  const { id, sellerId, purchaseOrderId, payload } = command
  const { returnOrderId } = payload
  const returns = client.returnCommands === null ? null : client.of(client.returnCommands)
  const refund = returns?.refund ?? null
  if (returns === null || refund === null) return null
  const writes = live?.returnWrites ?? null
  const { vocabulary } = client
  const { statuses } = vocabulary
  // Parts that an operator marked as applied must not be mistaken for what is sent now.
  const applied = command.applied.map(
    ({ content, baseline }): LedgerCommand => ({
      ...content,
      state: 'confirmed',
      baseline: null,
      returnBaseline: refundedByReturnLine(baseline),
    }),
  )
  const reads = new WeakMap<
    Observed<ReturnWithOrder>,
    { readonly order: Observed<PurchaseOrder>; readonly returned: Observed<ReturnOrder> }
  >()
  return {
    name: 'the return',
    operation: refund.operation,
    readsFirst: true,
    absence: `return ${returnOrderId} or its order ${purchaseOrderId} is not stored`,
    read: async (options) => {
      const order = await client.of(client.orderCommands).get(purchaseOrderId, options)
      if (order === null) return null
      // Each request has its own correlation id.
      const returned = await returns.get(returnOrderId, { signal: options.signal })
      if (returned === null) return null
      if (!order.record.ok) return { ...order, record: order.record }
      if (!returned.record.ok) return { ...returned, record: returned.record }
      const value = { order: order.record.value, returned: takeReturn(returned.record.value) }
      const observed: Observed<ReturnWithOrder> = { ...returned, record: { ...returned.record, value } }
      reads.set(observed, { order, returned })
      return observed
    },
    isUnreadable: () => false,
    store: async (tx, observed) => {
      const read = observed === null ? undefined : reads.get(observed)
      if (read === undefined) return
      // The order's row is locked before that of the return, as everywhere.
      if (read.order.record.ok) await storeOrder(tx, sellerId, read.order.observedAt, read.order.record)
      if (read.returned.record.ok) await storeReturn(tx, sellerId, read.returned.observedAt, read.returned.record)
    },
    lock: async (tx) => {
      const [row, [work, returned]] = await runPipelined(
        tx,
        () => lockOrder(tx, sellerId, purchaseOrderId),
        () =>
          runPipelined(
            tx,
            () => readOrderWork(tx, sellerId, purchaseOrderId, id),
            () => readReturnedLines(tx, sellerId, purchaseOrderId),
          ),
      )
      const ofReturn = returned.filter((line) => line.returnOrderId === returnOrderId)
      const stored: ReturnWithOrder | null =
        row === null || ofReturn.length === 0 ? null : { order: row.value, returned: { returnOrderId, lines: [...ofReturn] } }
      const proof = buildProof(statuses, work.confirmed)
      return {
        stored,
        lag: (read) => {
          const lagging = [
            stored === null ? [] : computeProgress(stored.order, read.order).lagging,
            computeProgress(provenOrder(proof), read.order).lagging,
            stored === null ? [] : listLagging(raiseReturn(stored.returned, work.ledgerCommands), read.returned),
          ]
          return [...new Set(lagging.flat())].join('; ') || null
        },
        blocker: (view) =>
          stored === null || view === null ? null : findBlocker(command, work, returned, stored, view, vocabulary),
        baseline: (view) =>
          view === null ? {} : buildBaseline(raiseBaseline(statuses, takeBaseline(view.order), proof), view, work.ledgerCommands),
        originalBaseline: (view) => {
          if (view === null) return {}
          const untouched = view.returned.lines.map((line) => ({ ...line, refunded: 0 }))
          return buildBaseline(
            raiseBaseline(statuses, untouchedBaseline(statuses, view.order), proof),
            { returned: { returnOrderId, lines: untouched } },
            work.ledgerCommands,
          )
        },
      }
    },
    judge: (sent, now) => {
      const last = sent.at(-1)
      if (last === undefined || now === null) return null
      const { returned } = orderBaselineSchema.parse(last.baseline)
      return judgeReturn(payload, returned === undefined ? undefined : raiseReturn(returned, applied), now.returned)
    },
    // The words that refuse units which were refunded before are not published, so each refusal is read back.
    mayBeDone: () => true,
    prepare: () => refund.request(payload),
    send: live === null || writes === null ? null : (request, options) => live.writer(writes).send(request, options),
  }
}

const buildBaseline = (
  order: OrderBaseline,
  { returned }: Pick<ReturnWithOrder, 'returned'>,
  commands: readonly LedgerCommand[],
): OrderBaseline => ({
  ...order,
  returned: raiseReturn(
    {
      returnOrderId: returned.returnOrderId,
      lines: returned.lines.map(({ returnLineNumber, quantity, refunded }) => ({ returnLineNumber, quantity, refunded })),
    },
    commands,
  ),
})
