import { expect, test } from 'vitest'
import { claimWindows } from '../../src/domain/inventory/claim-states.ts'
import {
  type ClaimItemFilter,
  decideClaim,
  findExpiringClaims,
  listClaimItems,
  reviewClaimDeadlines,
} from '../../src/store/inventory/claim-items.ts'
import { reviewDiscrepancies } from '../../src/store/inventory/discrepancies.ts'
import { recordOrderSkus } from '../../src/store/inventory/inventory-skus.ts'
import { withDatabase } from '../support/database.ts'
import { charge, orderLine, purchaseOrder } from '../support/orders.ts'
import { seedOrder } from '../support/store.ts'
import { logReadUpTo, type ReportRow, storeLog, storeReport } from './support/inventory.ts'

const stage = withDatabase({ each: 'test' })
const sellerId = 's-1'
const dayMs = 86_400_000
/** The ends of the months in Pacific time. */
const ends: Readonly<Record<string, string>> = {
  '2026-03': '2026-04-01T07:00:00Z',
  '2026-04': '2026-05-01T07:00:00Z',
  '2026-05': '2026-06-01T07:00:00Z',
}

const report = async (month: string, rows: readonly ReportRow[], until = ends[month] ?? ''): Promise<void> => {
  await storeReport(stage.database, sellerId, month, until, rows)
  const pairs = rows.map(({ sku }) => ({ sku, month }))
  await stage.database.transaction((tx) => reviewDiscrepancies(tx, sellerId, pairs))
}
const all: ClaimItemFilter = {
  sellerId: null,
  month: null,
  sku: null,
  kind: null,
  state: null,
  dueBefore: null,
  byDeadline: false,
}
const list = async (filter: Partial<ClaimItemFilter> = {}) =>
  (await listClaimItems(stage.database, { ...all, ...filter }, null, 100)).items
const briefly = async () =>
  (await list()).map(({ month, sku, kind, units, state }) => `${month} ${sku} ${kind} ${units} ${state}`).sort()
const decide = (id: bigint, state: 'open' | 'filed' | 'paid' | 'paid-in-part' | 'refused', more: object = {}) =>
  stage.database.transaction((tx) =>
    decideClaim(tx, { id, by: { actor: 'kim' }, state, reason: null, reference: null, paidAmount: null, force: false, ...more }),
  )

test('each kind of a SKU and a complete month is one claim; a month that its report does not count to its end has none', async () => {
  const rows = [
    { sku: 'A', beginning: 20, ending: 11, lost: 2, damaged: 3, sold: 1 },
    { sku: 'B', beginning: 5, ending: 5, returned: 0 },
  ]
  await storeLog(stage.database, sellerId, [
    { sku: 'A', id: '1', kind: 'lost', changedUnits: -2, at: '2026-03-05T12:00:00Z' },
    { sku: 'A', id: '2', kind: 'damaged', changedUnits: -3, at: '2026-03-05T12:00:00Z' },
    { sku: 'A', id: '3', kind: 'sold', changedUnits: -1, at: '2026-03-05T12:00:00Z' },
    { sku: 'B', id: '4', kind: 'returned', changedUnits: 2, at: '2026-03-20T12:00:00Z' },
  ])
  await logReadUpTo(stage.database, sellerId, '2026-04-02T00:00:00Z', 'A', 'B')
  await report('2026-03', rows, '2026-03-31T07:00:00Z')
  expect(await list()).toEqual([])
  await report('2026-03', rows)
  expect(await briefly()).toEqual([
    '2026-03 A damaged 3 open',
    '2026-03 A lost 2 open',
    '2026-03 A missing 3 open',
    '2026-03 B returned 2 open',
  ])
  const claims = await list()
  expect(claims.find(({ kind }) => kind === 'lost')).toMatchObject({
    certainty: 'reported',
    value: null,
    stateBy: 'report',
    gtin: 'gtin of A',
  })
  expect(claims.find(({ kind }) => kind === 'missing')).toMatchObject({ certainty: 'compared' })
})

