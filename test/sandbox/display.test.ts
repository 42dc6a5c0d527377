import { generateKeyPairSync, sign } from 'node:crypto'
import { readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import type { SandboxOptions } from '../../sandbox/server.ts'
import { buildDialect } from '../../sandbox/settings.ts'
import { at, connect, items, type Json, type Reply, startTestSandbox, type TestClient } from './support.ts'

const taxonomies = '/api/v1/taxonomies/list'
const targeting = '/api/v2/targeting/list'

interface DisplayCall {
  readonly prefix?: string
  readonly consumerId?: string
  readonly timestamp?: string
  /** What is signed instead of what the headers say. */
  readonly signed?: string
  readonly key?: string
  readonly headers?: Readonly<Record<string, string | null>>
}

interface DisplayTest {
  readonly client: TestClient
  readonly dataDir: string
  post(path: string, body: unknown, call?: DisplayCall): Promise<Reply>
  /** A listing for the sandbox's advertiser. */
  list(path: string, body?: object): Promise<Reply>
  rows(body?: object): Promise<readonly string[]>
  targets(body: object): Promise<readonly Json[]>
}

const started = async (options: Partial<SandboxOptions> = {}): Promise<DisplayTest> => {
  const sandbox = await startTestSandbox(options)
  const client = await connect(sandbox.url, { prefix: options.dialect?.headerPrefix ?? 'XX' })
  await client.control('PUT', '/limits', { enabled: false })
  const privateKey = readFileSync(join(sandbox.dataDir, 'display-private-key.pem'), 'utf8')
  const post: DisplayTest['post'] = async (path, body, call = {}) => {
    const { prefix = 'XX', consumerId = 'sandbox-consumer', key = privateKey } = call
    const now = Date.now() + Number(at(await client.control('GET', '/clock'), 'offsetMs'))
    const timestamp = call.timestamp ?? String(now)
    const signature = sign('sha256', Buffer.from(call.signed ?? `${consumerId}\n${timestamp}\n1\n`), key).toString('base64')
    return client.call('POST', path, body, {
      [`${prefix}_SEC.ACCESS_TOKEN`]: null,
      [`${prefix}_SVC.NAME`]: null,
      authorization: 'Bearer sandbox-display-token',
      [`${prefix}_CONSUMER.ID`]: consumerId,
      [`${prefix}_CONSUMER.intimestamp`]: timestamp,
      [`${prefix}_SEC.KEY_VERSION`]: '1',
      [`${prefix}_SEC.AUTH_SIGNATURE`]: signature,
      ...call.headers,
    })
  }
  const list: DisplayTest['list'] = (path, body = {}) => post(path, { advertiserId: 10001, ...body })
  return {
    client,
    dataDir: sandbox.dataDir,
    post,
    list,
    rows: async (body = {}) => items((await list(taxonomies, { count: 5_000, ...body })).json, 'data').map(buildPath),
    targets: async (body) => {
      const { json } = await list(targeting, { count: 5_000, ...body })
      return [...items(json, 'contextual'), ...items(json, 'behavioral')]
    },
  }
}

/** `Home > Bath > Bath Sets`: the names down to the deepest node of a row. */
const buildPath = (node: Json): string => {
  const child = at(node, 'taxonomies')
  return child === null ? String(at(node, 'name')) : `${at(node, 'name')} > ${buildPath(child)}`
}

const deepest = (node: Json): Json => {
  const child = at(node, 'taxonomies')
  return child === null ? node : deepest(child)
}

const failure = (reply: Reply): unknown[] => [reply.status, at(reply.json, 'code'), at(reply.json, 'details')]

describe('display admission', () => {
  test('a signed request is answered, without any marketplace token', async () => {
    const { list } = await started()
    const reply = await list(taxonomies, { 'filter[level]': 1 })
    expect([reply.status, at(reply.json, 'code')]).toEqual([200, 'success'])
  })

  test.each([
    ['authorization', null, 'Required header Authorization is missing'],
    ['authorization', 'Bearer wrong', 'Authorization: invalid bearer token'],
    ['XX_CONSUMER.ID', null, 'Required header XX_CONSUMER.ID is missing'],
    ['XX_SEC.AUTH_SIGNATURE', null, 'Required header XX_SEC.AUTH_SIGNATURE is missing'],
    ['XX_SEC.AUTH_SIGNATURE', 'bm90IGEgc2lnbmF0dXJl', 'XX_SEC.AUTH_SIGNATURE: invalid signature'],
    ['XX_SEC.KEY_VERSION', null, 'Required header XX_SEC.KEY_VERSION is missing'],
    ['XX_SEC.KEY_VERSION', '2', 'XX_SEC.KEY_VERSION: unknown key version'],
    ['XX_CONSUMER.intimestamp', null, 'Required header XX_CONSUMER.intimestamp is missing'],
    ['XX_CONSUMER.intimestamp', 'now', 'invalid timestamp: epoch milliseconds are expected'],
  ])('%s = %s is 401', async (name, value, details) => {
    const { post } = await started()
    const headers = { [name]: value }
    expect(failure(await post(taxonomies, { advertiserId: 10001 }, { headers }))).toEqual([401, 'failure', details])
    expect(failure(await post(targeting, { advertiserId: 10001 }, { headers }))).toEqual([401, 'failure', [details]])
  })

  test('a wrong consumer, key or signed text is 401, a content type other than JSON 400', async () => {
    const { post } = await started()
    const body = { advertiserId: 10001 }
    const other = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey.export({ type: 'pkcs8', format: 'pem' })
    const statuses = [
      await post(taxonomies, body, { consumerId: 'someone' }),
      await post(taxonomies, body, { key: String(other) }),
      // Without the newline at the end.
      await post(taxonomies, body, { timestamp: String(Date.now()), signed: `sandbox-consumer\n${Date.now()}\n1` }),
      await post(taxonomies, body, { headers: { 'content-type': 'text/plain' } }),
    ].map((reply) => reply.status)
    expect(statuses).toEqual([401, 401, 401, 400])
  })

  test('timestamps count for three minutes on the clock of the Date header', async () => {
    const { post, client } = await started()
    const withAge = async (ageMs: number): Promise<Reply> => {
      const date = (await client.call('GET', '/v3/nothing')).headers.get('date') ?? ''
      return post(taxonomies, { advertiserId: 10001 }, { timestamp: String(Date.parse(date) - ageMs) })
    }
    expect(failure(await withAge(185_000))).toEqual([401, 'failure', 'timestamp expired'])
    expect(failure(await withAge(-185_000))).toEqual([401, 'failure', 'invalid timestamp: it is in the future'])
    expect((await withAge(170_000)).status).toBe(200)
    await client.control('POST', '/clock', { advance: '2d' })
    expect((await withAge(0)).status).toBe(200)
    const stale = await post(taxonomies, { advertiserId: 10001 }, { timestamp: String(Date.now()) })
    expect(failure(stale)).toEqual([401, 'failure', 'timestamp expired'])
  })

  test('the key pair is made once, for its owner only, and outlives restart and reset', async () => {
    const first = await started()
    const path = join(first.dataDir, 'display-private-key.pem')
    const pem = readFileSync(path, 'utf8')
    expect([pem.startsWith('-----BEGIN PRIVATE KEY-----'), statSync(path).mode & 0o777]).toEqual([true, 0o600])
    await first.client.control('DELETE', '/')
    expect((await first.list(taxonomies)).status).toBe(200)
    expect(readFileSync(path, 'utf8')).toBe(pem)
  })

  test('header names follow the profile', async () => {
    const { post } = await started({ dialect: buildDialect('walmart-us') })
    expect((await post(taxonomies, { advertiserId: 10001 }, { prefix: 'WM' })).status).toBe(200)
    expect((await post(taxonomies, { advertiserId: 10001 }, { prefix: 'XX' })).status).toBe(401)
  })

  test('429 and server errors come as a failure too', async () => {
    const { list, client } = await started()
    await client.control('PUT', '/faults', { next: [{ fault: 'tooManyRequests' }, { fault: 'serverErrorBefore', status: 503 }] })
    expect(failure(await list(taxonomies))).toEqual([429, 'failure', 'Rate limit of this operation is exceeded'])
    expect(failure(await list(targeting))).toEqual([503, 'failure', ['Internal Server Error - Read']])
    await client.control('PUT', '/limits', { enabled: true, operations: { 'taxonomies.list': { tokens: 1, perMs: 600_000 } } })
    expect((await list(taxonomies)).status).toBe(200)
    expect((await list(taxonomies)).status).toBe(429)
  })
})

describe('POST /api/v1/taxonomies/list', () => {
  test('without a filter: level 3, the first 100 rows, each a chain of single nodes', async () => {
    const { list } = await started()
    const { json } = await list(taxonomies)
    const data = items(json, 'data')
    expect([at(json, 'details'), at(json, 'totalResults'), data.length]).toEqual(['', 100, 100])
    for (const row of data) {
      const [department, category, leaf] = [row, at(row, 'taxonomies'), at(row, 'taxonomies', 'taxonomies')]
      expect([at(department, 'level'), at(category, 'level'), at(leaf, 'level')]).toEqual([1, 2, 3])
      expect([at(department, 'itemCount'), at(category, 'itemCount')]).toEqual([null, null])
      expect(Number.isInteger(at(leaf, 'itemCount'))).toBe(true)
    }
  })

  test('the hierarchy is believable, and the same for the same seed', async () => {
    const one = await started()
    const [departments, categories, leaves] = [
      await one.rows({ 'filter[level]': 1 }),
      await one.rows({ 'filter[level]': 2 }),
      await one.rows(),
    ]
    expect(departments).toHaveLength(20)
    expect(categories.length).toBeGreaterThan(100)
    expect(leaves.length).toBeGreaterThan(500)
    expect(leaves.length).toBeLessThan(1_500)
    expect(new Set(leaves).size).toBe(leaves.length)
    expect(await (await started()).rows()).toEqual(leaves)
    expect(await (await started({ seed: 'other' })).rows()).not.toEqual(leaves)
  })

  test('some nodes have attributes, and a department counts all items below it', async () => {
    const { list } = await started()
    const leaves = items((await list(taxonomies, { count: 5_000 })).json, 'data').map(deepest)
    const withAttributes = leaves.filter((leaf) => at(leaf, 'attributes') !== null)
    expect(withAttributes.length).toBeGreaterThan(50)
    expect(withAttributes.length).toBeLessThan(leaves.length / 2)
    expect(at(withAttributes[0] ?? null, 'attributes')).toEqual({
      type: expect.any(String),
      values: expect.arrayContaining([{ value: expect.any(String), count: expect.any(Number) }]),
    })
    const sum = (await list(taxonomies, { 'filter[department]': 'Books', count: 5_000 })).json
    const items3 = items(sum, 'data').reduce<number>((total, row) => total + Number(at(deepest(row), 'itemCount')), 0)
    const [books] = items((await list(taxonomies, { 'filter[department]': 'Books', 'filter[level]': 1 })).json, 'data')
    expect(at(books ?? null, 'itemCount')).toBe(items3)
  })

  test('pages by startIndex and count hold every row once; behind the last there is an empty success', async () => {
    const { list, rows } = await started()
    const all = await rows()
    const seen: string[] = []
    for (let startIndex = 0; seen.length < all.length; startIndex += 400) {
      const { json } = await list(taxonomies, { startIndex, count: 400 })
      expect(at(json, 'totalResults')).toBe(Math.min(400, all.length - startIndex))
      seen.push(...items(json, 'data').map(buildPath))
    }
    expect(seen).toEqual(all)
    const beyond = await list(taxonomies, { startIndex: 100_000 })
    expect(beyond.json).toEqual({ code: 'success', details: '', totalResults: 0, data: [] })
  })

  test('names are exact but for case, brands exact; lists widen and filters narrow', async () => {
    const { rows } = await started()
    const books = await rows({ 'filter[department]': 'bOOKS' })
    expect(books.length).toBeGreaterThan(0)
    expect(books.every((path) => path.startsWith('Books > '))).toBe(true)
    const two = await rows({ 'filter[department]': ['Books', 'pets'] })
    expect(two).toEqual([...(await rows({ 'filter[department]': 'Pets' })), ...books])
    expect(await rows({ 'filter[department]': 'Boo' })).toEqual([])
    expect(await rows({ 'filter[department]': ['Books'], 'filter[category]': 'history', 'filter[level]': 2 })).toEqual([
      'Books > History',
    ])
    const shared = await rows({ 'filter[subCategory]': 'accessories', 'filter[department]': 'Pets' })
    expect(shared).toContain('Pets > Dogs > Accessories')
    expect(shared.length).toBe(6)
    expect(await rows({ 'filter[category]': 'Replacement Parts', 'filter[level]': 1 })).toEqual(['Auto & Tires'])
    expect(await rows({ 'filter[category]': ['Dogs', 'Fiction'], 'filter[level]': 1 })).toEqual(['Pets', 'Books'])
    const ofBrand = await rows({ 'filter[brandName]': 'Arvale' })
    expect(ofBrand.length).toBeGreaterThan(0)
    expect(ofBrand.length).toBeLessThan((await rows()).length)
    expect(await rows({ 'filter[brandName]': 'arvale' })).toEqual([])
    const both = await rows({ 'filter[brandName]': ['Arvale', 'Elora'] })
    expect(new Set(both)).toEqual(new Set([...ofBrand, ...(await rows({ 'filter[brandName]': 'Elora' }))]))
    expect(await rows({ 'filter[brandName]': 'Arvale', 'filter[department]': 'Pets' })).toEqual(
      ofBrand.filter((path) => path.startsWith('Pets > ')),
    )
  })

  test.each([
    [{ 'filter[level]': 0 }, 'filter[level]: a whole number from 1 to 3 is expected'],
    [{ 'filter[level]': 4 }, 'filter[level]: a whole number from 1 to 3 is expected'],
    [{ 'filter[level]': '2' }, 'filter[level]: a whole number from 1 to 3 is expected'],
    [{ startIndex: -1 }, 'startIndex: a whole number of at least 0 is expected'],
    [{ startIndex: 1.5 }, 'startIndex: a whole number of at least 0 is expected'],
    [{ count: 0 }, 'count: a whole number of at least 1 is expected'],
    [{ 'filter[department]': 7 }, 'filter[department]: a string or an array of strings is expected'],
    [{ 'filter[brandName]': ['a', 1] }, 'filter[brandName]: a string or an array of strings is expected'],
    [
      { startIndex: 'x', count: 'y' },
      'startIndex: a whole number of at least 0 is expected; count: a whole number of at least 1 is expected',
    ],
  ])('%j is refused with a text', async (body, details) => {
    const { list } = await started()
    expect(failure(await list(taxonomies, body))).toEqual([400, 'failure', details])
  })

  test('the advertiser is needed, whole, and one of this consumer', async () => {
    const { post } = await started()
    expect(failure(await post(taxonomies, {}))).toEqual([400, 'failure', 'advertiserId is required'])
    expect(failure(await post(taxonomies, { advertiserId: '10001' }))).toEqual([
      400,
      'failure',
      'advertiserId: a whole number of at least 0 is expected',
    ])
    expect(failure(await post(taxonomies, { advertiserId: 7 }))).toEqual([
      403,
      'failure',
      'advertiserId: no access to advertiser 7',
    ])
    expect(failure(await post(taxonomies, []))).toEqual([400, 'failure', 'The request body must be a JSON object'])
    expect(failure(await post(taxonomies, '{"advertiserId":'))).toEqual([400, 'failure', 'The body is no JSON'])
  })

  test('more names than allowed are too many filters', async () => {
    const { list, client } = await started()
    const names = (count: number): string[] => Array.from({ length: count }, (_, index) => `name ${index}`)
    const tooMany = [400, 'failure', 'TOO_MANY_FILTERS_PROVIDED_IN_REQUEST']
    expect((await list(taxonomies, { 'filter[department]': names(50) })).status).toBe(200)
    expect(failure(await list(taxonomies, { 'filter[department]': names(51) }))).toEqual(tooMany)
    await client.control('PUT', '/display', { maxFilterValues: 2 })
    const three = { 'filter[department]': 'a', 'filter[category]': 'b', 'filter[brandName]': ['c'] }
    expect(failure(await list(taxonomies, three))).toEqual(tooMany)
  })

  test('other spellings on demand', async () => {
    const { list, client } = await started()
    await client.control('PUT', '/display', { taxonomiesAs: 'array', wrapped: true, itemCountName: 'item_count' })
    const { json } = await list(taxonomies, { count: 1 })
    const leaf = at(json, 0, 'data', 0, 'taxonomies', 0, 'taxonomies', 0)
    expect([at(leaf, 'level'), typeof at(leaf, 'item_count'), at(leaf, 'itemCount')]).toEqual([3, 'number', null])
  })

  test('nodes are added, removed and changed on demand, and come back', async () => {
    const { list, client, rows } = await started()
    const before = (await list(taxonomies, { count: 5_000 })).json
    const all = new Set(await rows())
    await client.control('PUT', '/display', { added: 3, removed: 5, changed: 2 })
    const after = (await list(taxonomies, { count: 5_000 })).json
    const now = new Set(items(after, 'data').map(buildPath))
    expect([...now].filter((path) => !all.has(path))).toHaveLength(3)
    expect([...all].filter((path) => !now.has(path))).toHaveLength(5)
    const counts = (json: Json): Map<string, Json> =>
      new Map(items(json, 'data').map((row) => [buildPath(row), at(deepest(row), 'itemCount')]))
    const [old, fresh] = [counts(before), counts(after)]
    expect([...fresh].filter(([path, count]) => old.has(path) && old.get(path) !== count)).toHaveLength(2)
    expect(at(await client.control('GET', '/state'), 'taxonomies')).toBe(all.size - 2)
    await client.control('DELETE', '/')
    expect((await list(taxonomies, { count: 5_000 })).json).toEqual(before)
  })

  test('corrupt rows and repeated pages', async () => {
    const { list, client } = await started()
    const second = { startIndex: 10, count: 10 }
    const [first, good] = [await list(taxonomies, { count: 10 }), await list(taxonomies, second)]
    await client.control('PUT', '/faults', { next: [{ fault: 'duplicateRows' }, { fault: 'repeatCursor' }] })
    const repeated = await list(taxonomies, second)
    expect(items(repeated.json, 'data').slice(0, 10)).toEqual(items(first.json, 'data'))
    expect(items(repeated.json, 'data')).toHaveLength(11)
    await client.control('PUT', '/faults', { next: [{ fault: 'malformedRecord' }] })
    const broken = items((await list(taxonomies, second)).json, 'data')
    expect(broken.filter((row, index) => JSON.stringify(row) !== JSON.stringify(items(good.json, 'data')[index]))).toHaveLength(1)
  })
})

describe('POST /api/v2/targeting/list', () => {
  test('contextual targets: paths, tiers, some disabled', async () => {
    const { targets } = await started()
    const all = await targets({ 'Filter[tactic]': 'contextual' })
    expect(all.length).toBeGreaterThan(300)
    const reaches = all.map((target) => JSON.stringify(at(target, 'reach')))
    expect(reaches.filter((reach) => reach === '["TIER 1"]')).toHaveLength(1)
    expect(reaches).toContain('[]')
    expect(reaches.every((reach) => /^\[("TIER[_ ][1-7]",?)*\]$/.test(reach))).toBe(true)
    expect(all.filter((target) => at(target, 'isDisabled') === true).length).toBeGreaterThan(5)
    expect(all.some((target) => /^[^|]+\|[^|]+\|[^|]+$/.test(String(at(target, 'taxonPath'))))).toBe(true)
    expect(Object.keys(all[0] ?? {}).sort()).toEqual(['id', 'isDisabled', 'name', 'reach', 'taxonPath'])
  })

  test.each([
    ['retail', ['historical', 'predictive']],
    ['brand', ['historical', 'predictive', 'lapsed_buyers']],
    ['persona', ['lifestyle', 'lifestage', 'auto', 'shopping_habits', 'food_beverages']],
    ['demographic', ['age', 'gender', 'household_income']],
    ['custom', ['rule_based', 'propensity', 'brand_affinity', 'lookalike', 'advanced', 'external']],
  ])('%s takes exactly its own attributes', async (audienceType, attributes) => {
    const { list, targets } = await started()
    const every = 'historical predictive lapsed_buyers lifestyle lifestage auto shopping_habits food_beverages age gender'
    const rest = 'household_income rule_based propensity brand_affinity lookalike advanced external'
    for (const attribute of `${every} ${rest}`.split(' ')) {
      const body = { 'Filter[tactic]': 'behavioral', 'Filter[audienceType]': audienceType, 'Filter[attribute]': attribute }
      if (!attributes.includes(attribute)) {
        const details = `Filter[attribute]: ${attribute.toUpperCase()} does not belong to audience type ${audienceType.toUpperCase()}`
        expect(failure(await list(targeting, body))).toEqual([400, 'failure', [details]])
        continue
      }
      const found = await targets(body)
      expect(found.length).toBeGreaterThan(0)
      for (const one of found) {
        expect([at(one, 'audienceType'), at(one, 'attribute')]).toEqual([audienceType.toUpperCase(), attribute.toUpperCase()])
        expect(at(one, 'taxonPath') === null).toBe(audienceType !== 'retail')
      }
    }
  })

  test('audienceType and attribute are required exactly as the table says', async () => {
    const { list } = await started()
    const noType = 'Filter[audienceType] is required unless Filter[id] or searchText is given'
    const noAttribute = 'Filter[attribute] is required unless Filter[id] or searchText is given or Filter[audienceType] is custom'
    const ask = async (body: object): Promise<Json> => at((await list(targeting, body)).json, 'details')
    const behavioral = { 'Filter[tactic]': 'BEHAVIORAL' }
    expect(await ask(behavioral)).toEqual([noType, noAttribute])
    expect(await ask({ ...behavioral, 'Filter[audienceType]': 'retail' })).toEqual([noAttribute])
    expect(await ask({ ...behavioral, 'Filter[attribute]': 'historical' })).toEqual([noType])
    expect(await ask({ ...behavioral, 'Filter[id]': [], searchText: '' })).toEqual([noType, noAttribute])
    expect(await ask({ ...behavioral, 'Filter[audienceType]': 'custom' })).toBeNull()
    expect(await ask({ ...behavioral, 'Filter[id]': [500_001] })).toBeNull()
    expect(await ask({ ...behavioral, searchText: 'owners' })).toBeNull()
    expect(await ask({ ...behavioral, searchText: 'a', 'Filter[audienceType]': 'RETAIL' })).toBeNull()
    expect(await ask({ 'Filter[tactic]': 'Contextual' })).toBeNull()
    expect(await ask({ 'Filter[tactic]': 'contextual', 'Filter[audienceType]': 'nonsense' })).toBeNull()
  })

  test.each([
    [{}, ['Filter[tactic] is required']],
    [{ 'Filter[tactic]': 'display' }, ['Filter[tactic]: must be one of CONTEXTUAL, BEHAVIORAL']],
    [{ 'Filter[tactic]': 'contextual', 'Filter[id]': 5 }, ['Filter[id]: an array of whole numbers is expected']],
    [{ 'Filter[tactic]': 'contextual', 'Filter[id]': ['5'] }, ['Filter[id]: an array of whole numbers is expected']],
    [{ 'Filter[tactic]': 'contextual', startIndex: -1 }, ['startIndex: a whole number of at least 0 is expected']],
    [
      { 'Filter[tactic]': 'contextual', count: 0, searchText: 3 },
      ['searchText: a string is expected', 'count: a whole number of at least 1 is expected'],
    ],
    [
      { 'Filter[tactic]': 'behavioral', 'Filter[audienceType]': 'x', 'Filter[attribute]': 'age' },
      ['Filter[audienceType]: must be one of RETAIL, BRAND, PERSONA, DEMOGRAPHIC, CUSTOM'],
    ],
  ])('%j is refused with texts', async (body, details) => {
    const { list } = await started()
    expect(failure(await list(targeting, body))).toEqual([400, 'failure', details])
  })

  test('ids, search text and ranges select', async () => {
    const { list, targets } = await started()
    const all = await targets({ 'Filter[tactic]': 'contextual' })
    const ids = [3, 1].map((index) => at(all[index] ?? null, 'id'))
    expect(await targets({ 'Filter[tactic]': 'contextual', 'Filter[id]': [...ids, 1] })).toEqual([all[1], all[3]])
    const bath = await targets({ 'Filter[tactic]': 'CONTEXTUAL', searchText: 'bATH' })
    expect(bath.map((one) => at(one, 'name'))).toEqual(
      all.map((one) => at(one, 'name')).filter((name) => String(name).toLowerCase().includes('bath')),
    )
    expect(bath.length).toBeGreaterThan(1)
    const page = await list(targeting, { 'Filter[tactic]': 'contextual', startIndex: 5, count: 10 })
    expect(page.json).toEqual({ totalResults: 10, contextual: all.slice(5, 15) })
    expect((await list(targeting, { 'Filter[tactic]': 'contextual' })).json).toMatchObject({ totalResults: 100 })
    const beyond = await list(targeting, { 'Filter[tactic]': 'contextual', startIndex: 9_999 })
    expect([beyond.status, beyond.json]).toEqual([200, { totalResults: 0, contextual: [] }])
  })

  test('targets are disabled, enabled, removed and added on demand', async () => {
    const { client, list, targets } = await started()
    const all = await targets({ 'Filter[tactic]': 'contextual' })
    const disabled = all.find((one) => at(one, 'isDisabled') === true) ?? null
    const [first = null, second = null] = all.filter((one) => at(one, 'isDisabled') === false)
    await client.control('PUT', '/display', {
      disabledTargets: [at(first, 'id')],
      enabledTargets: [at(disabled, 'id')],
      removedTargets: [at(second, 'id')],
      addedContextual: [{ id: 1, name: 'New', taxonPath: 'Home|New' }],
      addedBehavioral: [{ id: 2, name: 'New audience', audienceType: 'CUSTOM', attribute: 'EXTERNAL' }],
      totalResultsOfTargets: 'all',
    })
    const now = new Map((await targets({ 'Filter[tactic]': 'contextual' })).map((one) => [at(one, 'id'), one]))
    expect([now.size, now.has(at(second, 'id'))]).toEqual([all.length, false])
    expect(at(now.get(at(first, 'id')) ?? null, 'isDisabled')).toBe(true)
    expect(at(now.get(at(disabled, 'id')) ?? null, 'isDisabled')).toBe(false)
    expect(now.get(1)).toEqual({ id: 1, name: 'New', taxonPath: 'Home|New', reach: ['TIER_3'], isDisabled: false })
    const page = await list(targeting, { 'Filter[tactic]': 'behavioral', 'Filter[id]': [2, 500_001], count: 1 })
    expect([at(page.json, 'totalResults'), items(page.json, 'behavioral').map((one) => at(one, 'id'))]).toEqual([2, [2]])
    await expect(client.control('PUT', '/display', { colour: 'red' })).rejects.toThrow('400')
    const illegal = [{ id: 3, name: 'X', audienceType: 'BRAND', attribute: 'AGE' }]
    await expect(client.control('PUT', '/display', { addedBehavioral: illegal })).rejects.toThrow('does not belong')
  })
})
