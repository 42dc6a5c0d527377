import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { startTestDaemon, type TestDaemon } from '../support/daemon.ts'
import { accepted, buildDispatch, cloudEvent, type ErpEvent, reportedParcel } from '../support/events.ts'
import { eventually } from '../support/eventually.ts'
import { enqueueMaintenance } from '../support/maintenance.ts'
import { startTestPostgres, type TestPostgres } from '../support/postgres.ts'
import { query } from '../support/query.ts'
import { type LineToPlace, startTestSandbox, type TestSandbox } from '../support/sandbox.ts'
import { sandboxSeller } from './support.ts'

// Refunds through returns (profile `walmart-us`), through the whole daemon, against the sandbox.

let postgres: TestPostgres
let sandbox: TestSandbox
let folder: string
let databaseUrl: string
let daemon: TestDaemon

beforeAll(async () => {
  ;[postgres, sandbox] = await Promise.all([startTestPostgres(), startTestSandbox({ MARKETPLACE_PROFILE: 'walmart-us' })])
  folder = await mkdtemp(path.join(tmpdir(), 'tallyman-returns-'))
  databaseUrl = await postgres.database()
  daemon = await startTestDaemon({
    ...sandboxSeller,
    DATABASE_URL: databaseUrl,
    DATA_DIR: folder,
    MARKETPLACE_URL: sandbox.url,
    MARKETPLACE_PROFILE: 'walmart-us',
    POLL_ORDERS: '1s',
    POLL_RETURNS: '1s',
    REQUEST_TIMEOUT: '1s',
    SETTLE_TIME: '2s',
  })
})
afterAll(async () => {
  await daemon.program.kill()
  await Promise.all([postgres.stop(), sandbox.stop()])
  await rm(folder, { recursive: true, force: true })
})

const tea: LineToPlace = { lineNumber: '1', sku: 'TEA', quantity: 3, unitPrice: '4.00' }
const arrivalSchema = z.object({ arrivedAt: z.string() })
const seller = { sellerId: 'sandbox-seller' } as const

const post = (event: ErpEvent, dryRun = false) =>
  daemon.call('POST', `/v1/events${dryRun ? '?dryRun=true' : ''}`, { ...cloudEvent(event, '/erp') })

/** An order of which every unit is shipped. */
const shippedOrder = async (...lines: readonly LineToPlace[]): Promise<string> => {
  const purchaseOrderId = await sandbox.place({ ...seller, lines })
  const order = { ...seller, purchaseOrderId }
  expect((await post(accepted(order))).status).toBe(202)
  const units = lines.map(({ lineNumber = '1', quantity }) => ({ lineNumber, quantity }))
  expect(
    (await post(buildDispatch(order, `${purchaseOrderId}-ship`, reportedParcel(`1Z${purchaseOrderId}`, ...units)))).status,
  ).toBe(202)
  await eventually(async () => expect(await states(purchaseOrderId, 'ship')).toEqual(['confirmed']))
  return purchaseOrderId
}

interface Returned {
  readonly lineNumber: string
  readonly quantity: number
  readonly exceptionItemType?: string
}

const openReturn = async (purchaseOrderId: string, ...lines: readonly Returned[]): Promise<string> => {
  const opened = await sandbox.control('POST', '/returns', { purchaseOrderId, lines, travels: false })
  return (opened as { returnOrderId: string }).returnOrderId
}

const refundEvent = (returnOrderId: string, lines: readonly object[], id = `${returnOrderId}-refund`): ErpEvent => ({
  id,
  type: 'erp.return.refunded',
  data: { returnOrderId, lines },
})

const creditEvent = (purchaseOrderId: string, quantity: number, id = `${purchaseOrderId}-credit`): ErpEvent => ({
  id,
  type: 'erp.credit.issued',
  data: { purchaseOrderId, lines: [{ lineNumber: '1', quantity, reason: 'DamagedItem' }] },
})

const states = async (purchaseOrderId: string, kind: string): Promise<readonly unknown[]> =>
  (
    await query<{ state: string }>(
      databaseUrl,
      `SELECT state FROM tallyman.commands WHERE purchase_order_id = '${purchaseOrderId}' AND kind = '${kind}' ORDER BY sequence`,
    )
  ).map(({ state }) => state)

