import { parseOrder } from '../clients/marketplace/orders/order-record.ts'
import type { Change } from '../domain/changes/change.ts'
import { commandStates } from '../domain/commands/command.ts'
import { findPastState, type RecordedState } from '../domain/commands/command-history.ts'
import type { PurchaseOrder } from '../domain/orders/order.ts'
import { findValidVersion, type ReplayedOrder, replayOrder, type ValidVersion } from '../domain/orders/order-history.ts'
import { available, type LineLedger } from '../domain/orders/units.ts'
import { mask, masked, maskedAddress } from '../domain/values/masking.ts'
import { isObject } from '../domain/values/values.ts'
import { readChangesOfOrder } from '../store/changes/changes.ts'
import { readLedgers } from '../store/commands/command-ledgers.ts'
import { type CommandDetail, listOrderCommands } from '../store/commands/command-queries.ts'
import type { Database, SqlRunner } from '../store/db/database.ts'
import { runReadOnly } from '../store/db/read-only-transaction.ts'
import { readOrderPayouts } from '../store/orders/order-payouts.ts'
import { type OrderKey, type OrderSummary, readOrderSummary, summarizeOrder } from '../store/orders/order-queries.ts'
import { type OrderVersion, readOldestVersions, readOrderTimes, readOrderVersions } from '../store/orders/order-versions.ts'
import { readOrder } from '../store/orders/stored-orders.ts'
import type { Caller } from './auth/caller.ts'
import { maskChange, maskCommand } from './masking.ts'
import { Problem } from './problems.ts'

const versionLimit = 50
const changeLimit = 1_000
/** Longest time to read a past state, in one snapshot. */
const pastTimeoutMs = 10_000

type Buyer = Pick<PurchaseOrder, 'customerName' | 'customerEmail' | 'customerPhone' | 'shippingAddress'>
type Viewer = Pick<Caller, 'session'>

/** The buyer of an order. */
export const pickBuyer = ({ customerName, customerEmail, customerPhone, shippingAddress }: Buyer) => ({
  customerName,
  customerEmail,
  customerPhone,
  shippingAddress: shippingAddress === null ? null : { ...shippingAddress },
})

/** Masks the buyer's data; keeps city, state and country of the address. */
const maskBuyer = ({ shippingAddress, ...texts }: ReturnType<typeof pickBuyer>): ReturnType<typeof pickBuyer> => ({
  customerName: texts.customerName === null ? null : mask,
  customerEmail: texts.customerEmail === null ? null : mask,
  customerPhone: texts.customerPhone === null ? null : mask,
  shippingAddress: shippingAddress === null ? null : maskedAddress(shippingAddress),
})

/** The problem of an order that is not stored. */
export const orderNotFound = (purchaseOrderId: string): Problem =>
  new Problem('not-found', { detail: `There is no order ${purchaseOrderId} in the database.` })

const toLedgerAnswer = (ledger: LineLedger) => ({
  reported: ledger.reported,
  confirmed: ledger.confirmed,
  reserved: ledger.pending,
  inFlight: ledger.inFlight,
  available: { ship: available(ledger, 'ship'), cancel: available(ledger, 'cancel'), refund: available(ledger, 'refund') },
})

interface OrderParts {
  readonly summary: OrderSummary
  readonly order: PurchaseOrder
  readonly ledgers: readonly LineLedger[]
  readonly commands: readonly CommandDetail[]
  readonly versions: readonly OrderVersion[]
  readonly changes: readonly Change[]
}

/** Builds the answer of its parts, as the viewer may read it. */
const buildAnswer = (viewer: Viewer, { summary, order, ledgers, commands, versions, changes }: OrderParts) => {
  const ledgersByLine = new Map(ledgers.map((ledger) => [ledger.lineNumber, toLedgerAnswer(ledger)]))
  const buyer = pickBuyer(order)
  return {
    ...summary,
    ...order,
    ...(viewer.session ? maskBuyer(buyer) : buyer),
    lines: order.lines.map((line) => ({
      ...line,
      ...line.units,
      statuses: [...line.statuses],
      shipments: [...line.shipments],
      charges: line.charges.map((charge) => ({ ...charge, taxAndOtherFees: charge.taxAndOtherFees ?? null })),
      ledger: ledgersByLine.get(line.lineNumber) ?? null,
    })),
    commands: commands.map((command) => maskCommand(viewer, command)),
    history: {
      versions: versions.map((version) => ({ ...version, raw: viewer.session ? masked(version.raw) : version.raw })),
      changes: changes.map((change) => maskChange(viewer, change)),
    },
  }
}

/** An order with its ledgers, commands and history. @throws Problem when it is not stored */
export const readOrderAnswer = async (database: Database, key: OrderKey, viewer: Viewer) => {
  const { sellerId, purchaseOrderId } = key
  const summary = await readOrderSummary(database, key)
  const order = await readOrder(database, sellerId, purchaseOrderId)
  if (summary === null || order === null) throw orderNotFound(purchaseOrderId)
  const [payouts, ledgers, commands, versions, changes] = await Promise.all([
    readOrderPayouts(database, key),
    readLedgers(database, sellerId, order),
    listOrderCommands(database, sellerId, purchaseOrderId),
    readOrderVersions(database, key, versionLimit),
    readChangesOfOrder(database, sellerId, purchaseOrderId, changeLimit),
  ])
  return { ...buildAnswer(viewer, { summary, order, ledgers, commands, versions, changes }), payouts }
}