test('units that are found again come off, in the same month or later; nothing left is withdrawn, and back again it is open', async () => {
  await report('2026-03', [{ sku: 'A', beginning: 20, ending: 15, lost: 5 }])
  expect(await briefly()).toEqual(['2026-03 A lost 5 open'])
  await report('2026-04', [{ sku: 'A', beginning: 15, ending: 17, found: 2 }], '2026-04-10T07:00:00Z')
  expect(await briefly()).toEqual(['2026-03 A lost 3 open'])
  await report('2026-04', [{ sku: 'A', beginning: 15, ending: 20, found: 5 }], '2026-04-11T07:00:00Z')
  expect(await briefly()).toEqual(['2026-03 A lost 0 withdrawn'])
  const [claim] = await list()
  expect(await decide(claim?.id ?? 0n, 'filed')).toBe('withdrawn')
  await report('2026-04', [{ sku: 'A', beginning: 15, ending: 16, found: 1 }], '2026-04-12T07:00:00Z')
  expect(await briefly()).toEqual(['2026-03 A lost 4 open'])
})

test('what is missing is in no claim once a later month restores it', async () => {
  await report('2026-03', [{ sku: 'A', beginning: 20, ending: 17 }])
  expect(await list()).toMatchObject([{ kind: 'missing', units: 3, certainty: 'not-compared' }])
  await report('2026-04', [{ sku: 'A', beginning: 20, ending: 20 }], '2026-04-03T07:00:00Z')
  expect(await briefly()).toEqual(['2026-03 A missing 0 withdrawn'])
})

test('a person files and closes a claim; later reports change its units, not its state, and the audit has each act', async () => {
  await report('2026-03', [{ sku: 'A', beginning: 20, ending: 15, lost: 5 }])
  const [claim] = await list()
  const id = claim?.id ?? 0n
  expect(await decide(id, 'filed', { reference: 'CASE-1' })).toMatchObject({
    state: 'filed',
    filedUnits: 5,
    reference: 'CASE-1',
    stateBy: 'kim',
  })
  await report('2026-04', [{ sku: 'A', beginning: 15, ending: 17, found: 2 }])
  expect(await list()).toMatchObject([{ state: 'filed', units: 3, filedUnits: 5 }])
  expect(await decide(id, 'paid-in-part', { paidAmount: '12.50' })).toMatchObject({
    state: 'paid-in-part',
    paidAmount: '12.50',
    reference: 'CASE-1',
  })
  await report('2026-05', [{ sku: 'A', beginning: 17, ending: 20, found: 3 }])
  expect(await list()).toMatchObject([{ state: 'paid-in-part', units: 0 }])
  expect(await decide(id, 'open')).toMatchObject({ state: 'open', filedUnits: null })
  expect(await decide(999n, 'filed')).toBe('not-found')
  const acts = await stage.database.prisma.auditEntry.findMany({ orderBy: { id: 'asc' } })
  expect(acts.map(({ action, subject, details }) => [action, subject, details])).toEqual([
    ['claim.decided', String(id), { from: 'open', to: 'filed', units: 5, reference: 'CASE-1' }],
    ['claim.decided', String(id), { from: 'filed', to: 'paid-in-part', units: 3, paidAmount: '12.50' }],
    ['claim.decided', String(id), { from: 'paid-in-part', to: 'open', units: 0 }],
  ])
})

test('the audit has a claim that a report withdraws and opens again, and one that expires', async () => {
  await report('2026-03', [{ sku: 'A', beginning: 20, ending: 15, lost: 5 }])
  await report('2026-04', [{ sku: 'A', beginning: 15, ending: 20, found: 5 }])
  await report('2026-04', [{ sku: 'A', beginning: 15, ending: 16, found: 1 }])
  await reviewClaimDeadlines(stage.database, { ...claimWindows, inventoryMs: dayMs })
  const acts = await stage.database.prisma.auditEntry.findMany({ orderBy: { id: 'asc' } })
  expect(acts.map(({ actor, action, details }) => [actor, action, details])).toEqual([
    ['report', 'claim.decided', { from: 'open', to: 'withdrawn', units: 0 }],
    ['report', 'claim.decided', { from: 'withdrawn', to: 'open', units: 4 }],
    ['report', 'claim.decided', { from: 'open', to: 'expired', units: 4 }],
  ])
})