const settled = (purchaseOrderId: string, kind: string, ...expected: readonly string[]) =>
  eventually(async () => expect(await states(purchaseOrderId, kind)).toEqual(expected))

/** Units refunded at the marketplace: what really happened. */
const refundedUnits = async (purchaseOrderId: string): Promise<number> =>
  (await sandbox.effects(purchaseOrderId))
    .filter(({ kind }) => kind === 'refunded')
    .reduce((sum, { quantity }) => sum + quantity, 0)

/** Waits until a sync has brought the return. It reads up to two minutes ago, by the marketplace's clock. */
const stored = async (returnOrderId: string) => {
  await sandbox.control('POST', '/clock', { advance: '3m' })
  await eventually(async () =>
    expect(
      await query(databaseUrl, `SELECT 1 AS found FROM warehouse.returns WHERE return_order_id = '${returnOrderId}'`),
    ).toHaveLength(1),
  )
}

describe('a refund through a return', () => {
  test('refunds the units of a line of the return, a part first, and each once', async () => {
    const order = await shippedOrder(tea)
    const id = await openReturn(order, { lineNumber: '1', quantity: 2 })
    await stored(id)
    const part = refundEvent(id, [{ returnLineNumber: 1, quantity: 1, reason: 'unopened' }], `${id}-part`)
    const dry = await post(part, true)
    expect(dry).toMatchObject({
      status: 200,
      body: {
        items: [
          {
            would: 'accepted',
            commands: [
              {
                kind: 'refund-return',
                lines: [{ lineNumber: '1', quantity: 1 }],
                money: { currency: 'USD' },
                request: {
                  operation: 'returns.refund',
                  path: `/v3/returns/${id}/refund`,
                  body: {
                    refundLines: [{ returnOrderLineNumber: 1, quantity: { unitOfMeasure: 'EACH', measurementValue: 1 } }],
                  },
                },
              },
            ],
          },
        ],
      },
    })
    expect(await post(part)).toMatchObject({ status: 202, body: { items: [{ status: 'accepted' }] } })
    expect(await post(part)).toMatchObject({ status: 202, body: { items: [{ status: 'duplicate' }] } })
    await settled(order, 'refund-return', 'confirmed')
    expect(await refundedUnits(order)).toBe(1)

    expect((await post(refundEvent(id, [{ sku: 'TEA', quantity: 1 }], `${id}-rest`))).status).toBe(202)
    await settled(order, 'refund-return', 'confirmed', 'confirmed')
    expect(await refundedUnits(order)).toBe(2)
    const more = await post(refundEvent(id, [{ returnLineNumber: 1, quantity: 1 }], `${id}-more`))
    expect(more.status).toBe(422)
    expect(JSON.stringify(more.body)).toContain(
      'line 1 of the return has 0 units left to refund (2 returned, 2 refunded through the return)',
    )

    const [shown] = await query(
      databaseUrl,
      `SELECT refunded_quantity FROM warehouse.return_lines WHERE return_order_id = '${id}'`,
    )
    expect(shown).toEqual({ refunded_quantity: 2 })
  })

  test('is verified by reading the return when the answer is lost, and sent again only when it had no effect', async () => {
    const order = await shippedOrder(tea)
    const id = await openReturn(order, { lineNumber: '1', quantity: 2 })
    await sandbox.next({ fault: 'timeoutAfter', operation: 'returns.refund' })
    expect((await post(refundEvent(id, [{ returnLineNumber: 1, quantity: 2 }]))).status).toBe(202)
    await settled(order, 'refund-return', 'confirmed')
    expect(await refundedUnits(order)).toBe(2)

    const other = await shippedOrder(tea)
    const otherId = await openReturn(other, { lineNumber: '1', quantity: 1 })
    await sandbox.next({ fault: 'timeoutBefore', operation: 'returns.refund' })
    expect((await post(refundEvent(otherId, [{ returnLineNumber: 1, quantity: 1 }]))).status).toBe(202)
    await settled(other, 'refund-return', 'confirmed')
    expect(await refundedUnits(other)).toBe(1)
    const [command] = await query(databaseUrl, `SELECT attempts FROM tallyman.commands WHERE event_id = '${otherId}-refund'`)
    expect(command).toEqual({ attempts: 2 })
  })

  test('fetches a return that is not stored, and rejects one that the marketplace does not have', async () => {
    const order = await shippedOrder(tea)
    const id = await openReturn(order, { lineNumber: '1', quantity: 1 })
    expect((await post(refundEvent(id, [{ sku: 'TEA', quantity: 1 }]))).status).toBe(202)
    await settled(order, 'refund-return', 'confirmed')

    expect((await post(refundEvent('1999999999999', [{ sku: 'TEA', quantity: 1 }]))).status).toBe(202)
    await eventually(async () => {
      const [event] = await query(databaseUrl, `SELECT status, problem FROM tallyman.erp_event WHERE id = '1999999999999-refund'`)
      expect(event).toMatchObject({ status: 'rejected' })
      expect(JSON.stringify(event)).toContain('does not know as a return of seller sandbox-seller')
    }, 60_000)
  })

  test('is refused at once for goods that the marketplace fulfilled, and for exceptions', async () => {
    const { purchaseOrderIds } = (await sandbox.control('POST', '/orders', {
      ...seller,
      shipNodeType: 'WFSFulfilled',
      alive: true,
      lines: [tea],
    })) as { purchaseOrderIds: string[] }
    const order = purchaseOrderIds[0] ?? ''
    await sandbox.control('POST', '/clock', { advance: '19h' })
    const id = await openReturn(order, { lineNumber: '1', quantity: 1 })
    await stored(id)
    await eventually(async () =>
      expect(
        await query(databaseUrl, `SELECT ship_node_type FROM warehouse.orders WHERE purchase_order_id = '${order}'`),
      ).toEqual([{ ship_node_type: 'WFSFulfilled' }]),
    )
    const fulfilled = await post(refundEvent(id, [{ returnLineNumber: 1, quantity: 1 }]))
    expect(fulfilled.status).toBe(422)
    expect(JSON.stringify(fulfilled.body)).toContain('the marketplace fulfilled this order itself and refunds its returns')

    const hazardous = await shippedOrder(tea)
    const exception = await openReturn(hazardous, { lineNumber: '1', quantity: 1, exceptionItemType: 'HAZMAT' })
    await stored(exception)
    const refused = await post(refundEvent(exception, [{ returnLineNumber: 1, quantity: 1 }]))
    expect(refused.status).toBe(422)
    expect(JSON.stringify(refused.body)).toContain('is HAZMAT, which the marketplace refunds through the order only')
    expect(await refundedUnits(hazardous)).toBe(0)
  })

  test('takes no other amount than the charge of the units', async () => {
    const order = await shippedOrder(tea)
    const id = await openReturn(order, { lineNumber: '1', quantity: 2 })
    await stored(id)
    const less = await post(refundEvent(id, [{ returnLineNumber: 1, quantity: 2, amount: '5.00', currency: 'USD' }]))
    expect(less.status).toBe(422)
    expect(JSON.stringify(less.body)).toContain('gives back the product charge of its units, 8 USD')
    const whole = refundEvent(id, [{ returnLineNumber: 1, quantity: 2, amount: '8.00', currency: 'USD' }])
    expect((await post(whole)).status).toBe(202)
    await settled(order, 'refund-return', 'confirmed')
    expect(await refundedUnits(order)).toBe(2)
  })
})

