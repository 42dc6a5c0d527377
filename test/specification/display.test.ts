import { sign } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { at, type Json, startTestSandbox } from '../sandbox/support.ts'

// The advertiser id is required of both lookups, an integer, and one that the consumer may speak for.

test.each(['/api/v1/taxonomies/list', '/api/v2/targeting/list'])('%s needs an advertiser id of this consumer', async (path) => {
  const { url, dataDir } = await startTestSandbox()
  const key = readFileSync(join(dataDir, 'display-private-key.pem'), 'utf8')
  const ask = async (advertiser: object): Promise<{ readonly status: number; readonly json: Json }> => {
    const timestamp = String(Date.now())
    const response = await fetch(`${url}${path}`, {
      method: 'POST',
      headers: {
        authorization: 'Bearer sandbox-display-token',
        'content-type': 'application/json',
        'XX_CONSUMER.ID': 'sandbox-consumer',
        'XX_CONSUMER.intimestamp': timestamp,
        'XX_SEC.KEY_VERSION': '1',
        'XX_SEC.AUTH_SIGNATURE': sign('sha256', Buffer.from(`sandbox-consumer\n${timestamp}\n1\n`), key).toString('base64'),
      },
      body: JSON.stringify({ 'Filter[tactic]': 'contextual', ...advertiser }),
    })
    return { status: response.status, json: JSON.parse(await response.text()) }
  }
  expect((await ask({ advertiserId: 10_001 })).status).toBe(200)
  for (const [advertiser, status] of [
    [{}, 400],
    [{ advertiserId: '10001' }, 400],
    [{ advertiserId: 1.5 }, 400],
    [{ advertiserId: 7 }, 403],
  ] as const) {
    const refused = await ask(advertiser)
    expect([refused.status, at(refused.json, 'code')]).toEqual([status, 'failure'])
    expect(JSON.stringify(at(refused.json, 'details'))).toContain('advertiserId')
  }
})
