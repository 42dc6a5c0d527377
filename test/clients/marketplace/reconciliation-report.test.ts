import { once } from 'node:events'
import type { ServerResponse } from 'node:http'
import { brotliCompressSync, createGzip, gzipSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import { Malformed, MarketplaceFailure, Refused, Throttled, Unavailable } from '../../../src/clients/http/errors.ts'
import type { ParsedRecord } from '../../../src/clients/http/record.ts'
import { walmartUs } from '../../../src/clients/marketplace/profiles/index.ts'
import { findFileName, parseStamp } from '../../../src/clients/marketplace/reports/content-disposition.ts'
import type { ReportQuery } from '../../../src/clients/marketplace/reports/reconciliation-report.ts'
import { reconciliationEndpoint } from '../../../src/clients/marketplace/reports/reconciliation-report.ts'
import { parseReportRow, parseSku, readHeader, readRow } from '../../../src/clients/marketplace/reports/report-csv.ts'
import type { ReportDownload } from '../../../src/clients/marketplace/reports/report-download.ts'
import { isBlank, ReportFault, readLines } from '../../../src/clients/marketplace/reports/report-lines.ts'
import { createInProcessBudget } from '../../../src/clients/rate-limit/shared-budget.ts'
import type { ReconciliationRow } from '../../../src/domain/inventory/reconciliation-report.ts'
import { eventually } from '../../support/eventually.ts'
import { type ClientSettings, forever, generousLimits, sendJson, startClient, startMarketplace, startTcp } from '../servers.ts'

const headerLine =
  'GTIN,SKU,Item Name,Beginning Quantity,Ending Quantity,Units Sold,Units Returned,Units Lost,Units Found,Units Damaged,Other Adjustments'
const csv = `${headerLine}\n00012345678905,SKU-1,Lamp,10,7,3,0,0,0,0,0\n`

const sendCsv = (response: ServerResponse, body: string | Uint8Array = csv, headers: Record<string, string> = {}): void => {
  response.writeHead(200, { 'content-type': 'text/csv', ...headers }).end(body)
}

const toText = async (body: AsyncIterable<Uint8Array>): Promise<string> => {
  const pieces: Uint8Array[] = []
  for await (const piece of body) pieces.push(piece)
  return Buffer.concat(pieces).toString('utf8')
}

const present = (download: ReportDownload | null): ReportDownload => {
  if (download === null) throw new Error('no report came')
  return download
}

const ask = async (url: string, query: ReportQuery = { month: '2026-10' }, settings: ClientSettings = {}) => {
  const { client, ...rest } = startClient(url, settings)
  return { client, ...rest, report: await client.of(reconciliationEndpoint).download(query, { signal: forever() }) }
}

const buildFailure = async (url: string, settings: ClientSettings = {}): Promise<MarketplaceFailure> => {
  const { client } = startClient(url, settings)
  try {
    const report = present(await client.of(reconciliationEndpoint).download({ month: '2026-10' }, { signal: forever() }))
    await toText(report.body)
  } catch (error) {
    if (error instanceof MarketplaceFailure) return error
    throw error
  }
  throw new Error('the download did not fail')
}

describe('the request', () => {
  const parseTarget = async (query: ReportQuery, settings: ClientSettings): Promise<string> => {
    const { url, seen } = await startMarketplace((_request, response) => sendCsv(response))
    const { report } = await ask(url, query, settings)
    await toText(present(report).body)
    return seen.at(-1)?.target ?? ''
  }
  const at = (iso: string) => ({ now: () => Date.parse(iso) })
  const walmart = { connection: { profile: walmartUs } }

  test('names the days of a month that is over, by the specification', async () => {
    expect(await parseTarget({ month: '2026-02' }, at('2026-11-21T16:00:00Z'))).toBe(
      '/v3/report/wfs/InventoryReconciliationReport?startDate=2026-02-01&endDate=2026-02-28',
    )
  })

  test('ends the running month today, by the Pacific calendar', async () => {
    // The marketplace's clock is the test server's, which is ours.
    const today = new Date(Date.now())
    const month = new Intl.DateTimeFormat('sv', { timeZone: 'America/Los_Angeles', year: 'numeric', month: '2-digit' }).format(
      today,
    )
    const day = new Intl.DateTimeFormat('sv', { timeZone: 'America/Los_Angeles', dateStyle: 'short' }).format(today)
    expect(await parseTarget({ month, gtin: '00012345678905' }, {})).toBe(
      `/v3/report/wfs/InventoryReconciliationReport?startDate=${month}-01&endDate=${day}&gtin=00012345678905`,
    )
  })

  test('names days as they are given', async () => {
    expect(await parseTarget({ from: '2026-02-03', to: '2026-03-04' }, {})).toContain('?startDate=2026-02-03&endDate=2026-03-04')
  })

  test('names the month where the profile says so', async () => {
    expect(await parseTarget({ month: '2026-02' }, walmart)).toBe(
      '/v3/report/wfs/inventoryReconciliationReport?monthYear=02-2026',
    )
    expect(await parseTarget({ from: '2026-02-03', to: '2026-02-04' }, walmart)).toContain('?monthYear=02-2026')
  })

  test('asks for a file and carries what every request carries', async () => {
    const { url, seen } = await startMarketplace((_request, response) => sendCsv(response))
    const ids = new Set<string>()
    for (const [query, settings] of [
      [{ month: '2026-09' }, {}],
      [{ month: '2026-10' }, walmart],
    ] as const) {
      const { report } = await ask(url, query, settings)
      const { body, correlationId } = present(report)
      await toText(body)
      const sent = seen.at(-1)
      expect(sent?.method).toBe('GET')
      expect(sent?.headers).toMatchObject({
        accept: 'application/json',
        'xx_sec.access_token': `token-${ids.size + 1}`,
        'xx_svc.name': 'Tallyman',
        'xx_qos.correlation_id': correlationId,
      })
      expect(correlationId).toMatch(/^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/)
      expect(sent?.headers).not.toHaveProperty('content-type')
      const global = [sent?.headers['xx_global_version'], sent?.headers['xx_market']]
      // The live service demands these of its report, the specification of shipping settings only.
      expect(global).toEqual(settings === walmart ? ['3.1', 'us'] : [undefined, undefined])
      ids.add(correlationId)
    }
    expect(ids.size).toBe(2)
  })

  test.each([
    [{ month: '2026-02', gtin: '1' }, {}, 'current month'],
    [{ from: '2026-02-03', to: '2026-03-04' }, walmart, 'by month'],
    [{ from: '2026-02-03', to: '2026-02-01' }, {}, 'before it begins'],
  ] as const)('%j is not sent', async (query, settings, reason) => {
    const { url, seen } = await startMarketplace((_request, response) => sendCsv(response))
    await expect(ask(url, query, settings)).rejects.toThrow(reason)
    expect(seen).toEqual([])
  })
})

describe('the file', () => {
  test('comes with its name and the moment at which it was made', async () => {
    const { url } = await startMarketplace((_request, response) =>
      sendCsv(response, csv, {
        'content-disposition': 'attachment: filename=InventoryReconciliationReport_2026-11-21T15_00_00.123Z.csv',
      }),
    )
    const { report, reports } = await ask(url)
    const { fileName, generatedAt, body } = present(report)
    expect(await toText(body)).toBe(csv)
    expect({ fileName, generatedAt }).toEqual({
      fileName: 'InventoryReconciliationReport_2026-11-21T15_00_00.123Z.csv',
      generatedAt: new Date('2026-11-21T15:00:00.123Z'),
    })
    expect(reports.at(-1)).toMatchObject({ operation: 'reconciliation.report', outcome: 'ok', status: 200 })
  })

  test.each([
    ['gzip', gzipSync(csv)],
    ['br', brotliCompressSync(csv)],
    ['identity', Buffer.from(csv)],
  ])('may be packed as %s', async (encoding, bytes) => {
    const { url } = await startMarketplace((_request, response) => sendCsv(response, bytes, { 'content-encoding': encoding }))
    const { report } = await ask(url)
    expect(await toText(present(report).body)).toBe(csv)
  })

  test('may say that it is anything but CSV', async () => {
    const { url } = await startMarketplace((_request, response) =>
      sendCsv(response, `\uFEFF${csv}`, { 'content-type': 'application/json' }),
    )
    const { report } = await ask(url)
    expect(await toText(present(report).body)).toBe(`\uFEFF${csv}`)
  })

  test.each([
    ['utf-16le', 'little', 2],
    ['utf-16be', 'big', 3],
    ['utf-8', 'none', 1],
  ])('comes as UTF-8 where its byte order mark says %s', async (_name, order, size) => {
    const text = Buffer.from(`\uFEFF${csv.replace('Lamp', 'Lämp 𝄞')}`, order === 'none' ? 'utf8' : 'utf16le')
    const bytes = order === 'big' ? text.swap16() : text
    const { url } = await startMarketplace(async (_request, response) => {
      response.writeHead(200, { 'content-type': 'text/csv' })
      for (let at = 0; at < bytes.length; at += size) response.write(bytes.subarray(at, at + size))
      response.end()
    })
    const { report } = await ask(url)
    expect((await toText(present(report).body)).replace('\uFEFF', '')).toBe(csv.replace('Lamp', 'Lämp 𝄞'))
  })

  test.each([
    ['text/csv; charset=Windows-1252', 'latin1'],
    ['text/csv;charset="CP1252"', 'latin1'],
    ['text/csv; charset=ISO-8859-1', 'latin1'],
    ['text/csv; charset=utf-16le', 'utf16le'],
    ['text/csv; charset=cp1252', 'utf8'],
  ] as const)('comes as UTF-8 where its content type says %s', async (contentType, encoding) => {
    const text = csv.replace('SKU-1', 'ÖL-1')
    // A byte order mark says more than the content type.
    const bytes = Buffer.from(encoding === 'utf8' ? `\uFEFF${text}` : text, encoding)
    const { url } = await startMarketplace((_request, response) => sendCsv(response, bytes, { 'content-type': contentType }))
    const { report } = await ask(url)
    expect((await toText(present(report).body)).replace('\uFEFF', '')).toBe(text)
  })

  test('in an unknown encoding, or in none that its content type names, is a failure', async () => {
    for (const [charset, bytes, code] of [
      ['klingon-8', Buffer.from(csv), 'UNKNOWN_CHARSET'],
      ['euc-kr', Buffer.concat([Buffer.from(csv), Buffer.from([0xff, 0xff])]), 'BODY_UNREADABLE'],
    ] as const) {
      const { url } = await startMarketplace((_request, response) =>
        sendCsv(response, bytes, { 'content-type': `text/csv; charset=${charset}` }),
      )
      const failure = await buildFailure(url)
      expect(failure).toBeInstanceOf(Malformed)
      expect(failure.message).toContain(code)
    }
  })

  test('may take longer than an ordinary answer, as long as it goes on', async () => {
    const { url } = await startMarketplace((_request, response) => {
      response.writeHead(200, { 'content-type': 'text/csv' })
      let sent = 0
      const drip = setInterval(() => {
        sent += 1
        response.write(sent === 1 ? `${headerLine}\n` : 'x,y,z,1,1,0,0,0,0,0,0\n')
        if (sent === 8) {
          clearInterval(drip)
          response.end()
        }
      }, 100)
    })
    const { report } = await ask(url, { month: '2026-10' }, { connection: { requestTimeoutMs: 400 } })
    expect((await toText(present(report).body)).split('\n')).toHaveLength(9)
  })

  test('may be given up before it is read', async () => {
    let open = 0
    const { url } = await startMarketplace((_request, response) => {
      open += 1
      response.once('close', () => {
        open -= 1
      })
      response.writeHead(200, { 'content-type': 'text/csv' }).write(csv)
    })
    const { report, reports } = await ask(url)
    const { body } = present(report)
    expect(open).toBe(1)
    await body.return()
    await eventually(() => expect(open).toBe(0))
    expect(reports.at(-1)).toMatchObject({ operation: 'reconciliation.report', outcome: 'ok' })
    expect(await body.next()).toEqual({ done: true, value: undefined })
  })

  test('may be given up half read', async () => {
    const { url } = await startMarketplace((_request, response) => {
      response.writeHead(200, { 'content-type': 'text/csv' })
      response.write(csv)
    })
    const { client, reports } = startClient(url)
    const { body } = present(await client.of(reconciliationEndpoint).download({ month: '2026-10' }, { signal: forever() }))
    for await (const piece of body) {
      expect(piece.length).toBeGreaterThan(0)
      break
    }
    expect(reports.at(-1)).toMatchObject({ operation: 'reconciliation.report', outcome: 'ok' })
  })

  test('goes through in constant memory, however large it is', async () => {
    const line = Buffer.from('00012345678905,SKU-1,A lamp with quite a long name to fill the line,10,7,3,0,0,0,0,0\n'.repeat(700))
    const pieces = Math.ceil((100 * 1024 * 1024) / line.length)
    let written = 0
    const { url } = await startMarketplace((_request, response) => {
      response.writeHead(200, { 'content-type': 'text/csv', 'content-encoding': 'gzip' })
      const gzip = createGzip({ level: 1 })
      gzip.pipe(response)
      const write = async (): Promise<void> => {
        for (; written < pieces; written += 1) if (!gzip.write(line)) await once(gzip, 'drain')
        gzip.end()
      }
      void write()
    })
    const { report } = await ask(url)
    let bytes = 0
    let peak = 0
    let ahead = 0
    const before = process.memoryUsage().rss
    for await (const piece of present(report).body) {
      bytes += piece.length
      peak = Math.max(peak, process.memoryUsage().rss - before)
      ahead = Math.max(ahead, written * line.length - bytes)
    }
    expect(bytes).toBe(pieces * line.length)
    expect(peak).toBeLessThan(120 * 1024 * 1024)
    // What is packed well may be far ahead in bytes, but not by all of the file: the sender waits for the reader.
    expect(ahead).toBeLessThan(bytes)
  }, 60_000)

  test('makes its sender wait for a slow reader', async () => {
    const line = Buffer.alloc(64 * 1024, 'x,')
    let written = 0
    const { url } = await startMarketplace((_request, response) => {
      response.writeHead(200, { 'content-type': 'text/csv' })
      const write = async (): Promise<void> => {
        for (; written < 50 * 16; written += 1) if (!response.write(line)) await once(response, 'drain')
        response.end()
      }
      void write()
    })
    const { report } = await ask(url)
    let bytes = 0
    let ahead = 0
    for await (const piece of present(report).body) {
      bytes += piece.length
      // Lets the sender run as far ahead as it can.
      await new Promise((resolve) => setImmediate(resolve))
      ahead = Math.max(ahead, written * line.length - bytes)
    }
    expect(bytes).toBe(50 * 1024 * 1024)
    expect(ahead).toBeLessThan(20 * 1024 * 1024)
  })
})

describe('a file that does not come whole is a failure', () => {
  const tcp = async (head: string, body: Uint8Array | string, end: 'close' | 'reset' | 'silence'): Promise<string> => {
    const { url } = await startTcp((socket) => {
      socket.on('data', (data) => {
        if (data.toString().startsWith('POST /v3/token')) {
          const token = JSON.stringify({ access_token: 't', token_type: 'Bearer', expires_in: 900 })
          socket.write(`HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: ${token.length}\r\n\r\n${token}`)
          return
        }
        socket.write(`HTTP/1.1 200 OK\r\ncontent-type: text/csv\r\n${head}\r\n`)
        socket.write(body, () => {
          if (end === 'close') socket.end()
          if (end === 'reset') setImmediate(() => socket.resetAndDestroy())
        })
      })
    })
    return url
  }

  test('when it is shorter than announced', async () => {
    const failure = await buildFailure(await tcp('content-length: 5000\r\n', csv, 'close'))
    expect(failure).toBeInstanceOf(Unavailable)
    expect(failure).toMatchObject({ httpStatus: 200, sent: 'answered', networkCode: 'ECONNRESET' })
  })

  test('when the connection is lost between two chunks', async () => {
    const failure = await buildFailure(
      await tcp('transfer-encoding: chunked\r\n', `${csv.length.toString(16)}\r\n${csv}\r\n`, 'close'),
    )
    expect(failure).toMatchObject({ kind: 'unavailable', networkCode: 'ECONNRESET' })
  })

  test('when the connection is reset', async () => {
    const failure = await buildFailure(await tcp('content-length: 5000\r\n', csv, 'reset'))
    expect(failure).toMatchObject({ kind: 'unavailable', sent: 'answered' })
    expect(['ECONNRESET', 'ERR_HTTP_CONTENT_LENGTH_MISMATCH']).toContain(failure.networkCode)
  })

  test('when it falls silent', async () => {
    const url = await tcp('content-length: 5000\r\n', csv, 'silence')
    const failure = await buildFailure(url, { connection: { requestTimeoutMs: 300 } })
    expect(failure).toMatchObject({ kind: 'unavailable', networkCode: 'ETIMEDOUT' })
  })

  test.each([
    ['gzip', gzipSync(csv.repeat(50)).subarray(0, 90)],
    ['br', brotliCompressSync(csv.repeat(50)).subarray(0, 60)],
    ['gzip', Buffer.from(csv)],
  ])('when its %s ends early or is none', async (encoding, bytes) => {
    const { url } = await startMarketplace((_request, response) => sendCsv(response, bytes, { 'content-encoding': encoding }))
    expect(await buildFailure(url)).toMatchObject({ kind: 'malformed', networkCode: 'BODY_UNREADABLE' })
  })

  test('when nothing but white space comes, which is not all held in memory', async () => {
    const before = process.memoryUsage().rss
    const packed = gzipSync(Buffer.alloc(64 * 1024 * 1024, ' '))
    const { url } = await startMarketplace((_request, response) => {
      sendCsv(response, Buffer.concat(Array.from({ length: 8 }, () => packed)), { 'content-encoding': 'gzip' })
    })
    expect(await buildFailure(url, { maxBodyBytes: 1024 * 1024 })).toMatchObject({ sent: 'answered' })
    expect(process.memoryUsage().rss - before).toBeLessThan(300 * 1024 * 1024)
  })

  test('when its packing is unknown', async () => {
    const { url } = await startMarketplace((_request, response) => sendCsv(response, csv, { 'content-encoding': 'lzma' }))
    expect(await buildFailure(url)).toBeInstanceOf(Malformed)
  })

  test('when only a part of it is answered', async () => {
    const { url } = await startMarketplace((_request, response) =>
      response.writeHead(206, { 'content-type': 'text/csv' }).end(csv),
    )
    expect(await buildFailure(url)).toBeInstanceOf(Malformed)
  })

  test('when it is empty', async () => {
    const { url } = await startMarketplace((_request, response) => sendCsv(response, ''))
    expect(await buildFailure(url)).toBeInstanceOf(Malformed)
  })

  test('when it is told to stop', async () => {
    const { url } = await startMarketplace((_request, response) => {
      response.writeHead(200, { 'content-type': 'text/csv' })
      response.write(csv)
    })
    const { client, reports } = startClient(url)
    const stop = new AbortController()
    const { body } = present(await client.of(reconciliationEndpoint).download({ month: '2026-10' }, { signal: stop.signal }))
    const reading = (async () => {
      for await (const _piece of body) stop.abort()
    })()
    await expect(reading).rejects.toMatchObject({ kind: 'unavailable', networkCode: 'ABORTED' })
    expect(reports.at(-1)).toMatchObject({ outcome: 'unavailable', status: 200 })
  })
})

describe('anything else in its place is judged as any answer', () => {
  const answering = async (answer: (response: ServerResponse) => void): Promise<string> =>
    (await startMarketplace((_request, response) => answer(response))).url

  test('errors under a 200', async () => {
    const url = await answering((response) =>
      sendJson(response, 200, { errors: { error: [{ code: 'INVALID_REQUEST_PARAM', field: 'startDate', description: 'no' }] } }),
    )
    const failure = await buildFailure(url)
    expect(failure).toBeInstanceOf(Refused)
    expect(failure.message).toContain('INVALID_REQUEST_PARAM (startDate)')
  })

  test('JSON that is no error, and HTML', async () => {
    expect(
      await buildFailure(await answering((response) => sendJson(response, 200, { url: 'https://elsewhere' }))),
    ).toBeInstanceOf(Malformed)
    expect(
      await buildFailure(await answering((response) => sendCsv(response, '\n  <!doctype html><p>Please wait'))),
    ).toBeInstanceOf(Malformed)
  })

  test('refusals, faults of the server and its gateways', async () => {
    expect(
      await buildFailure(await answering((response) => sendJson(response, 400, { error: [{ code: 'INVALID_REQUEST' }] }))),
    ).toBeInstanceOf(Refused)
    expect(await buildFailure(await answering((response) => response.writeHead(502).end('<html>')))).toBeInstanceOf(Unavailable)
    expect(await buildFailure(await answering((response) => response.writeHead(302, { location: '/x' }).end()))).toBeInstanceOf(
      Unavailable,
    )
  })

  test('a used-up budget, which is learned', async () => {
    const { url, seen } = await startMarketplace((_request, response) => sendJson(response, 429, {}, { 'retry-after': '120' }))
    const budget = createInProcessBudget({ limits: generousLimits })
    const failure = await buildFailure(url, { budget })
    expect(failure).toBeInstanceOf(Throttled)
    const asked = seen.length
    const again = await buildFailure(url, { budget })
    expect(again).toMatchObject({ kind: 'throttled', sent: 'never' })
    expect(seen.filter(({ target }) => target !== '/v3/token')).toHaveLength(asked - 1)
  })

  test('one an hour is all that the live service allows', async () => {
    const { url } = await startMarketplace((_request, response) => sendCsv(response))
    const budget = createInProcessBudget({ limits: walmartUs.rateLimits })
    const { client } = startClient(url, { budget, connection: { profile: walmartUs } })
    await toText(present(await client.of(reconciliationEndpoint).download({ month: '2026-10' }, { signal: forever() })).body)
    await expect(client.of(reconciliationEndpoint).download({ month: '2026-09' }, { signal: forever() })).rejects.toBeInstanceOf(
      Throttled,
    )
  })

  test('a token that has died is renewed, and the file comes', async () => {
    const { url, seen } = await startMarketplace((request, response) =>
      request.headers['xx_sec.access_token'] === 'token-1'
        ? sendJson(response, 401, { errors: [{ code: 'UNAUTHORIZED' }] })
        : sendCsv(response),
    )
    const { report } = await ask(url)
    expect(await toText(present(report).body)).toBe(csv)
    const ids = seen.map(({ headers }) => headers['xx_qos.correlation_id'])
    expect(new Set(ids).size).toBe(ids.length)
  })

  test('"none there" is no report, and no failure', async () => {
    const url = await answering((response) => sendJson(response, 404, { errors: [{ code: 'CONTENT_NOT_FOUND' }] }))
    const { report, reports } = await ask(url)
    expect(report).toBeNull()
    expect(reports.at(-1)).toMatchObject({ outcome: 'none', status: 404 })
  })

  test('an address that does not exist is a refusal, a 404 without a word an outage', async () => {
    const none = await answering((response) => sendJson(response, 404, { errors: [{ code: 'URI_NOT_FOUND' }] }))
    expect(await buildFailure(none)).toMatchObject({ kind: 'refused', httpStatus: 404, contentNotFound: false })
    const wordless = await answering((response) => sendJson(response, 404, {}))
    expect(await buildFailure(wordless)).toMatchObject({ kind: 'unavailable', httpStatus: 404, contentNotFound: false })
  })
})

describe('Content-Disposition', () => {
  test.each([
    ['attachment; filename=a.csv', 'a.csv'],
    ['attachment: filename=a.csv', 'a.csv'],
    ['attachment; filename="a b;c.csv"; size=3', 'a b;c.csv'],
    ['attachment; filename="a\\"b.csv"', 'a"b.csv'],
    ['attachment;FileName = a.csv ; x=y', 'a.csv'],
    ["attachment; filename=plain.csv; filename*=UTF-8''r%C3%A9sum%C3%A9.csv", 'résumé.csv'],
    ["attachment; filename=plain.csv; filename*=UTF-8''%ff", 'plain.csv'],
    ['attachment; filename=../../etc/passwd', 'passwd'],
    ['attachment; filename="C:\\\\x\\\\y.csv"', 'y.csv'],
    ['attachment', null],
    ['attachment; filename=""', null],
    [null, null],
  ])('%j names %j', (header, name) => {
    expect(findFileName(header)).toBe(name)
  })

  test.each([
    ['WFSInventoryHealthReport_2021-07-15T06_42_13.766Z.csv', '2021-07-15T06:42:13.766Z'],
    ['InventoryReconciliationReport_2026-11-21T15:00:00.123Z.csv', '2026-11-21T15:00:00.123Z'],
    ['report_2026-11-21T15-00-00Z.csv', '2026-11-21T15:00:00.000Z'],
    ['report_2026-11-21T15_00_00.csv', '2026-11-21T15:00:00.000Z'],
    ['report 2026-11-21 150000.5-0800.csv', '2026-11-21T23:00:00.500Z'],
    ['report_2026-13-41T15_00_00Z.csv', null],
    ['report_2026-11.csv', null],
    [null, null],
  ])('%j was made at %j', (name, instant) => {
    expect(parseStamp(name)?.toISOString() ?? null).toBe(instant)
  })
})

// ── the CSV ──────────────────────────────────────────────────────────────────────────────────────────────

const inPieces = async function* (text: string | Uint8Array, size = 7): AsyncGenerator<Uint8Array> {
  const bytes = Buffer.from(text)
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size)
}

