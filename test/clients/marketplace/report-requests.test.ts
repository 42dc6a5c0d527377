import type { ServerResponse } from 'node:http'
import { describe, expect, test } from 'vitest'
import { zip } from '../../../sandbox/core/zip.ts'
import { Malformed, MarketplaceFailure, Refused, Unavailable } from '../../../src/clients/http/errors.ts'
import { specification, walmartUs } from '../../../src/clients/marketplace/profiles/index.ts'
import { reconciliationEndpoint } from '../../../src/clients/marketplace/reports/reconciliation-report.ts'
import type { ReportDownload } from '../../../src/clients/marketplace/reports/report-download.ts'
import { parseFileAddress, parseProgress, type ReportRequests } from '../../../src/clients/marketplace/reports/report-requests.ts'
import { type ClientUnderTest, forever, type SeenRequest, sendJson, startClient, startMarketplace } from '../servers.ts'

const csv = 'SKU,Beginning Quantity\nA,1\n'
const name = 'InventoryReconciliationReport_2026-11-21T15_00_00.123Z.csv'
const options = { signal: forever() }
const notFound = { errors: [{ code: 'CONTENT_NOT_FOUND.GMP_REPORT_API', severity: 'INFO' }] }

const start = async (
  answer: (request: SeenRequest, response: ServerResponse) => void,
): Promise<
  ClientUnderTest & { readonly requests: ReportRequests; readonly seen: readonly SeenRequest[]; readonly url: string }
> => {
  const { url, seen } = await startMarketplace(answer)
  const started = startClient(url, { connection: { profile: walmartUs } })
  const { requests } = started.client.of(reconciliationEndpoint)
  if (requests === null) throw new Error('the profile has no requests for reports')
  return { ...started, requests, seen, url }
}

const readText = async (download: ReportDownload | null): Promise<string> => {
  const pieces: Uint8Array[] = []
  for await (const piece of download?.body ?? []) pieces.push(piece)
  return Buffer.concat(pieces).toString('utf8')
}

test('only the live service has requests for reports', () => {
  const { client } = startClient('http://127.0.0.1:1', { connection: { profile: specification } })
  expect(client.of(reconciliationEndpoint).requests).toBeNull()
})

describe('the request', () => {
  test('names the type in the query and the days with milliseconds in the body', async () => {
    const { requests, seen } = await start((_request, response) =>
      sendJson(response, 200, { requestId: 'R-1', requestStatus: 'RECEIVED', requestSubmissionDate: '2026-11-21T15:00:00Z' }),
    )
    expect(await requests.submit({ from: '2026-10-01', to: '2026-10-31' }, options)).toBe('R-1')
    expect(seen.at(-1)).toMatchObject({
      method: 'POST',
      target: '/v3/reports/reportRequests?reportType=INVENTORY_RECON&reportVersion=v1',
      body: '{"dataStartTime":"2026-10-01T00:00:00.000Z","dataEndTime":"2026-10-31T23:59:59.999Z"}',
      headers: { accept: 'application/json', 'content-type': 'application/json' },
    })
  })

  test('covers the running month up to today', () => {
    const { client } = startClient('http://127.0.0.1:1', { now: () => Date.parse('2026-11-21T16:00:00Z') })
    const { listDays } = client.of(reconciliationEndpoint)
    expect(listDays('2026-11')).toEqual({ from: '2026-11-01', to: '2026-11-21' })
    expect(listDays('2026-02')).toEqual({ from: '2026-02-01', to: '2026-02-28' })
  })

  test('is null where the marketplace has no such report', async () => {
    const { requests } = await start((_request, response) => sendJson(response, 404, notFound))
    expect(await requests.submit({ from: '2026-10-01', to: '2026-10-31' }, options)).toBeNull()
  })

  test('that is refused, as for a granularity that is not known, is a refusal', async () => {
    const error = [{ code: 'INVALID_REQUEST_CONTENT.GMP_REPORT_API', field: 'dateGranularity', severity: 'ERROR' }]
    const { requests } = await start((_request, response) => sendJson(response, 400, { errors: error }))
    const failure = await requests.submit({ from: '2026-10-01', to: '2026-10-31' }, options).catch((reason: unknown) => reason)
    expect(failure).toBeInstanceOf(Refused)
    expect(String(failure)).toContain('dateGranularity')
  })

  test.each([[{}], [{ requestId: 'R-1' }], [{ requestStatus: 'RECEIVED' }], [[]]])(
    'whose answer is %j has failed',
    async (answer) => {
      const { requests } = await start((_request, response) => sendJson(response, 200, answer))
      await expect(requests.submit({ from: '2026-10-01', to: '2026-10-31' }, options)).rejects.toBeInstanceOf(MarketplaceFailure)
    },
  )
})