describe('a unit is refunded through its return or through its order, never through both', () => {
  test('both at the same time: one of them is refused', async () => {
    const order = await shippedOrder({ ...tea, quantity: 1 })
    const id = await openReturn(order, { lineNumber: '1', quantity: 1 })
    await stored(id)
    const answers = await Promise.all([
      post(creditEvent(order, 1)),
      post(refundEvent(id, [{ returnLineNumber: 1, quantity: 1 }])),
    ])
    expect(answers.map(({ status }) => status).sort()).toEqual([202, 422])
    await eventually(async () => expect(await refundedUnits(order)).toBe(1))
  })

  test('a credit that is pending takes the returned units, and one of all units after a return is refused', async () => {
    const order = await shippedOrder(tea)
    const id = await openReturn(order, { lineNumber: '1', quantity: 1 })
    await stored(id)
    expect((await post(creditEvent(order, 1))).status).toBe(202)
    const second = await post(refundEvent(id, [{ returnLineNumber: 1, quantity: 1 }]))
    expect(second.status).toBe(422)
    expect(JSON.stringify(second.body)).toContain('through the order')
    await settled(order, 'refund', 'confirmed')
    expect(await refundedUnits(order)).toBe(1)

    const other = await shippedOrder(tea)
    const otherId = await openReturn(other, { lineNumber: '1', quantity: 2 })
    await stored(otherId)
    expect((await post(refundEvent(otherId, [{ returnLineNumber: 1, quantity: 2 }]))).status).toBe(202)
    expect((await post(creditEvent(other, 2))).status).toBe(422)
    expect((await post(creditEvent(other, 1, `${other}-one`))).status).toBe(202)
    await settled(other, 'refund', 'confirmed')
    await settled(other, 'refund-return', 'confirmed')
    expect(await refundedUnits(other)).toBe(3)
  })

  test('the marketplace refunds first: ours is rejected without a request', async () => {
    const order = await shippedOrder({ ...tea, quantity: 1 })
    const id = await openReturn(order, { lineNumber: '1', quantity: 1 })
    await stored(id)
    await sandbox.next({ fault: 'tooManyRequests', operation: 'returns.refund' })
    expect((await post(refundEvent(id, [{ returnLineNumber: 1, quantity: 1 }]))).status).toBe(202)
    await sandbox.control('POST', `/orders/${order}/refund`, { lines: [{ lineNumber: '1', quantity: 1 }] })
    await settled(order, 'refund-return', 'rejected')
    expect(await refundedUnits(order)).toBe(1)
  })
})

