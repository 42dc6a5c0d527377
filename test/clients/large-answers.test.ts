import { monitorEventLoopDelay } from 'node:perf_hooks'
import { describe, expect, test } from 'vitest'
import { MarketplaceFailure } from '../../src/clients/http/errors.ts'
import { cutRecords, TooManyRecords } from '../../src/clients/http/json.ts'
import { mapInTimeSlices } from '../../src/clients/http/time-slices.ts'
import { ordersEndpoint } from '../../src/clients/marketplace/orders/orders.ts'
import { sendJson, startClient, startMarketplace } from './servers.ts'

const query = { shipNodeType: 'SellerFulfilled', createdFrom: new Date('2026-01-01T00:00:00Z'), limit: 200 }
const empties = (count: number): string => `[${Array.from({ length: count }, () => '{}').join(',')}]`

/** The longest pause of the process while work is done, in milliseconds. */
const longestPause = async (work: () => Promise<unknown>): Promise<number> => {
  const delay = monitorEventLoopDelay({ resolution: 5 })
  delay.enable()
  await work()
  // The last pause is seen at the next tick.
  await new Promise((resolve) => setTimeout(resolve, 20))
  delay.disable()
  return delay.max / 1e6
}

const list = async (body: unknown, status = 200) => {
  const { url } = await startMarketplace((_request, response) => sendJson(response, status, body))
  const { client } = startClient(url)
  return () => client.of(ordersEndpoint).list(query, { signal: new AbortController().signal })
}
const buildFailure = (call: () => Promise<unknown>): Promise<MarketplaceFailure> =>
  call().then(
    () => {
      throw new Error('it did not fail')
    },
    (error: unknown) => {
      if (error instanceof MarketplaceFailure) return error
      throw error
    },
  )

describe('an answer of a million empty records', () => {
  test('counts as too large, at once', async () => {
    const body = JSON.stringify({ list: { meta: { totalCount: 1 }, elements: { order: [] } } })
    const call = await list(JSON.parse(body.replace('"order":[]', `"order":${empties(1_000_000)}`)))
    let failure: MarketplaceFailure | null = null
    const paused = await longestPause(async () => {
      failure = await buildFailure(call)
    })
    expect(failure).toMatchObject({ kind: 'malformed', networkCode: 'TOO_MANY_RECORDS' })
    expect(paused).toBeLessThan(1_000)
  })

  test.each([200, 400])('does no harm as a list of faults with %i either', async (status) => {
    const call = await list(JSON.parse(`{"errors":{"error":${empties(1_000_000)}}}`), status)
    const paused = await longestPause(() => buildFailure(call))
    expect(paused).toBeLessThan(2_000)
  })

  test('is not cut to its end', () => {
    expect(() => cutRecords(empties(11), [], 10)).toThrow(TooManyRecords)
    expect(cutRecords(empties(10), [], 10)?.records).toHaveLength(10)
  })
})

test('what an answer holds is read in turns, in its order', async () => {
  const busyFor = (milliseconds: number): void => {
    const endsMs = performance.now() + milliseconds
    while (performance.now() < endsMs);
  }
  let turns = 0
  const others = setInterval(() => {
    turns += 1
  }, 1)
  const items = Array.from({ length: 1_000 }, (_, index) => index)
  const read = await mapInTimeSlices(items, (item) => {
    busyFor(1)
    return [item, item]
  })
  clearInterval(others)
  expect(read).toEqual(items.flatMap((item) => [item, item]))
  expect(turns).toBeGreaterThan(8)
})
