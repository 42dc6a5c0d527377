import { expect, test } from 'vitest'
import { createInProcessBudget } from '../../src/clients/budget.ts'
import { createClient } from '../../src/clients/client.ts'
import type { OrderCommandContent } from '../../src/domain/command.ts'
import { judge, takeBaseline } from '../../src/domain/evidence.ts'
import { failureOf } from './display/support.ts'
import { salesEndpoint, shop, signatureOf, vocabulary } from './second/marketplace.ts'
import { type Answer, afterTest, forever, sendJson, startServer } from './servers.ts'

// What clients/ has beside the folders of its one marketplace serves another one, over real HTTP.

const secret = 'hush-hush-shop-secret'
const write = () => ({ signal: forever(), correlationId: 'c-1' })
const sale = (ref: string, parcels: readonly (string | null)[] = [null, null]) => ({
  ref,
  placed: '2026-11-20T08:00:00Z',
  pieces: parcels.map((parcel) => ({ row: 1, article: 'MUG', cents: 1250, parcel })),
})

const start = async (answer: Answer) => {
  const { url, seen } = await startServer(answer)
  const log = { debug: () => undefined, warn: () => undefined }
  const client = createClient(shop, { sellerId: 'S', url, apiKey: 'key-7', secret }, { budget: createInProcessBudget({}), log })
  afterTest(() => client.close())
  return { client, seen, sales: client.of(salesEndpoint) }
}

test('pages are read in its own shape, under its own authorisation, and an unreadable order is kept as its text', async () => {
  const { client, sales, seen } = await start((request, response) => {
    const page =
      request.target === '/sales' ? { sales: [sale('A'), { ref: 'B', pieces: 7 }], after: 'x y' } : { sales: [], after: null }
    sendJson(response, 200, { page })
  })
  const first = await sales.list(null, { signal: forever() })
  expect(first.records.map(({ ok, key }) => [ok, key])).toEqual([
    [true, 'A'],
    [false, 'B'],
  ])
  expect(first.records[0]).toMatchObject({ value: { lines: [{ lineNumber: '1', ordered: 2, charges: [{ amount: '25' }] }] } })
  expect(salesEndpoint.read(first.records[0]?.rawText ?? '')).toMatchObject({ ok: true, key: 'A' })
  expect((await sales.list(first.nextCursor, { signal: forever() })).nextCursor).toBeNull()
  expect(seen.map(({ target }) => target)).toEqual(['/sales', '/sales?after=x%20y'])
  for (const { method, target, headers, body } of seen) {
    expect(headers).toMatchObject({ 'x-api-key': 'key-7', 'x-signature': signatureOf(secret, method, target, body) })
  }
  expect(client.of(salesEndpoint)).toBe(sales)
})

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
  const { sales, seen } = await start((_request, response) => sendJson(response, status, body))
  const failure = await failureOf(sales.send('A', [{ row: 1, parcel: 'P-1' }], write()))
  expect(failure).toMatchObject({ operation: 'sales.send', ...expected })
  expect(JSON.stringify(failure)).not.toContain(secret)
  expect(seen).toHaveLength(1)
})

test('an order that is not there is none, whatever the words for it', async () => {
  const { sales } = await start((_request, response) => sendJson(response, 404, { problem: { kind: 'no_such_order' } }))
  expect(await sales.get('A', { signal: forever() })).toBeNull()
})

test('a command whose answer is lost is proven by reading the order back', async () => {
  const parcels: (string | null)[] = [null, null]
  const { sales } = await start((request, response) => {
    if (request.method === 'GET') return sendJson(response, 200, { sale: sale('A', parcels) })
    parcels[0] = 'P-1'
    response.destroy()
  })
  const before = (await sales.get('A', { signal: forever() }))?.record
  const lost = await failureOf(sales.send('A', [{ row: 1, parcel: 'P-1' }], write()))
  expect(lost).toMatchObject({ kind: 'unknown', sent: 'maybe' })
  const after = (await sales.get('A', { signal: forever() }))?.record
  if (before?.ok !== true || after?.ok !== true) throw new Error('expected an order')
  const lines = [{ lineNumber: '1', quantity: 1 }]
  const parcel = {
    carrier: 'Post',
    trackingNumber: 'P-1',
    trackingUrl: null,
    method: null,
    shippedAt: '2026-11-20T09:00:00Z',
    lines,
  }
  const content: OrderCommandContent = { kind: 'ship', payload: { parcels: [parcel] } }
  expect(judge(vocabulary.statuses, content, takeBaseline(before.value), after.value, false)).toMatchObject({
    verdict: 'applied',
  })
  expect(judge(vocabulary.statuses, content, takeBaseline(before.value), before.value, false).verdict).not.toBe('applied')
})

test('its operations have limits of their own', async () => {
  const { client } = await start((_request, response) => sendJson(response, 200, {}))
  for (let request = 0; request < 6; request += 1) await client.budget.take(salesEndpoint.operations.send)
  expect(await client.budget.take(salesEndpoint.operations.send)).toMatchObject({ granted: false })
  expect(await client.budget.take(salesEndpoint.operations.get)).toEqual({ granted: true })
})
