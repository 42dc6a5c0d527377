import pino from 'pino'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startDemonstration } from '../../src/demo/erp.ts'
import { demoSource } from '../../src/demo/plan.ts'
import { type Rig, startRig } from '../cli/rig.ts'
import { cli } from '../cli/run.ts'
import { eventually } from '../support/eventually.ts'

let rig: Rig

beforeAll(async () => {
  rig = await startRig()
})

afterAll(() => rig.stop())

interface Run {
  readonly lines: readonly Record<string, unknown>[]
  stop(): Promise<void>
}

/** The demonstration in this process, in a great hurry. */
const start = (daemonUrl: string): Run => {
  const lines: Record<string, unknown>[] = []
  const log = pino({ level: 'debug' }, { write: (line: string) => void lines.push(JSON.parse(line)) })
  const stopping = new AbortController()
  const running = startDemonstration({
    daemonUrl,
    apiKey: rig.environment['API_KEY'] ?? null,
    eventsSecret: rig.environment['EVENTS_SECRET'] ?? null,
    settingsHavePriority: true,
    log: log.child({ demonstration: true }),
    signal: stopping.signal,
    paceMs: 20,
  })
  return {
    lines,
    stop: async () => {
      stopping.abort()
      await running
    },
  }
}

const demoCommands = async (): Promise<readonly Record<string, unknown>[]> =>
  rig.sql('SELECT id, kind, state, event_id FROM tallyman.commands WHERE event_source = $1 ORDER BY sequence', demoSource)

/** Every seller-fulfilled line is shipped or cancelled and no command is open. */
const isPlayedOut = async (lines: number): Promise<void> => {
  const summary = (await rig.sandbox.summary()).filter((line) => orders.has(line.purchaseOrderId))
  expect(summary.length).toBeGreaterThanOrEqual(lines)
  for (const line of summary)
    expect(line.shipped + line.cancelled, `${line.purchaseOrderId}/${line.lineNumber}`).toBe(line.ordered)
  const open = (await demoCommands()).filter((command) => command['state'] !== 'confirmed' && command['state'] !== 'rejected')
  expect(open).toEqual([])
}

const orders = new Set<string>()

const place = async (count: number): Promise<void> => {
  const placed = await rig.sandbox.placeRandom(count, { shipNodeType: 'SellerFulfilled', alive: false })
  for (const purchaseOrderId of placed) orders.add(purchaseOrderId)
}

// Few orders: the marketplace's published rates hold here as well, about one request of a kind a second.
test('orders are played out to their last unit, a restart doubles nothing, and effects and database agree', async () => {
  await place(6)
  const first = start(rig.daemon.url)
  // Stopped in the middle, wherever that is.
  await eventually(async () => expect((await demoCommands()).length).toBeGreaterThan(6))
  await first.stop()
  await place(3)
  const second = start(rig.daemon.url)
  await eventually(() => isPlayedOut(9), 50_000)
  const commands = await demoCommands()
  const kinds = new Set(commands.map((command) => command['kind']))
  expect([...kinds]).toEqual(expect.arrayContaining(['acknowledge', 'ship']))
  // One command for each event, since an event was never taken twice.
  expect(new Set(commands.map((command) => command['event_id'])).size).toBe(commands.length)
  await second.stop()

  for (const line of [...first.lines, ...second.lines]) expect(line['demonstration']).toBe(true)
  const units = await cli(['doctor', '--units', '--wait', '30'], rig.environment)
  expect(units.out).toMatch(/^\d+ lines, 0 differences\n$/)
})

test('a line whose buyer asked to cancel is cancelled for that reason', async () => {
  const purchaseOrderId = await rig.sandbox.place({
    lines: [
      { lineNumber: '1', sku: 'A', quantity: 2, amount: '20.00' },
      { lineNumber: '2', sku: 'A', quantity: 2, amount: '20.00' },
    ],
  })
  await rig.sandbox.control('POST', '/buyer-cancel', { purchaseOrderId, lineNumber: '2', intentOnly: true })
  const run = start(rig.daemon.url)
  await eventually(async () => {
    const lines = (await rig.sandbox.summary()).filter((line) => line.purchaseOrderId === purchaseOrderId)
    expect(lines.map(({ shipped, cancelled }) => shipped + cancelled)).toEqual([2, 2])
    expect(lines[1]).toMatchObject({ shipped: 0, cancelled: 2 })
  })
  await run.stop()
  const reasons = await rig.sql(
    `SELECT payload -> 'lines' -> 0 ->> 'reason' AS reason FROM tallyman.commands WHERE event_id = $1`,
    `demo-${purchaseOrderId}-buyer-2`,
  )
  expect(reasons).toEqual([{ reason: 'CUSTOMER_REQUESTED_SELLER_TO_CANCEL' }])
})

test('while the daemon is away it waits, says so once, and ends when told to', async () => {
  const run = start('http://127.0.0.1:1')
  await eventually(() => expect(run.lines.length).toBeGreaterThan(0))
  await run.stop()
  const warnings = run.lines.filter((line) => line['level'] === 40)
  expect(warnings).toHaveLength(1)
  expect(warnings[0]?.['msg']).toContain('the daemon cannot be reached')
})
