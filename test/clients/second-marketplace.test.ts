import pino from 'pino'
import { expect, test } from 'vitest'
import { createClient } from '../../src/clients/http/client.ts'
import { createInProcessBudget } from '../../src/clients/rate-limit/shared-budget.ts'
import type { OrderCommandContent } from '../../src/domain/commands/command.ts'
import type { PurchaseOrder } from '../../src/domain/orders/order.ts'
import { resource } from '../../src/jobs/sync/engine/resource.ts'
import { afterKeys, type WalkPage, walk } from '../../src/jobs/sync/engine/streams.ts'
import { runSync } from '../../src/jobs/sync/engine/syncs.ts'
import { insertCommands } from '../../src/store/commands/command-steps.ts'
import { findDifferingOrders, storeDifferingOrders } from '../../src/store/orders/orders.ts'
import { readOrder } from '../../src/store/orders/stored-orders.ts'
import { withDatabase } from '../support/database.ts'
import { eventually } from '../support/eventually.ts'
import { runCommand } from '../support/run-command.ts'
import { buildFailure } from './display/support.ts'
import { formatSignature, salesEndpoint, salesWrites, shop, vocabulary } from './second/marketplace.ts'
import { type Answer, afterTest, forever, sendJson, startServer } from './servers.ts'

// What is there beside the folder of our one marketplace serves another one: over real HTTP, into a real database.

const [sellerId, secret] = ['S', 'hush-hush-shop-secret']
const sale = (ref: string, parcels: readonly (string | null)[] = [null, null]) => ({
  ...{ ref, placed: '2026-11-20T08:00:00Z' },
  pieces: parcels.map((parcel) => ({ row: 1, article: 'MUG', cents: 1250, parcel })),
})

const start = async (answer: Answer) => {
  const { url, seen } = await startServer(answer)
  const log = { debug: () => undefined, warn: () => undefined }
  const client = createClient(shop, { sellerId, url, apiKey: 'key-7', secret }, { budget: createInProcessBudget({}), log })
  afterTest(() => client.close())
  return { client, seen, sales: client.of(salesEndpoint) }
}

test.each([
  [404, { problem: { kind: 'out_of_stock' } }, { kind: 'refused', alreadyDone: false }],
  [409, { problem: { kind: 'sent_before', text: `parcel 1, key ${secret}` } }, { kind: 'refused', alreadyDone: true }],
  [400, { problem: { kind: 'slow_down' } }, { kind: 'throttled' }],
  [401, { problem: { kind: 'bad_signature' } }, { kind: 'unavailable', staleToken: true }],
  [404, '<html>', { kind: 'unknown' }],
  [200, { problem: { kind: 'closed' } }, { kind: 'unknown' }],
  // The words of another marketplace are nobody's here.
  [400, { errors: [{ code: 'INVALID_REQUEST_CONTENT' }] }, { kind: 'unknown' }],
])('a command that is answered with %i %j ends as %j', async (status, body, expected) => {
  const { client, seen } = await start((_request, response) => sendJson(response, status, body))
  const failure = await buildFailure(
    client.writer(salesWrites).send({ ref: 'A', rows: [] }, { signal: forever(), correlationId: 'c-1' }),
  )
  expect(failure).toMatchObject({ operation: 'sales.send', ...expected })
  expect(JSON.stringify(failure)).not.toContain(secret)
  expect(seen).toHaveLength(1)
})

const stage = withDatabase({ findVocabulary: () => vocabulary })
const all = walk({
  ...{ operation: salesEndpoint.operations.list, reads: 'every order', places: afterKeys },
  step: async ({ client }, { after }, options): Promise<WalkPage<PurchaseOrder>> => {
    const page = await client.of(salesEndpoint).list(after === '' ? null : after, options)
    return { answers: [page], records: page.records, next: page.nextCursor }
  },
})
const salesResource = resource({
  ...{ name: 'sales', endpoint: salesEndpoint, streams: { all } },
  poll: { variable: 'POLL_SALES', ordinaryMs: 60_000, demonstrationMs: 60_000 },
  table: {
    findDiffering: findDifferingOrders,
    store: async (tx, seller, observedAt, records) => (await storeDifferingOrders(tx, seller, observedAt, records)).changed,
  },
})

