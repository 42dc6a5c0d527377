import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { startTestDaemon, type TestDaemon } from '../support/daemon.ts'
import { accepted, buildDispatch, cloudEvent, reportedParcel } from '../support/events.ts'
import { eventually } from '../support/eventually.ts'
import { startTestPostgres, type TestPostgres } from '../support/postgres.ts'
import { query } from '../support/query.ts'
import { startTestSandbox, type TestSandbox } from '../support/sandbox.ts'
import { sandboxSeller } from './support.ts'

// Corrections of tracking numbers through the whole daemon: from the ERP's event to the marketplace, and back.

let postgres: TestPostgres
let sandbox: TestSandbox
let folder: string
let databaseUrl: string
let daemon: TestDaemon

beforeAll(async () => {
  ;[postgres, sandbox] = await Promise.all([startTestPostgres(), startTestSandbox({ MARKETPLACE_PROFILE: 'walmart-us' })])
  folder = await mkdtemp(path.join(tmpdir(), 'tallyman-corrections-'))
  databaseUrl = await postgres.database()
  daemon = await startTestDaemon({
    ...sandboxSeller,
    DATABASE_URL: databaseUrl,
    DATA_DIR: folder,
    MARKETPLACE_URL: sandbox.url,
    MARKETPLACE_PROFILE: 'walmart-us',
    POLL_ORDERS: '1s',
    REQUEST_TIMEOUT: '1s',
    SETTLE_TIME: '2s',
  })
})
afterAll(async () => {
  await daemon.program.kill()
  await Promise.all([postgres.stop(), sandbox.stop()])
  await rm(folder, { recursive: true, force: true })
})

const place = (): Promise<string> =>
  sandbox.place({
    lines: [
      { lineNumber: '1', sku: 'TEA', quantity: 3 },
      { lineNumber: '2', sku: 'MUG', quantity: 1 },
    ],
  })

/** Two units of line 1 and the unit of line 2, which leave now: tracking can be changed for four hours. */
const dispatch = (purchaseOrderId: string, trackingNumber: string) =>
  buildDispatch({ purchaseOrderId }, `${purchaseOrderId}-${trackingNumber}`, {
    ...reportedParcel(trackingNumber, { lineNumber: '1', quantity: 2 }, { lineNumber: '2', quantity: 1 }),
    shippedAt: new Date().toISOString(),
  })

const correct = (purchaseOrderId: string, trackingNumber: string, to: string, id = `${trackingNumber}-${to}`) => ({
  id: `${purchaseOrderId}-${id}`,
  type: 'erp.shipment.corrected',
  data: {
    purchaseOrderId,
    trackingNumber,
    replacement: { carrier: 'usps', trackingNumber: to, trackingUrl: `https://tracking.example/${to}` },
  },
})

const receipts = z.object({ items: z.array(z.object({ status: z.string(), commands: z.array(z.string()) })) })

/** Posts an event that must be accepted; answers the ids of its commands. */
const post = async (event: Parameters<typeof cloudEvent>[0]): Promise<readonly string[]> => {
  const { status, body } = await daemon.call('POST', '/v1/events', cloudEvent(event, '/erp'))
  expect([status, body]).toEqual([202, expect.anything()])
  return receipts.parse(body).items.flatMap(({ commands }) => commands)
}

interface CommandRow {
  readonly kind: string
  readonly state: string
  readonly reason: string
  readonly attempts: number
}

const readCommands = (purchaseOrderId: string): Promise<readonly CommandRow[]> =>
  query<CommandRow>(
    databaseUrl,
    `SELECT kind, state, reason, attempts FROM tallyman.commands WHERE purchase_order_id = '${purchaseOrderId}' ORDER BY sequence`,
  )

/** Waits until all commands of an order have ended; answers their kinds and states. */
const untilSettled = (purchaseOrderId: string): Promise<readonly (readonly [kind: string, state: string])[]> =>
  eventually(async () => {
    const commands = await readCommands(purchaseOrderId)
    const open = commands.filter(({ state }) => state !== 'confirmed' && state !== 'rejected')
    expect({ open, any: commands.length > 0 }).toEqual({ open: [], any: true })
    return commands.map(({ kind, state }) => [kind, state] as const)
  })