test('a claim is filed only after the whole log of its SKU was read since the difference was found, unless forced', async () => {
  await logReadUpTo(stage.database, sellerId, '2026-04-02T00:00:00Z', 'A')
  await report('2026-03', [{ sku: 'A', beginning: 20, ending: 17 }])
  const [claim] = await list()
  const id = claim?.id ?? 0n
  expect(claim).toMatchObject({ logRead: false })
  expect(await decide(id, 'filed')).toBe('log-not-read')
  expect(await decide(id, 'filed', { force: true })).toMatchObject({ state: 'filed' })
  await decide(id, 'open')
  await stage.database.execute('UPDATE tallyman.inventory_skus SET log_full_at = now()')
  expect(await decide(id, 'filed')).toMatchObject({ state: 'filed', logRead: true })
})

test('the price of a later order gives a claim its value', async () => {
  await report('2026-03', [{ sku: 'A', beginning: 20, ending: 17, lost: 3 }])
  expect(await list()).toMatchObject([{ value: null, currency: null }])
  const line = { ...orderLine('1', 'A', 2), charges: [{ ...charge('9.98'), chargeName: 'Price' }] }
  await seedOrder(stage.database, sellerId, purchaseOrder('1', [line]))
  await stage.database.execute(
    `INSERT INTO tallyman.retention_passes (data, removed_up_to) VALUES ('changes', 1) ON CONFLICT (data) DO UPDATE SET removed_up_to = 1`,
  )
  await recordOrderSkus(stage.database, sellerId, new Date())
  const [claim] = await list()
  expect(claim).toMatchObject({ unitPrice: '4.9900', value: '14.97', currency: 'USD' })
  const id = claim?.id ?? 0n
  await decide(id, 'filed', { force: true })
  expect(await decide(id, 'paid', { paidAmount: '14.98' })).toBe('amount-above-value')
  expect(await decide(id, 'paid', { paidAmount: '14.97' })).toMatchObject({ state: 'paid', paidAmount: '14.97' })
  expect(await decide(id, 'paid', { paidAmount: '14.98', force: true })).toMatchObject({ paidAmount: '14.98' })
})

test('deadlines are counted from the end of the month, for returns from the day of the difference', async () => {
  await storeLog(stage.database, sellerId, [{ sku: 'A', id: '1', kind: 'returned', changedUnits: 2, at: '2026-03-20T12:00:00Z' }])
  await logReadUpTo(stage.database, sellerId, '2026-04-02T00:00:00Z', 'A')
  await report('2026-03', [{ sku: 'A', beginning: 20, ending: 17, lost: 3 }])
  const msSinceEnd = Date.now() - Date.parse(ends['2026-03'] ?? '')
  const windows = { inventoryMs: msSinceEnd + 10 * dayMs, returnsMs: msSinceEnd + 30 * dayMs }
  expect(await reviewClaimDeadlines(stage.database, windows)).toBe(2)
  expect(await reviewClaimDeadlines(stage.database, windows)).toBe(0)
  const deadlines = Object.fromEntries((await list()).map(({ kind, deadline }) => [kind, deadline]))
  expect(deadlines).toEqual({
    lost: new Date(Date.parse('2026-04-01T07:00:00Z') + windows.inventoryMs),
    returned: new Date(Date.parse('2026-03-20T07:00:00Z') + windows.returnsMs),
  })
  expect(await findExpiringClaims(stage.database, 14 * dayMs)).toMatchObject([{ sellerId, count: 1, units: 3 }])
  expect(await list({ dueBefore: new Date(Date.now() + 14 * dayMs) })).toHaveLength(1)
  expect((await list({ byDeadline: true })).map(({ kind }) => kind)).toEqual(['lost', 'returned'])
  await reviewClaimDeadlines(stage.database, { ...claimWindows, inventoryMs: dayMs })
  expect(await list({ kind: 'lost' })).toMatchObject([{ state: 'expired', stateBy: 'report' }])
  expect(await reviewClaimDeadlines(stage.database, { ...claimWindows, inventoryMs: dayMs })).toBe(0)
  // The windows are made longer: both claims can be filed after all.
  expect(await reviewClaimDeadlines(stage.database, windows)).toBe(2)
  expect(await list({ kind: 'lost' })).toMatchObject([{ state: 'open', stateBy: 'report', deadline: deadlines['lost'] }])
})