describe('the progress', () => {
  test.each([
    ['RECEIVED', 'pending'],
    ['INPROGRESS', 'pending'],
    ['IN_PROGRESS', 'pending'],
    ['in progress', 'pending'],
    ['READY', 'ready'],
    ['ERROR', 'failed'],
  ])('%s is %s', (status, progress) => {
    const unknown: string[] = []
    expect(parseProgress(status, ({ value }) => unknown.push(value))).toBe(progress)
    expect(unknown).toEqual([])
  })

  test('an unknown state is pending, and counted', () => {
    const unknown: unknown[] = []
    expect(parseProgress('PAUSED', (report) => unknown.push(report))).toBe('pending')
    expect(unknown).toEqual([{ resource: 'report request', field: 'requestStatus', value: 'PAUSED' }])
  })

  test('is read by the id', async () => {
    const { requests, seen } = await start((_request, response) =>
      sendJson(response, 200, { requestId: 'R/1', requestStatus: 'READY' }),
    )
    expect(await requests.readProgress('R/1', options)).toBe('ready')
    expect(seen.at(-1)).toMatchObject({ method: 'GET', target: '/v3/reports/reportRequests/R%2F1' })
  })

  test('of another request is not believed', async () => {
    const { requests } = await start((_request, response) =>
      sendJson(response, 200, { requestId: 'R-2', requestStatus: 'READY' }),
    )
    await expect(requests.readProgress('R-1', options)).rejects.toBeInstanceOf(Malformed)
  })

  test('is null where the marketplace does not know the request', async () => {
    const { requests } = await start((_request, response) => sendJson(response, 404, notFound))
    expect(await requests.readProgress('R-1', options)).toBeNull()
  })
})

describe('the download', () => {
  const located = (downloadURL: unknown) => ({ requestId: 'R-1', downloadURL, downloadURLExpirationTime: '2026-11-21T15:10:00Z' })
  /** The marketplace and its store of files at one address. */
  const withFile = (answerFile: (response: ServerResponse) => void, downloadURL = `/files/${name}?signature=s3cret`) =>
    start((request, response) => {
      if (request.target.startsWith('/files/')) answerFile(response)
      else sendJson(response, 200, located(downloadURL))
    })

  test('asks for the address, and takes the file from there without credentials', async () => {
    const { requests, seen, reports, logged } = await withFile((response) =>
      response.writeHead(200, { 'content-type': 'application/octet-stream' }).end(csv),
    )
    const download = await requests.download('R-1', options)
    expect(await readText(download)).toBe(csv)
    expect(download).toMatchObject({ fileName: name, generatedAt: new Date('2026-11-21T15:00:00.123Z') })
    const [asked, fetched] = seen.slice(-2)
    expect(asked?.target).toBe('/v3/reports/downloadReport?requestId=R-1')
    expect(fetched?.target).toBe(`/files/${name}?signature=s3cret`)
    const identifying = Object.keys(fetched?.headers ?? {}).filter((header) => /^(xx|wm)_|authorization|cookie/i.test(header))
    expect(identifying).toEqual([])
    expect(reports.slice(-2)).toMatchObject([
      { operation: 'reconciliation.download', outcome: 'ok' },
      { operation: 'reconciliation.download', outcome: 'ok' },
    ])
    expect(JSON.stringify(logged)).not.toContain('s3cret')
  })

  test('unpacks an archive', async () => {
    const { requests } = await withFile((response) => response.writeHead(200).end(zip({ 'report.csv': csv })))
    expect(await readText(await requests.download('R-1', options))).toBe(csv)
  })

  test('has failed if the archive is cut', async () => {
    const { requests } = await withFile((response) => response.writeHead(200).end(zip({ 'report.csv': csv }).subarray(0, 50)))
    await expect(requests.download('R-1', options).then(readText)).rejects.toBeInstanceOf(MarketplaceFailure)
  })

  test('prefers the name that the answer gives', async () => {
    const { requests } = await withFile((response) =>
      response.writeHead(200, { 'content-disposition': 'attachment; filename=other.csv' }).end(csv),
    )
    const download = await requests.download('R-1', options)
    expect(download).toMatchObject({ fileName: 'other.csv', generatedAt: null })
    await readText(download)
  })

  test.each([403, 404, 500])('may succeed later if the store of files answers %i', async (status) => {
    const { requests, logged } = await withFile((response) =>
      response.writeHead(status, { 'content-type': 'application/xml' }).end('<Error>signature=s3cret</Error>'),
    )
    const failure = await requests.download('R-1', options).catch((reason: unknown) => reason)
    expect(failure).toBeInstanceOf(Unavailable)
    expect(JSON.stringify([failure, String(failure), logged])).not.toContain('s3cret')
  })

  test('does not take JSON for a file', async () => {
    const { requests } = await withFile((response) => sendJson(response, 200, { rows: [] }))
    await expect(requests.download('R-1', options)).rejects.toBeInstanceOf(Malformed)
  })

  test('does not follow an address that is not acceptable', async () => {
    const { requests, seen } = await withFile((response) => response.end(csv), 'http://127.0.0.1:1/files')
    await expect(requests.download('R-1', options)).rejects.toBeInstanceOf(Malformed)
    expect(seen.at(-1)?.target).toContain('downloadReport')
  })

  test('is null where the file is no longer kept', async () => {
    const { requests } = await start((_request, response) => sendJson(response, 404, notFound))
    expect(await requests.download('R-1', options)).toBeNull()
  })
})

test.each([
  ['https://files.example/a?b=c', 'https://files.example/a?b=c'],
  ['http://market.example:8080/files/a', 'http://market.example:8080/files/a'],
  ['/files/a', 'http://market.example:8080/files/a'],
  ['http://files.example/a', null],
  ['http://market.example/files/a', null],
  ['https://user:secret@files.example/a', null],
  ['file:///etc/passwd', null],
  ['https://', null],
])('the address %s is read as %s', (text, address) => {
  expect(parseFileAddress(text, 'http://market.example:8080/base')?.href ?? null).toBe(address)
})