describe('a late return', () => {
  // Alarms are checked every minute, and when the test asks; a check that is in progress has the other one skipped.
  const tickMs = 75_000
  const open = () => query(databaseUrl, `SELECT kind FROM tallyman.alarms WHERE kind = 'late-returns' AND resolved_at IS NULL`)
  const listed = async () => (await daemon.call('GET', '/v1/late-returns')).body

  test('opens an alarm and is listed 12 hours before its deadline, until its units are refunded', {
    timeout: 3 * tickMs,
  }, async () => {
    const order = await shippedOrder(tea)
    const id = await openReturn(order, { lineNumber: '1', quantity: 2 })
    const { arrivedAt } = arrivalSchema.parse(await sandbox.control('POST', `/returns/${id}/arrive`, seller))
    await stored(id)
    expect(await listed()).toEqual({ items: [], nextCursor: null })

    await sandbox.control('POST', '/clock', { advance: '40h' })
    const refundBy = new Date(Date.parse(arrivedAt) + 48 * 3_600_000).toISOString()
    const line = { returnLineNumber: 1, purchaseOrderId: order, lineNumber: '1', sku: 'TEA', units: 2, exceptionItemType: null }
    // The daemon reads the marketplace's clock from its next answer.
    await eventually(async () =>
      expect(await listed()).toEqual({
        items: [{ ...seller, returnOrderId: id, refundBy, state: 'soon', lines: [{ ...line, arrivedAt, refundBy }] }],
        nextCursor: null,
      }),
    )
    expect((await daemon.call('GET', '/v1/overview')).body).toMatchObject({ returns: { late: 0, refundSoon: 1 } })
    await enqueueMaintenance(databaseUrl, 'alarms')
    await eventually(async () => expect(await open()).toHaveLength(1), tickMs)
    const { body } = await daemon.call('GET', '/v1/alarms?kind=late-returns')
    expect(body).toMatchObject({
      items: [{ ...seller, count: 1, dueAt: refundBy, list: '/v1/late-returns?sellerId=sandbox-seller' }],
    })
    expect(JSON.stringify(body)).toContain(`return ${id} (2 × TEA of order ${order}) by ${refundBy}. Send erp.return.refunded`)

    expect((await post(refundEvent(id, [{ returnLineNumber: 1, quantity: 2 }]))).status).toBe(202)
    expect(await listed()).toEqual({ items: [], nextCursor: null })
    await settled(order, 'refund-return', 'confirmed')
    expect(await refundedUnits(order)).toBe(2)
    await enqueueMaintenance(databaseUrl, 'alarms')
    await eventually(async () => expect(await open()).toEqual([]), tickMs)
  })
})