const listEffects = async (purchaseOrderId: string) =>
  (await sandbox.effects(purchaseOrderId))
    .filter(({ kind }) => kind !== 'acknowledged')
    .map(({ kind, lineNumber, quantity, trackingNumber }) => [kind, lineNumber, quantity, trackingNumber])

const found = z.object({ items: z.array(z.object({ purchaseOrderId: z.string() })) })

const findOrders = async (trackingNumber: string): Promise<readonly string[]> => {
  const { body } = await daemon.call('GET', `/v1/orders?trackingNumber=${trackingNumber}`)
  return found.parse(body).items.map(({ purchaseOrderId }) => purchaseOrderId)
}

const foundCommands = z.object({ items: z.array(z.object({ kind: z.string() })) })

const findCommands = async (trackingNumber: string): Promise<readonly string[]> => {
  const { body } = await daemon.call('GET', `/v1/commands?trackingNumber=${trackingNumber}`)
  return foundCommands.parse(body).items.map(({ kind }) => kind)
}

const orderSchema = z.object({
  lines: z.array(
    z.object({
      lineNumber: z.string(),
      shipped: z.int(),
      shipments: z.array(
        z.object({ trackingNumber: z.string(), carrier: z.string(), quantity: z.int(), shownQuantity: z.int() }),
      ),
      ledger: z.object({ available: z.object({ ship: z.int() }) }),
    }),
  ),
})

const readOrder = async (purchaseOrderId: string): Promise<z.infer<typeof orderSchema>> =>
  orderSchema.parse((await daemon.call('GET', `/v1/orders/${purchaseOrderId}`)).body)

const shipped = [
  ['shipped', '1', 2, 'WRONG-1'],
  ['shipped', '2', 1, 'WRONG-1'],
]

