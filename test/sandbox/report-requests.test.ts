import { parse } from 'csv-parse/sync'
import { describe, expect, test } from 'vitest'
import { unzipFile } from '../../src/clients/http/files/unzip.ts'
import { at, type Reply, startClient, startLiveClient, type TestClient } from './support.ts'

// Reports on request, which only the live service has.

const submitPath = '/v3/reports/reportRequests?reportType=INVENTORY_RECON&reportVersion=v1'
const codes = (reply: Reply) => [reply.status, at(reply.json, 'errors', 0, 'code'), at(reply.json, 'errors', 0, 'field')]

const buildBody = async (client: TestClient, more: object = {}) => {
  const now = String(at(await client.control('GET', '/clock'), 'now'))
  const lastMonth = new Date(Date.UTC(Number(now.slice(0, 4)), Number(now.slice(5, 7)) - 2, 1)).toISOString().slice(0, 7)
  return { dataStartTime: `${lastMonth}-01T00:00:00.000Z`, dataEndTime: `${lastMonth}-28T23:59:59.999Z`, ...more }
}

const submit = async (client: TestClient, requests: object = {}): Promise<string> => {
  await client.control('PUT', '/report', { requests })
  const reply = await client.call('POST', submitPath, await buildBody(client))
  expect(reply.status).toBe(200)
  return String(at(reply.json, 'requestId'))
}
const readStatus = async (client: TestClient, id: string) =>
  at((await client.call('GET', `/v3/reports/reportRequests/${id}`)).json, 'requestStatus')
const advance = async (client: TestClient, duration: string): Promise<void> => {
  await client.control('POST', '/clock', { advance: duration })
  await client.renewToken()
}
const locate = (client: TestClient, id: string): Promise<Reply> =>
  client.call('GET', `/v3/reports/downloadReport?requestId=${id}`)

test('a request is received, in progress and ready; its file is there without a token, for some minutes', async () => {
  const client = await startLiveClient()
  const id = await submit(client)
  expect(await readStatus(client, id)).toBe('RECEIVED')
  expect(codes(await locate(client, id))).toEqual([400, 'INVALID_REQUEST_CONTENT.GMP_REPORT_API', 'requestId'])
  await advance(client, '10m')
  expect(await readStatus(client, id)).toBe('INPROGRESS')
  await advance(client, '11m')
  expect(await readStatus(client, id)).toBe('READY')
  const located = await locate(client, id)
  const address = String(at(located.json, 'downloadURL'))
  expect(parse(await (await fetch(address)).text())).toHaveLength(22)
  await advance(client, '11m')
  const late = await fetch(address)
  expect([late.status, late.headers.get('content-type'), await late.text()]).toEqual([
    403,
    'application/xml',
    expect.stringContaining('<?xml'),
  ])
})

test('the file may be an archive', async () => {
  const client = await startLiveClient()
  const id = await submit(client, { readyAfterMs: 0, archive: true })
  const address = String(at((await locate(client, id)).json, 'downloadURL'))
  expect(address).toContain('.zip?')
  const bytes = new Uint8Array(await (await fetch(address)).arrayBuffer())
  const body = async function* (): AsyncGenerator<Uint8Array, void, undefined> {
    yield bytes
  }
  const pieces: Uint8Array[] = []
  for await (const piece of unzipFile(body(), 1_000_000)) pieces.push(piece)
  expect(parse(Buffer.concat(pieces).toString('utf8'))).toHaveLength(22)
})

test.each([
  ['error', 'ERROR', 400],
  ['stuck', 'INPROGRESS', 400],
  ['expired', 'READY', 404],
])('a request may end as %s', async (ending, status, download) => {
  const client = await startLiveClient()
  const id = await submit(client, { ending })
  await advance(client, '1d')
  expect(await readStatus(client, id)).toBe(status)
  expect((await locate(client, id)).status).toBe(download)
})

test('requests are forgotten after 30 days', async () => {
  const client = await startLiveClient()
  const id = await submit(client)
  await advance(client, '30d')
  expect((await client.call('GET', `/v3/reports/reportRequests/${id}`)).status).toBe(404)
  expect((await client.call('GET', '/v3/reports/reportRequests/unknown')).status).toBe(404)
})

describe('a request is refused', () => {
  test.each([
    [{ dateGranularity: 'HOURLY' }, 'dateGranularity'],
    [{ dateGranularity: 7 }, 'dateGranularity'],
    [{ dataStartTime: '2026-10-01T00:00:00Z' }, 'dataStartTime'],
    [{ dataEndTime: undefined }, 'dataEndTime'],
    [{ dataEndTime: '2100-01-01T00:00:00.000Z' }, 'dataEndTime'],
    [{ dataStartTime: '2021-10-01T00:00:00.000Z', dataEndTime: '2021-10-31T23:59:59.999Z' }, 'dataStartTime'],
  ])('for %j', async (more, field) => {
    const client = await startLiveClient()
    const reply = await client.call('POST', submitPath, await buildBody(client, more))
    expect(codes(reply)).toEqual([400, 'INVALID_REQUEST_CONTENT.GMP_REPORT_API', field])
  })

  test('for another type or version, and not for a granularity that is known', async () => {
    const client = await startLiveClient()
    const body = await buildBody(client, { dateGranularity: 'MONTHLY' })
    expect((await client.call('POST', submitPath.replace('v1', 'v9'), body)).status).toBe(400)
    expect((await client.call('POST', submitPath.replace('INVENTORY_RECON', 'ITEM'), body)).status).toBe(400)
    expect((await client.call('POST', submitPath, body)).status).toBe(200)
  })

  test('where the specification knows no such operation; the live service has removed the hyphenated path instead', async () => {
    const client = await startClient()
    expect((await client.call('POST', submitPath, await buildBody(client))).status).toBe(404)
    const live = await startLiveClient()
    const hyphenated = '/v3/report/wfs/inventory-reconciliation-report?startDate=2026-02-01&endDate=2026-02-02'
    expect((await live.call('GET', hyphenated)).status).toBe(404)
    expect((await client.call('GET', hyphenated)).status).toBe(200)
  })
})