const read = async (text: string, size?: number): Promise<ParsedRecord<ReconciliationRow>[]> => {
  const { columns, end, lines } = await readHeader(inPieces(text, size))
  const records: ParsedRecord<ReconciliationRow>[] = []
  for await (const { cells } of readLines(inPieces(Buffer.from(text).subarray(end), size), columns, lines + 1)) {
    if (!isBlank(cells)) records.push(readRow('2026-10', columns, cells))
  }
  return records
}

const only = async (text: string): Promise<ParsedRecord<ReconciliationRow>> => {
  const [record, ...more] = await read(text)
  if (record === undefined || more.length > 0) throw new Error('there is not exactly one row')
  return record
}

const fault = async (text: string): Promise<string> => {
  try {
    await read(text)
  } catch (error) {
    if (error instanceof ReportFault) return error.message
    throw error
  }
  throw new Error('the file is not at fault')
}

const values = {
  sku: 'SKU-1',
  gtin: '0001',
  beginningQuantity: 10,
  endingQuantity: 7,
  sold: 4,
  returned: 1,
  lost: 2,
  found: 3,
  damaged: 5,
  otherAdjustments: 4,
}

describe('the columns', () => {
  test.each([
    [
      'the plain spelling',
      'GTIN,SKU,Beginning Quantity,Ending Quantity,Units Sold,Units Returned,Units Lost,Units Found,Units Damaged,Other Adjustments',
    ],
    [
      'camel case',
      'gtin,sku,beginningQuantity,endingQuantity,unitsSold,unitsReturned,unitsLost,unitsFound,unitsDamaged,otherAdjustments',
    ],
    [
      'snake case, the other way round',
      'gtin,seller_sku,beginning_qty,ending_qty,sold_units,returned_units,lost_units,found_units,damaged_units,other_adjustment',
    ],
    ['bare words', 'Gtin,Vendor SKU,Beginning,Ending,Sold,Returned,Lost,Found,Damaged,Other'],
    [
      'shouting, with punctuation',
      '"GTIN #","PARTNER_SKU","BEGINNING INVENTORY (UNITS)","ENDING INVENTORY (UNITS)","SOLD QTY.","CUSTOMER RETURNS","LOST-QUANTITY","TOTAL UNITS FOUND","DAMAGED (UNITS)","OTHER ADJUSTMENTS*"',
    ],
    [
      'opening and closing',
      'Item GTIN,Merchant SKU,Opening Stock,Closing Stock,Quantity Sold,Quantity Returned,Quantity Lost,Quantity Found,Quantity Damaged,Other Adjustments Quantity',
    ],
    [
      "the marketplace's own words elsewhere",
      'GTIN,Vendor (Seller) SKU,Beginning Balance,Ending Balance,Units Shipped,Customer Returns,Lost in Warehouse,Found in Warehouse,Damaged in FC,Adjustments',
    ],
    ['balances', 'GTIN,Seller SKU,Opening Balance,Closing Balance,Sales,Returns,Losses,Recovered,Damage,Inventory Adjustments'],
    [
      'months',
      'GTIN,SKU,Beginning of Month Inventory,End of Month Inventory,Net Sales,Returned by Customer,Units Lost at FC,FC Found,Warehouse Damages,Others',
    ],
  ])('are known by %s', async (_name, header) => {
    expect(await only(`${header}\n0001,SKU-1,10,7,4,1,2,3,5,4\n`)).toMatchObject({
      ok: true,
      key: '2026-10/SKU-1',
      value: values,
    })
  })

  test.each([';', '\t', '|'])('may be separated by %j', async (delimiter) => {
    const lines = [headerLine, '0001,SKU-1,Lamp,10,7,4,1,2,3,5,4', ''].map((text) => text.replaceAll(',', delimiter))
    expect(await only(lines.join('\n'))).toMatchObject({ ok: true, key: '2026-10/SKU-1', value: values })
  })

  test('may stand below lines that say something else', async () => {
    const preamble = 'Inventory Reconciliation Report\n"Period","2026-10-01, to 2026-10-31"\n\nGenerated,2026-11-01T15:00:00Z\n'
    expect(await only(`${preamble}${headerLine}\n0001,SKU-1,Lamp,10,7,4,1,2,3,5,4\n`)).toMatchObject({
      ok: true,
      key: '2026-10/SKU-1',
      value: values,
    })
  })

  test('of which one speaks of a SKU and is not known are at fault, though there is a GTIN', async () => {
    const header = 'GTIN,SKU (as listed),Beginning,Ending,Sold,Returned,Lost,Found,Damaged,Other'
    expect(await fault(`${header}\n`)).toContain('"SKU (as listed)" may be the key of rows and is unknown; REPORT_COLUMNS')
    // One that is known is enough.
    expect(await only(`${header},SKU\n0001,x,10,7,4,1,2,3,5,4,SKU-1\n`)).toMatchObject({ ok: true, key: '2026-10/SKU-1' })
  })

  test.each([
    'Partner Item Id',
    'Seller Item ID',
    'Vendor Item Number',
    'Seller Part Number',
    'Stock Keeping Unit',
    'sellerItemId',
  ])('name the SKU as %s beside a GTIN', async (header) => {
    const record = await only(
      `GTIN,${header},Beginning,Ending,Sold,Returned,Lost,Found,Damaged,Other\n0001,SKU-1,10,7,4,1,2,3,5,4\n`,
    )
    expect(record).toMatchObject({ ok: true, key: '2026-10/SKU-1', value: values })
    expect(parseReportRow(record.rawText)).toEqual(record)
  })

  test.each(['Item ID', 'Listing number', 'Partner', 'itemNo', 'Item #'])(
    'of which %s may name rows are at fault beside a GTIN, until somebody says what it means',
    async (header) => {
      const line = `GTIN,${header},Beginning,Ending,Sold,Returned,Lost,Found,Damaged,Other`
      expect(await fault(`${line}\n`)).toContain(
        `${JSON.stringify(header)} may be the key of rows and is unknown; REPORT_COLUMNS`,
      )
      expect((await readHeader(inPieces(`${line}\n`), { [header]: 'ignore' })).columns.sku).toBeNull()
    },
  )

  test.each([
    ['Item SKU', 'Vendor (Seller) SKU'],
    ['Product SKU', 'Seller SKU'],
    ['SKU', 'Partner SKU'],
    ['SKU Number', 'Seller Item ID'],
  ])("of two SKUs (%s, %s) are the seller's, in either order", async (other, own) => {
    const rest = 'Beginning,Ending,Sold,Returned,Lost,Found,Damaged,Other'
    for (const order of [
      [0, 1],
      [1, 0],
    ] as const) {
      const pick = (...of: readonly string[]): string => order.map((at) => of[at]).join(',')
      const record = await only(`${pick(other, own)},${rest}\n${pick('WM-77', 'SKU-1')},10,7,4,1,2,3,5,4\n`)
      expect(record).toMatchObject({ ok: true, key: '2026-10/SKU-1' })
    }
  })

  test('mean what the settings say, and so do their rows when they are read again', async () => {
    const header = 'Article,SKU note,Stock on day one,Ending,Sold,Returned,Lost,Found,Damaged,Moved Otherwise'
    const names = { ARTICLE: 'sku', 'SKU note': 'ignore', 'stock on day one': 'beginning', 'Moved otherwise': 'other' } as const
    const { columns, end } = await readHeader(inPieces(`${header}\n`), names)
    expect(end).toBe(header.length + 1)
    const record = readRow('2026-10', columns, ['SKU-1', 'x', '10', '7', '4', '1', '2', '3', '5', '4'])
    expect(record).toMatchObject({ ok: true, key: '2026-10/SKU-1', value: { ...values, gtin: null } })
    expect(parseReportRow(record.rawText)).toEqual(record)
  })

  test('may come in any order, with others between them that are kept', async () => {
    const record = await only(
      'Other Adjustments,Colour,Sold,SKU,Damaged,Found,Lost,Returned,Ending,Beginning,GTIN\n4,"red, dark",4,SKU-1,5,3,2,1,7,10,0001\n',
    )
    expect(record).toMatchObject({ ok: true, value: { ...values, raw: { Colour: 'red, dark', SKU: 'SKU-1' } } })
  })

  test('in another order make the same text of the same row', async () => {
    const one = await only('SKU,Name,Beginning,Ending,Sold,Returned,Lost,Found,Damaged,Other\nA,x,1,1,0,0,0,0,0,0\n')
    const other = await only('Other,Damaged,Found,Lost,Returned,Sold,Ending,Beginning,Name,SKU\n0,0,0,0,0,0,1,1,x,A\n')
    expect(other.rawText).toBe(one.rawText)
  })

  test('in 16 bits without a byte order mark are no columns', async () => {
    const bytes = Buffer.from(csv, 'utf16le')
    await expect(readHeader(inPieces(bytes))).rejects.toThrow('the file is not text in UTF-8')
  })

  test('that come twice or without a name are all kept', async () => {
    const record = await only(`${headerLine},Note,Note,\n0001,SKU-1,Lamp,10,7,3,0,0,0,0,0,a,b,c\n`)
    expect(record).toMatchObject({ ok: true, value: { raw: { Note: 'a', 'Note (2)': 'b', 'column 14': 'c' } } })
  })

  test('that are missing are named, with those that are there', async () => {
    expect(await fault('GTIN,SKU,Beginning Quantity,Sold,Returned,Lost,Found,Other Adjustments\n')).toBe(
      'the column Ending Quantity is missing, the column Units Damaged is missing; the columns are "GTIN", "SKU", "Beginning Quantity", "Sold", "Returned", "Lost", "Found", "Other Adjustments"',
    )
    expect(await fault('Item,Beginning,Ending,Sold,Returned,Lost,Found,Damaged,Other\n')).toContain(
      'both columns SKU and GTIN are missing',
    )
    expect(await fault('')).toBe('the file is empty')
    expect(await fault('\n\n  \n')).toBe('the file is empty')
  })

  test('that could both be the same one are not guessed', async () => {
    expect(await fault(`${headerLine},Sold\n`)).toContain('more than one column could be Units Sold')
  })

  test('without SKUs make the GTIN stand in, but not for a SKU that one row leaves out', async () => {
    const header = 'GTIN,Beginning,Ending,Sold,Returned,Lost,Found,Damaged,Other'
    expect(await only(`${header}\n0001,1,1,0,0,0,0,0,0\n`)).toMatchObject({
      ok: true,
      key: '2026-10/0001',
      value: { sku: '0001', gtin: '0001' },
    })
    expect(await only(`${headerLine}\n0001,,Lamp,10,7,3,0,0,0,0,0\n`)).toMatchObject({
      ok: false,
      key: null,
      fault: 'SKU: empty',
    })
  })
})