test('its orders are synced into the store, and its one command is sent once, its answer lost, and proven by reading back', async () => {
  const parcels: (string | null)[] = [null, null]
  const { client, seen } = await start(({ method, target }, response) => {
    const [sales, after] = target === '/sales' ? [[sale('A', parcels), { ref: 'B', pieces: 7 }], 'x y'] : [[sale('C')], null]
    if (method === 'POST') parcels[0] = 'P-1'
    if (method === 'POST') response.destroy()
    else if (target.endsWith('/Z')) sendJson(response, 404, { problem: { kind: 'no_such_order' } })
    else sendJson(response, 200, target.endsWith('/A') ? { sale: sale('A', parcels) } : { page: { sales, after } })
  })
  const { database } = stage
  const job = { signal: forever(), log: pino({ level: 'silent' }) }
  const sync = { database, client: () => client, owner: 'test', resources: [salesResource] }
  expect(await runSync(sync, { sellerId, resource: 'sales', stream: 'all' }, job)).toEqual({ done: true })
  expect(seen.map(({ target }) => target)).toEqual(['/sales', '/sales?after=x%20y'])
  const line = { sku: 'MUG', ordered: 2, charges: [{ chargeType: 'WARE', amount: '25' }], statuses: [{ status: 'angenommen' }] }
  expect(await readOrder(database, sellerId, 'A')).toMatchObject({ shipNodeType: 'Haendler', lines: [line] })
  expect(await readOrder(database, sellerId, 'C')).toMatchObject({ lines: [line] })
  expect(await database.prisma.quarantinedRecord.findMany()).toMatchObject([{ resource: 'sales', recordKey: 'B' }])
  expect(await client.of(salesEndpoint).get('Z', { signal: forever() })).toBeNull()
  const lines = [{ lineNumber: '1', quantity: 1 }]
  const sent = {
    carrier: 'Post',
    trackingNumber: 'P-1',
    trackingUrl: null,
    method: null,
    shippedAt: '2026-11-20T09:00:00Z',
    lines,
  }
  const cancelled = { lines: [{ lineNumber: '1', quantity: 1, reason: 'vergriffen' }] }
  const ship: OrderCommandContent = { kind: 'ship', payload: { parcels: [sent] } }
  const commands: OrderCommandContent[] = [ship, { kind: 'cancel', payload: cancelled }]
  const order = { sellerId, purchaseOrderId: 'A', event: null, commands }
  const ids = await database.transaction((tx) => insertCommands(tx, order))
  const configured = () => ({ sellerId, credentialsFingerprint: 'print', resumes: 0 })
  const times = { requestTimeoutMs: 5_000, settleTimeMs: 1_000, onSettled: async () => undefined }
  const parts = {
    database,
    sellers: {
      has: () => true,
      worksFor: () => true,
      suspend: () => undefined,
      client: () => client,
      liveClient: () => client,
      configured,
      findSettings: () => undefined,
    },
    owner: 'test',
    ...times,
  }
  await eventually(async () => {
    for (const id of ids) await runCommand(parts, id, job)
    const settled = await database.prisma.command.findMany({ orderBy: { sequence: 'asc' } })
    // It has no command to cancel: a person is asked, and nothing is sent.
    expect(settled.map(({ state }) => state)).toEqual(['confirmed', 'held'])
  })
  const rows = [{ row: 1, parcel: 'P-1', pieces: 1 }]
  expect(seen.flatMap(({ method, body }) => (method === 'POST' ? [JSON.parse(body)] : []))).toEqual([{ rows }])
  for (const { method, target, headers, body } of seen)
    expect(headers).toMatchObject({ 'x-api-key': 'key-7', 'x-signature': formatSignature(secret, method, target, body) })
})
