import { request } from 'node:http'
import { describe, expect, test } from 'vitest'
import { at, connect, type Json, startTestSandbox, type TestClient } from './support.ts'

const started = async (): Promise<TestClient> => {
  const client = await connect((await startTestSandbox()).url)
  await client.control('PUT', '/limits', { enabled: false })
  return client
}

interface Raw {
  readonly status: number
  readonly allow: string | null
  readonly date: string | null
  readonly json: Json
}

/** A request with any method, path and content type, as no well-behaved client would send it. */
const raw = async (url: string, method: string, path: string, contentType?: string, body = ''): Promise<Raw> =>
  new Promise((resolve, reject) => {
    const headers = contentType === undefined ? {} : { 'content-type': contentType }
    const sent = request(new URL(url), { method, path, headers }, (answer) => {
      let text = ''
      answer.setEncoding('utf8').on('data', (chunk: string) => {
        text += chunk
      })
      answer.on('end', () => {
        const { allow = null, date = null } = answer.headers
        resolve({ status: answer.statusCode ?? 0, allow, date, json: text === '' ? null : JSON.parse(text) })
      })
    })
    sent.on('error', reject)
    sent.end(body)
  })

const nestedCode = ({ json }: { readonly json: Json }): Json => at(json, 'errors', 'error', 0, 'code')

describe('paths', () => {
  test.each(['/v3/orders/', '/v3/orders//', '/v3/advertising/sem/campaigns/', '/v3/orders/1/', '/v4/orders'])(
    '%s is no operation, which must not look like an empty result',
    async (path) => {
      const client = await started()
      const reply = await client.call('GET', path)
      expect([reply.status, nestedCode(reply)]).toEqual([404, 'URI_NOT_FOUND.GMP_GATEWAY_API'])
    },
  )

  test('an id may be long, and any part of a path be encoded', async () => {
    const client = await started()
    const long = await client.call('GET', `/v3/orders/${'4'.repeat(500)}`)
    expect([long.status, nestedCode(long)]).toEqual([404, 'CONTENT_NOT_FOUND.GMP_ORDER_API'])
    expect((await client.call('GET', '/v3/advertising/sem/c%61mpaigns/SEM%2D1001')).status).toBe(200)
  })

  test('a path that cannot be decoded is refused in the words of the marketplace, by its clock', async () => {
    const client = await started()
    await client.control('POST', '/clock', { advance: '3d' })
    const answer = await raw(client.url, 'GET', '/v3/orders/%zz')
    expect([answer.status, nestedCode(answer)]).toEqual([400, 'INVALID_REQUEST.GMP_GATEWAY_API'])
    expect(Date.parse(String(answer.date))).toBeGreaterThan(Date.now() + 2 * 86_400_000)
  })
})

describe('methods', () => {
  test.each([
    ['PUT', '/v3/orders', 'GET'],
    ['HEAD', '/v3/orders/4800000000037', 'GET'],
    ['OPTIONS', '/v3/orders/1/shipping', 'POST'],
    ['DELETE', '/v3/fulfillment/inventory-log?sellerSku=A', 'GET'],
    ['GET', '/v3/wfs/recommendations/inbound', 'POST'],
  ])('%s %s is 405 and names what is allowed', async (method, path, allowed) => {
    const client = await started()
    expect(await raw(client.url, method, path)).toMatchObject({ status: 405, allow: allowed })
  })

  test('display advertising fails in its own shape there too', async () => {
    const { url } = await started()
    const [taxonomies, targeting] = ['/api/v1/taxonomies/list', '/api/v2/targeting/list']
    expect(await raw(url, 'GET', taxonomies)).toMatchObject({
      status: 405,
      json: { code: 'failure', details: expect.any(String) },
    })
    expect(await raw(url, 'GET', targeting)).toMatchObject({ json: { code: 'failure', details: [expect.any(String)] } })
    const large = JSON.stringify({ searchText: 'x'.repeat(1_100_000) })
    expect(await raw(url, 'POST', targeting, 'application/json', large)).toMatchObject({ status: 413, json: { code: 'failure' } })
  })
})

test('a body of a type that is none is 415 UNSUPPORTED_MEDIA_TYPE', async () => {
  const { url } = await started()
  const answer = await raw(url, 'POST', '/v3/wfs/recommendation/shipment-quantity', 'json', '{}')
  expect([answer.status, nestedCode(answer)]).toEqual([415, 'UNSUPPORTED_MEDIA_TYPE.GMP_GATEWAY_API'])
})

test('a large report does not keep others waiting until it is out', { timeout: 60_000 }, async () => {
  const client = await started()
  await client.control('POST', '/inventory', { skus: 60_000, entriesPerSku: 0, replace: true })
  const month = String(at(await client.control('GET', '/clock'), 'now')).slice(0, 7)
  const order: string[] = []
  const report = client
    .call('GET', `/v3/report/wfs/InventoryReconciliationReport?startDate=${month}-02&endDate=${month}-02`)
    .then(({ text }) => order.push(`report ${text.split('\n').length - 2}`))
  for (let index = 0; index < 5; index += 1) {
    await client.call('GET', '/v3/advertising/sem/campaigns/SEM-1001')
    order.push('other')
  }
  await report
  expect(order).toEqual([...Array.from({ length: 5 }, () => 'other'), 'report 60000'])
})