describe('a wrong tracking number', () => {
  test('is replaced on every line once, ships no unit again, and stays searchable', async () => {
    const po = await place()
    await post(accepted({ purchaseOrderId: po }))
    await post(dispatch(po, 'WRONG-1'))
    await untilSettled(po)
    const [id = ''] = await post(correct(po, 'WRONG-1', 'RIGHT-1'))
    expect(await untilSettled(po)).toEqual([
      ['acknowledge', 'confirmed'],
      ['ship', 'confirmed'],
      ['correct-shipment', 'confirmed'],
    ])
    const corrected = [...shipped, ['corrected', '1', 2, 'RIGHT-1'], ['corrected', '2', 1, 'RIGHT-1']]
    expect(await listEffects(po)).toEqual(corrected)

    const { lines } = await readOrder(po)
    expect(lines.map(({ shipped: units, ledger }) => [units, ledger.available.ship])).toEqual([
      [2, 1],
      [1, 0],
    ])
    expect(lines[0]?.shipments).toEqual([
      { trackingNumber: 'WRONG-1', carrier: 'UPS', quantity: 2, shownQuantity: 0 },
      { trackingNumber: 'RIGHT-1', carrier: 'USPS', quantity: 2, shownQuantity: 2 },
    ])
    expect(await findOrders('WRONG-1')).toEqual([po])
    expect(await findOrders('RIGHT-1')).toEqual([po])
    expect(await findCommands('WRONG-1')).toEqual(['correct-shipment', 'ship'])
    expect(await findCommands('RIGHT-1')).toEqual(['correct-shipment'])

    const { body } = await daemon.call('GET', `/v1/commands/${id}`)
    expect(body).toMatchObject({
      kind: 'correct-shipment',
      evidence: { verdict: 'applied' },
      attempts: [
        {
          outcome: 'applied',
          request: { operation: 'orders.ship', body: { orderShipment: { processMode: 'PARTIAL_UPDATE' } } },
        },
      ],
    })

    // The same again, by another event: nothing is left to do.
    expect(await post(correct(po, 'WRONG-1', 'RIGHT-1', 'again'))).toEqual([])
    await post(buildDispatch({ purchaseOrderId: po }, `${po}-rest`, reportedParcel('REST-1', { lineNumber: '1', quantity: 1 })))
    await untilSettled(po)
    expect(await listEffects(po)).toEqual([...corrected, ['shipped', '1', 1, 'REST-1']])
  })

  test('is not replaced twice when the answer is lost after the effect', async () => {
    const po = await place()
    await post(dispatch(po, 'WRONG-1'))
    await untilSettled(po)
    await sandbox.next({ fault: 'timeoutAfter', operation: 'orders.ship' })
    await post(correct(po, 'WRONG-1', 'RIGHT-1'))
    await untilSettled(po)
    expect((await readCommands(po)).at(-1)).toEqual({
      kind: 'correct-shipment',
      state: 'confirmed',
      reason: expect.stringContaining('by reading the order back'),
      attempts: 1,
    })
    expect(await listEffects(po)).toEqual([...shipped, ['corrected', '1', 2, 'RIGHT-1'], ['corrected', '2', 1, 'RIGHT-1']])
  })

  test('is replaced by a second request when the first one was lost before the effect', async () => {
    const po = await place()
    await post(dispatch(po, 'WRONG-1'))
    await untilSettled(po)
    await sandbox.next({ fault: 'timeoutBefore', operation: 'orders.ship' })
    await post(correct(po, 'WRONG-1', 'RIGHT-1'))
    await untilSettled(po)
    expect((await readCommands(po)).at(-1)).toMatchObject({ kind: 'correct-shipment', state: 'confirmed', attempts: 2 })
    expect(await listEffects(po)).toEqual([...shipped, ['corrected', '1', 2, 'RIGHT-1'], ['corrected', '2', 1, 'RIGHT-1']])
  })

  test('is held for a person when the answer is lost and only one line shows the new one', async () => {
    const po = await place()
    await post(dispatch(po, 'WRONG-1'))
    await untilSettled(po)
    await sandbox.next(
      { fault: 'partialEffect', operation: 'orders.ship', lines: ['2'] },
      { fault: 'timeoutAfter', operation: 'orders.ship' },
    )
    await post(correct(po, 'WRONG-1', 'RIGHT-1'))
    const held = await eventually(async () => {
      const command = (await readCommands(po)).at(-1)
      expect(command).toMatchObject({ kind: 'correct-shipment', state: 'held' })
      return command
    })
    expect(held?.attempts).toBe(1)
  })

  test('waits for its shipment, which waits for the acknowledgement', async () => {
    const po = await place()
    await sandbox.next({ fault: 'timeoutAfter', operation: 'orders.ship' })
    await post(dispatch(po, 'WRONG-1'))
    await post(correct(po, 'WRONG-1', 'RIGHT-1'))
    await post(correct(po, 'RIGHT-1', 'FINAL-1'))
    expect(await untilSettled(po)).toEqual([
      ['acknowledge', 'confirmed'],
      ['ship', 'confirmed'],
      ['correct-shipment', 'confirmed'],
      ['correct-shipment', 'confirmed'],
    ])
    expect((await listEffects(po)).slice(2)).toEqual([
      ['corrected', '1', 2, 'RIGHT-1'],
      ['corrected', '2', 1, 'RIGHT-1'],
      ['corrected', '1', 2, 'FINAL-1'],
      ['corrected', '2', 1, 'FINAL-1'],
    ])
  })

  test('that is too old is refused by the marketplace; the alarm says what to do', async () => {
    const po = await place()
    const late = {
      ...reportedParcel('LATE-1', { lineNumber: '1', quantity: 1 }),
      shippedAt: new Date(Date.now() - 5 * 3_600_000).toISOString(),
    }
    await post(buildDispatch({ purchaseOrderId: po }, `${po}-late`, late))
    await untilSettled(po)
    const [id = ''] = await post(correct(po, 'LATE-1', 'RIGHT-1'))
    expect((await untilSettled(po)).at(-1)).toEqual(['correct-shipment', 'rejected'])
    const [alarm] = await query<{ message: string }>(
      databaseUrl,
      `SELECT message FROM tallyman.alarms WHERE kind = 'command-rejected' AND subject = '${id}'`,
    )
    expect(alarm?.message).toContain('change it in its seller center')
    expect(await findOrders('RIGHT-1')).not.toContain(po)
  })

  test('of another order is refused with the known ones', async () => {
    const po = await place()
    await post(dispatch(po, 'KNOWN-1'))
    const { status, body } = await daemon.call('POST', '/v1/events', cloudEvent(correct(po, 'NONE-1', 'RIGHT-1'), '/erp'))
    expect(status).toBe(422)
    expect(JSON.stringify(body)).toContain("the order's tracking numbers are: KNOWN-1")
  })

  test('tells in a dry run what would be sent, and sends nothing', async () => {
    const po = await place()
    await post(dispatch(po, 'WRONG-1'))
    await untilSettled(po)
    const { status, body } = await daemon.call(
      'POST',
      '/v1/events?dryRun=true',
      cloudEvent(correct(po, 'WRONG-1', 'RIGHT-1'), '/erp'),
    )
    expect(status).toBe(200)
    const entry = (quantity: string) => ({
      statusQuantity: { amount: quantity },
      trackingInfo: { carrierName: { carrier: 'USPS' }, trackingNumber: 'RIGHT-1' },
      currentTrackingInfo: { trackingNumber: 'WRONG-1' },
    })
    expect(body).toMatchObject({
      items: [
        {
          would: 'accepted',
          problem: null,
          commands: [
            {
              kind: 'correct-shipment',
              money: null,
              lines: [
                { lineNumber: '1', quantity: 2 },
                { lineNumber: '2', quantity: 1 },
              ],
              request: {
                path: `/v3/orders/${po}/shipping`,
                body: {
                  orderShipment: {
                    processMode: 'PARTIAL_UPDATE',
                    orderLines: {
                      orderLine: [
                        { lineNumber: '1', orderLineStatuses: { orderLineStatus: [entry('2')] } },
                        { lineNumber: '2', orderLineStatuses: { orderLineStatus: [entry('1')] } },
                      ],
                    },
                  },
                },
              },
            },
          ],
        },
      ],
    })
    expect(await listEffects(po)).toEqual(shipped)
  })

  test('arrives by the SQL inbox as well', async () => {
    const po = await place()
    await post(dispatch(po, 'WRONG-1'))
    await untilSettled(po)
    const { id, type, data } = correct(po, 'WRONG-1', 'RIGHT-1')
    await query(
      databaseUrl,
      `INSERT INTO tallyman.erp_event (source, id, type, data) VALUES ('/erp', '${id}', '${type}', '${JSON.stringify(data)}')`,
    )
    await eventually(async () =>
      expect((await readCommands(po)).at(-1)).toMatchObject({ kind: 'correct-shipment', state: 'confirmed' }),
    )
  })

  test('loses the address of its carrier with its buyer, and keeps its numbers', async () => {
    const po = await place()
    await post(dispatch(po, 'WRONG-1'))
    const [id = ''] = await post(correct(po, 'WRONG-1', 'RIGHT-1'))
    await untilSettled(po)
    const order = z.object({ customerOrderId: z.string() }).parse((await daemon.call('GET', `/v1/orders/${po}`)).body)
    const erasure = { sellerId: sandboxSeller.SELLER_ID, ...order, reason: 'a request', actor: 'Ada' }
    expect(await daemon.call('POST', '/v1/erasures', erasure)).toMatchObject({ status: 200 })
    const [command] = await query<{ payload: object }>(databaseUrl, `SELECT payload FROM tallyman.commands WHERE id = '${id}'`)
    expect(command?.payload).toMatchObject({
      trackingNumber: 'WRONG-1',
      replacement: { carrier: 'USPS', trackingNumber: 'RIGHT-1', trackingUrl: null },
      lines: [
        { lineNumber: '1', quantity: 2, method: null },
        { lineNumber: '2', quantity: 1, method: null },
      ],
    })
    expect(await findOrders('WRONG-1')).toContain(po)
  })
})