describe('the rows', () => {
  const head = 'SKU,Name,Beginning,Ending,Sold,Returned,Lost,Found,Damaged,Other'

  test('are read whatever their line ends, quotes and byte order mark', async () => {
    const text = `\uFEFF"SKU","Name",Beginning,Ending,Sold,Returned,Lost,Found,Damaged,Other\r\n"A","first\r\n""second"", line",1,1,0,0,0,0,0,0\r\n\r\nB,5" pipe,2,2,0,0,0,0,0,0\n,,,,,,,,,\n"ä 𝄞",,3,3,0,0,0,0,0,0`
    for (const size of [1, 2, 3, 1_000]) {
      const records = await read(text, size)
      expect(records.map(({ key }) => key)).toEqual(['2026-10/A', '2026-10/B', '2026-10/ä 𝄞'])
      expect(records.every(({ ok }) => ok)).toBe(true)
    }
  })

  test('say where they end, so that reading can go on from there', async () => {
    const text = `\uFEFF${head}\r\nA,"x\r\ny",1,1,0,0,0,0,0,0\r\n\r\nÄ,𝄞,2,2,0,0,0,0,0,0\nC,z,3,3,0,0,0,0,0,0`
    const bytes = Buffer.from(text)
    const { columns, end } = await readHeader(inPieces(bytes))
    const skus: (string | null)[] = []
    for (let at = end; at < bytes.length; ) {
      for await (const line of readLines(inPieces(bytes.subarray(at), 3), columns, 3)) {
        if (!isBlank(line.cells)) skus.push(parseSku(columns, line.cells))
        at += line.end
        break
      }
    }
    expect(skus).toEqual(['A', 'Ä', 'C'])
  })

  test.each([
    ['1,234', 1_234],
    [' 5 ', 5],
    ['5.0', 5],
    ['+3', 3],
    ['-3', -3],
    ['-0', 0],
    ['12,345,678', 12_345_678],
    ['2147483647', 2_147_483_647],
    ['(3)', -3],
    ['(1,234)', -1_234],
    ['3-', -3],
    ['\u22123', -3],
    ['1\u00a0234', 1_234],
    ['1\u202f234\u202f567', 1_234_567],
    ['1 234', 1_234],
    ["1'234", 1_234],
    ['1\u2019234', 1_234],
    ['', 0],
  ])('%j is the number %i', async (cell, value) => {
    const record = await only(`${head}\nA,x,"${cell}",1,0,0,0,0,0,0\n`)
    expect(record).toMatchObject({ ok: true, value: { beginningQuantity: value } })
    expect(Object.is(record.ok && record.value.beginningQuantity, value)).toBe(true)
  })

  test.each([
    ['1.000', 1_000],
    ['1.234.567', 1_234_567],
    ['-1.000', -1_000],
    ['5,0', 5],
    ['5.0', 5],
    ['1,234', 1_234],
    ['1 234', 1_234],
  ])('%j between semicolons is the number %i, and is when it is read again', async (cell, value) => {
    const record = await only(`${head.replaceAll(',', ';')}\nA;x;"${cell}";1;0;0;0;0;0;0\n`)
    expect(record).toMatchObject({ ok: true, value: { beginningQuantity: value } })
    expect(parseReportRow(record.rawText)).toEqual(record)
  })

  test('without any quantity are none', async () => {
    expect(await only(`${head}\nA,x,,,,,,,,\n`)).toMatchObject({ ok: false, key: '2026-10/A', fault: 'no quantities' })
  })

  test.each(['1.5', 'n/a', '1,23', '1e3', '0x10', '2147483648', '1 2', '--1', '1.000', '1.234', '(-3)', '1,234 567', '-'])(
    '%j is no number and a fault of its row alone',
    async (cell) => {
      const [bad, good] = await read(`${head}\nA,x,1,"${cell}",0,0,0,0,0,0\nB,x,1,1,0,0,0,0,0,0\n`)
      expect(bad).toMatchObject({ ok: false, key: '2026-10/A', fault: 'Ending: not a whole number' })
      expect(good).toMatchObject({ ok: true, key: '2026-10/B' })
    },
  )

  test('with too few or too many cells are faults of their own', async () => {
    const records = await read(
      `${head}\nA,x,1,1,0,0\nB,a name, with a comma,1,1,0,0,0,0,0,0\n,x,1,1,0,0,0,0,0,0\nC,x,1,1,0,0,0,0,0,0,,\n`,
    )
    expect(records).toMatchObject([
      { ok: false, key: null, fault: 'too few cells: 6 of 10' },
      { ok: false, key: null, fault: 'too many cells: 11 of 10' },
      { ok: false, key: null, fault: 'SKU: empty' },
      { ok: true, key: '2026-10/C' },
    ])
  })

  test('are the same when their text is read again', async () => {
    const text = `${headerLine},Note,Note\n0001,A,"x,\ny",10,7,3,0,0,0,0,0,a,b\n0002,B,x,1,1.5,0,0,0,0,0,0,a,b\n0003,C,x,1\n0004,D,x,y,1,1,0,0,0,0,0,0,a,b,c\n`
    const records = await read(text)
    expect(records.map(({ ok }) => ok)).toEqual([true, false, false, false])
    for (const record of records) {
      const again = parseReportRow(record.rawText)
      expect({ ok: again.ok, key: again.key, rawText: again.rawText }).toEqual({
        ok: record.ok,
        key: record.key,
        rawText: record.rawText,
      })
      if (record.ok && again.ok) expect(again.value).toEqual(record.value)
    }
  })

  test('that are no text of a row are refused', () => {
    expect(parseReportRow('SKU,1,2')).toMatchObject({ ok: false, key: null, fault: 'no row of a report' })
    expect(parseReportRow('{"month":"2026-10","row":{"SKU":1}}')).toMatchObject({ ok: false, fault: 'no row of a report' })
  })

  test('with quotes that are not closed keep their cells, whatever line closes them', async () => {
    const records = await read(
      `${head}\nA,"17 inch pot,9,8,1,0,0,0,0,0\n"B,x,7,7,0,0,0,0,0,0\nC,"pot, large,6,6,0,0,0,0,0,0\nD,wide, 17",5,5,0,0,0,0,0,0\nE,"lid" 17",4,4,0,0,0,0,0,0\nF,"2\n1",3,3,0,0,0,0,0,0\n`,
    )
    expect(records).toMatchObject([
      { ok: true, value: { sku: 'A', beginningQuantity: 9, raw: { Name: '"17 inch pot' } } },
      { ok: false, fault: 'SKU: begins with a quote' },
      { ok: false, key: null, fault: 'too many cells: 11 of 10' },
      { ok: false, key: null, fault: 'too many cells: 11 of 10' },
      { ok: true, value: { sku: 'E', beginningQuantity: 4 } },
      { ok: true, value: { sku: 'F', beginningQuantity: 3, raw: { Name: '2\n1' } } },
    ])
  })

  test('are divided by tabs whatever quotes they hold, unless the headers are quoted too', async () => {
    const tabs = (text: string): string => text.replaceAll(',', '\t')
    const plain = await read(tabs(`${head}\nA,"17 inch,9,9,0,0,0,0,0,0\nB,17",8,8,0,0,0,0,0,0\n`))
    expect(plain).toMatchObject([
      { value: { sku: 'A', raw: { Name: '"17 inch' } } },
      { value: { sku: 'B', beginningQuantity: 8 } },
    ])
    const quoted = head.split(',').map((header) => `"${header}"`)
    expect(await only(tabs(`${quoted.join(',')}\n"A","x",9,9,0,0,0,0,0,0\n`))).toMatchObject({ value: { sku: 'A' } })
  })

  test('of a file that is not UTF-8 or has a line without end are a fault of the whole file', async () => {
    expect(await fault(`${head}\nA,"${'x'.repeat(1_100_000)}`)).toBe('line 2 is longer than 1000000 bytes')
    const latin = Buffer.from(`${head}\nA,x,9,9,0,0,0,0,0,0\nÖL,x,9,9,0,0,0,0,0,0\n`, 'latin1')
    await expect(readHeader(inPieces(latin))).rejects.toThrow('line 3 is not text in UTF-8')
    expect(await only(`${head}\n\uFFFDL,x,9,9,0,0,0,0,0,0\n`)).toMatchObject({
      ok: false,
      fault: expect.stringContaining('U+FFFD'),
    })
  })
})