const listRecordedStates = (changes: readonly Change[], commandId: string): readonly RecordedState[] =>
  changes.flatMap((change) => {
    const state = commandStates.find((one) => change.type === `command.${one}`)
    if (state === undefined || change.commandId !== commandId) return []
    const reason = isObject(change.data) ? change.data['reason'] : undefined
    return [{ state, reason: typeof reason === 'string' ? reason : null, at: change.occurredAt }]
  })

/** A command as it was known at a time after its creation; `changes` are those that had occurred by then. */
const buildPastCommand = (command: CommandDetail, changes: readonly Change[], at: Date): CommandDetail => {
  if (command.updatedAt <= at) return command
  const past = findPastState(command, listRecordedStates(changes, command.id), at)
  const attempts = command.attempts
    .filter(({ startedAt }) => startedAt <= at)
    .map((attempt) =>
      attempt.finishedAt !== null && attempt.finishedAt <= at
        ? { ...attempt, readBacks: [] }
        : { ...attempt, finishedAt: null, outcome: null, httpStatus: null, failure: null, readBacks: [] },
    )
  return {
    ...command,
    state: past.state,
    reason: past.reason,
    parts: null,
    evidence: null,
    correlationIds: attempts.map(({ correlationId }) => correlationId),
    attempts,
    decisions: command.decisions.filter(({ decidedAt }) => decidedAt <= at),
    nextActionAt: past.at,
    updatedAt: past.at,
    settledAt: command.settledAt !== null && command.settledAt <= at ? command.settledAt : null,
  }
}

const notKept = (purchaseOrderId: string, at: Date, why: string): Problem =>
  new Problem('version-not-kept', {
    detail: `The version of order ${purchaseOrderId} of ${at.toISOString()} is not kept: ${why}.`,
  })

/** The order as it was stored after these versions. @throws Problem when one of them was erased or cannot be read */
const replayVersions = (purchaseOrderId: string, at: Date, rawTexts: readonly string[]): ReplayedOrder => {
  const orders = rawTexts.map((rawText) => {
    const record = parseOrder(rawText)
    if (record.ok) return record.value
    throw notKept(
      purchaseOrderId,
      at,
      'the buyer was erased, or an earlier version of Tallyman could read it and this one cannot',
    )
  })
  const replayed = replayOrder(orders)
  if (replayed === null) throw new Error('a replaced version of an order is the first of its kept versions, or a later one')
  return replayed
}

const findVersion = (purchaseOrderId: string, valid: ValidVersion, at: Date) => {
  if (valid.found === 'not-yet-known')
    throw new Problem('not-yet-known', {
      detail: `Order ${purchaseOrderId} was not known at ${at.toISOString()}. It was first seen at ${valid.firstSeenAt.toISOString()}.`,
    })
  if (valid.found === 'not-kept')
    throw notKept(purchaseOrderId, at, `the oldest kept one is of ${valid.oldestFrom.toISOString()}`)
  return valid
}

/** An order as it was known at a time. @throws Problem when it is not stored, was not known then, or its version is not kept */
export const readPastOrderAnswer = (database: Database, key: OrderKey, viewer: Viewer, at: Date) =>
  runReadOnly(database, (sql) => readPastAnswer(sql, key, viewer, at), { timeoutMs: pastTimeoutMs })

const readPastAnswer = async (sql: SqlRunner, key: OrderKey, viewer: Viewer, at: Date) => {
  const { sellerId, purchaseOrderId } = key
  const times = await readOrderTimes(sql, key)
  if (times === null) throw orderNotFound(purchaseOrderId)
  const { index, from, to } = findVersion(purchaseOrderId, findValidVersion(times.periods, times.firstSeenAt, at), at)
  const readCurrent = async () => {
    const [summary, order] = [await readOrderSummary(sql, key), await readOrder(sql, sellerId, purchaseOrderId)]
    if (summary === null || order === null) throw orderNotFound(purchaseOrderId)
    return { summary: { ...summary, changedAt: from }, order }
  }
  const readReplaced = async () => {
    const { order, open } = replayVersions(purchaseOrderId, at, await readOldestVersions(sql, key, index + 1))
    return { summary: summarizeOrder(sql, sellerId, order, { open, firstSeenAt: times.firstSeenAt, changedAt: from }), order }
  }
  const { summary, order } = await (to === null ? readCurrent() : readReplaced())
  const commands = await listOrderCommands(sql, sellerId, purchaseOrderId)
  const changes = await readChangesOfOrder(sql, sellerId, purchaseOrderId, changeLimit, at)
  const versions = await readOrderVersions(sql, key, versionLimit, at)
  const answer = buildAnswer(viewer, {
    summary,
    order,
    // The ledger says what can be reserved now.
    ledgers: [],
    commands: commands.filter(({ createdAt }) => createdAt <= at).map((command) => buildPastCommand(command, changes, at)),
    // The end of the version was not known then.
    versions: versions.map((version, place) => (place === versions.length - 1 ? { ...version, lastSeenAt: null } : version)),
    changes,
  })
  return { ...answer, at, version: index + 1, validFrom: from, validTo: to }
}
