import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { pino } from 'pino'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { contextualTargetsEndpoint } from '../../../src/clients/display/targeting.ts'
import type { MarketplaceClient } from '../../../src/clients/http/client.ts'
import type { RateLimits } from '../../../src/clients/http/operation.ts'
import { createMarketplaceClient } from '../../../src/clients/marketplace/marketplace.ts'
import { specification, walmartUs } from '../../../src/clients/marketplace/profiles/index.ts'
import type { Profile } from '../../../src/clients/marketplace/profiles/profile.ts'
import type { SyncDeps } from '../../../src/jobs/sync/engine/run.ts'
import { listResources, readStreams, replayQuarantined, runSync } from '../../../src/jobs/sync/engine/syncs.ts'
import { CursorLoop } from '../../../src/jobs/sync/recovery/errors.ts'
import type { JobOutcome } from '../../../src/queues/jobs.ts'
import { openDatabase } from '../../../src/store/db/database.ts'
import { withPart } from '../../clients/with-part.ts'
import { numbered } from '../../support/changes.ts'
import { withDatabase } from '../../support/database.ts'
import { startTestSandbox, type TestSandbox } from '../../support/sandbox.ts'
import { findVocabulary } from '../../support/vocabulary.ts'
import { buildPace, testSettings } from './support.ts'

const stage = withDatabase()
let sandbox: TestSandbox
const clients: MarketplaceClient[] = []
const log = pino({ level: 'silent' })

beforeAll(async () => {
  sandbox = await startTestSandbox()
})
afterEach(async () => {
  await sandbox.control('PUT', '/faults', {})
  await change(fresh)
})
afterAll(async () => {
  await Promise.all(clients.map((client) => client.close()))
  await sandbox.stop()
})

/** What the sandbox begins with. */
const fresh = {
  taxonomiesAs: 'object',
  wrapped: false,
  itemCountName: 'itemCount',
  added: 0,
  removed: 0,
  changed: 0,
  totalResultsOfTargets: 'rows',
  disabledTargets: [],
  removedTargets: [],
  addedBehavioral: [],
}
const change = (settings: object) => sandbox.control('PUT', '/display', settings)

let sellers = 0

const startSeller = async ({
  limits = null,
  profile = specification,
  authToken = 'sandbox-display-token',
  advertises = true,
}: {
  readonly limits?: RateLimits | null
  readonly profile?: Profile
  readonly authToken?: string
  readonly advertises?: boolean
} = {}) => {
  sellers += 1
  const sellerId = `display-${sellers}`
  const { budget, goOn } = buildPace(limits)
  const client = createMarketplaceClient(
    {
      sellerId,
      clientId: 'none',
      clientSecret: 'none',
      profile,
      marketplaceUrl: sandbox.url,
      display: advertises
        ? {
            url: sandbox.url,
            consumerId: 'sandbox-consumer',
            authToken,
            privateKey: await readFile(path.join(sandbox.folder, 'sandbox', 'display-private-key.pem'), 'utf8'),
            keyVersion: '1',
            advertiserId: 10001,
          }
        : null,
      headerPrefix: profile.headerPrefix,
      quantityField: profile.quantityField,
      serviceName: 'Tallyman test',
      tokenPath: profile.tokenPath,
      requestTimeoutMs: 10_000,
    },
    { budget, log: { debug: () => undefined, warn: () => undefined } },
  )
  clients.push(client)
  const deps: SyncDeps = { database: stage.database, client: () => client, owner: 'test', settings: testSettings }
  /** A client that does something before each page of contextual targets. */
  const beforePages = (work: (startIndex: number) => Promise<void>): MarketplaceClient => {
    const targets = client.of(contextualTargetsEndpoint)
    if (targets === null) throw new Error('display advertising is off')
    return withPart(client, contextualTargetsEndpoint, {
      list: async (query, options) => {
        await work(query.startIndex)
        return targets.list(query, options)
      },
    })
  }
  const once = (
    resource: string,
    beforePage?: (startIndex: number) => Promise<void>,
    more: Partial<SyncDeps> = {},
  ): Promise<JobOutcome> =>
    runSync(
      { ...deps, ...(beforePage === undefined ? {} : { client: () => beforePages(beforePage) }), ...more },
      { sellerId, resource, stream: 'all' },
      { signal: new AbortController().signal, log },
    )
  const rows = async <Row>(sql: string, ...parameters: readonly unknown[]) =>
    (await numbered(stage.database)).query<Row>(sql, sellerId, ...parameters)
  return {
    sellerId,
    client,
    once,
    rows,
    /** Runs until nothing is left; answers how many runs it took. */
    sync: async (resource: string, beforePage?: (startIndex: number) => Promise<void>): Promise<number> => {
      for (let runs = 1; runs <= 100; runs += 1) {
        const outcome = await once(resource, beforePage)
        if ('done' in outcome) return runs
        await goOn(outcome.runAgainAt)
      }
      throw new Error(`${resource} does not come to an end`)
    },
    changes: (after = 0) =>
      rows<{ type: string; data: Readonly<Record<string, unknown>> }>(
        'SELECT type, data FROM warehouse.changes WHERE seller_id = $1 ORDER BY seq OFFSET $2::int',
        after,
      ),
    /** What stands in each table, with the transaction that wrote it. */
    marks: () =>
      rows(`SELECT node_key AS key, xmin::text FROM warehouse.taxonomy_nodes WHERE seller_id = $1
        UNION ALL SELECT id::text, xmin::text FROM warehouse.contextual_targets WHERE seller_id = $1
        UNION ALL SELECT id::text, xmin::text FROM warehouse.behavioral_audiences WHERE seller_id = $1 ORDER BY 1`),
    runs: (resource: string) =>
      rows<{ seen: number; changed: number; quarantined: number; pages: number }>(
        'SELECT seen, changed, quarantined, pages FROM tallyman.sync_runs WHERE seller_id = $1 AND resource = $2 ORDER BY id',
        resource,
      ),
  }
}

const resources = ['taxonomies', 'contextual-targets', 'behavioral-audiences']

test('every resource has one stream, and only sellers who advertise have it', async () => {
  const [own, others] = [
    listResources((await startSeller()).client),
    listResources((await startSeller({ advertises: false })).client),
  ]
  expect(own.filter((resource) => !others.includes(resource)).sort()).toEqual([...resources].sort())
  for (const resource of resources) {
    const variable = `POLL_${resource.toUpperCase().replaceAll('-', '_')}`
    expect(readStreams(resource, { [variable]: 60_000 })).toMatchObject([{ stream: 'all', everyMs: 60_000 }])
  }
})

test.each([
  ['specification', specification, {}],
  [
    'walmart-us',
    { ...walmartUs, headerPrefix: 'XX' },
    { wrapped: true, taxonomiesAs: 'array', itemCountName: 'item_count', totalResultsOfTargets: 'all' },
  ],
] as const)('the first pass brings all there is, the second writes nothing: %s', async (_name, profile, settings) => {
  await change(settings)
  const seller = await startSeller({ profile })
  for (const resource of resources) await seller.sync(resource)
  const levels = await seller.rows<{ level: number; nodes: number; counted: number }>(
    `SELECT level, count(*)::int AS nodes, count(item_count)::int AS counted FROM warehouse.taxonomy_nodes
     WHERE seller_id = $1 GROUP BY level ORDER BY level`,
  )
  expect(levels.map(({ level }) => level)).toEqual([1, 2, 3])
  expect(levels.every(({ nodes, counted }) => nodes === counted)).toBe(true)
  expect(levels[2]?.nodes).toBeGreaterThan(100)
  // Every parent of a node is a node.
  expect(
    await seller.rows(
      `SELECT node_key FROM warehouse.taxonomy_nodes n WHERE seller_id = $1 AND level > 1 AND NOT EXISTS (
         SELECT FROM warehouse.taxonomy_nodes p WHERE p.seller_id = n.seller_id AND p.path = n.parent_path)`,
    ),
  ).toEqual([])
  expect(
    await seller.rows(`SELECT reach, reach_bands FROM warehouse.contextual_targets WHERE seller_id = $1 AND id = 200001`),
  ).toEqual([{ reach: ['TIER_1'], reach_bands: ['LOW'] }])
  const kinds = await seller.rows<{ kind: string; with_path: boolean }>(
    `SELECT audience_type || '/' || attribute AS kind, bool_or(taxon_path IS NOT NULL) AS with_path
     FROM warehouse.behavioral_audiences WHERE seller_id = $1 GROUP BY 1`,
  )
  expect(kinds).toHaveLength(19)
  expect(
    kinds
      .filter((kind) => kind.with_path)
      .map(({ kind }) => kind)
      .sort(),
  ).toEqual(['RETAIL/HISTORICAL', 'RETAIL/PREDICTIVE'])
  const unusable = await seller.rows(
    `SELECT 1 FROM warehouse.usable_targets u JOIN warehouse.contextual_targets t USING (seller_id, id)
     WHERE seller_id = $1 AND u.tactic = 'contextual' AND t.is_disabled`,
  )
  expect(unusable).toEqual([])

  const told = await seller.changes()
  const marks = await seller.marks()
  // A first load is one change of each list, with how much came.
  expect(told).toEqual([
    { type: 'taxonomy.loaded', data: { count: expect.any(Number), parts: expect.objectContaining({ '1': expect.any(Number) }) } },
    { type: 'target.loaded', data: { tactic: 'contextual', count: expect.any(Number), parts: {} } },
    { type: 'target.loaded', data: { tactic: 'behavioral', count: expect.any(Number), parts: expect.anything() } },
  ])
  expect(told.reduce((sum, { data }) => sum + Number(data['count']), 0)).toBe(marks.length)
  for (const resource of resources) await seller.sync(resource)
  expect(await seller.marks()).toEqual(marks)
  expect(await seller.changes()).toEqual(told)
  for (const resource of resources) {
    const [first, second] = await seller.runs(resource)
    expect(first).toMatchObject({ changed: first?.seen, quarantined: 0 })
    expect(second).toMatchObject({ seen: first?.seen, changed: 0, quarantined: 0 })
  }
})

test('changes, arrivals and removals are reported, and what returns is listed again', async () => {
  const seller = await startSeller()
  for (const resource of resources) await seller.sync(resource)
  const before = (await seller.changes()).length
  await change({
    added: 2,
    removed: 3,
    changed: 4,
    removedTargets: [200_002, 500_001],
    disabledTargets: [200_003],
    addedBehavioral: [{ id: 900_001, name: 'New', audienceType: 'CUSTOM', attribute: 'EXTERNAL' }],
  })
  for (const resource of resources) await seller.sync(resource)
  const changes = await seller.changes(before)
  const told = (type: string, tactic?: string) => changes.filter((one) => one.type === type && one.data['tactic'] === tactic)
  const atLevel = (type: string, level: number) => told(type).filter(({ data }) => data['level'] === level)
  expect(atLevel('taxonomy_node.removed', 3)).toHaveLength(3)
  expect(atLevel('taxonomy_node.added', 3)).toHaveLength(2)
  const counts = (type: 'before' | 'after', { data }: { data: Readonly<Record<string, unknown>> }) =>
    (data[type] as { itemCount: number }).itemCount
  expect(atLevel('taxonomy_node.changed', 3)).toHaveLength(4)
  for (const one of atLevel('taxonomy_node.changed', 3)) expect(counts('after', one)).toBeGreaterThan(counts('before', one))
  expect(told('target.removed', 'contextual')).toMatchObject([{ data: { id: '200002', after: null } }])
  expect(told('target.removed', 'behavioral')).toMatchObject([{ data: { id: '500001' } }])
  expect(told('target.changed', 'contextual')).toMatchObject([
    { data: { id: '200003', before: { isDisabled: false }, after: { isDisabled: true } } },
  ])
  expect(told('target.added', 'behavioral')).toMatchObject([{ data: { id: '900001', after: { attribute: 'EXTERNAL' } } }])
  const missing = () =>
    seller.rows('SELECT id FROM warehouse.contextual_targets WHERE seller_id = $1 AND missing_since IS NOT NULL')
  expect(await missing()).toEqual([{ id: 200_002n }])

  await change({ removedTargets: [] })
  await seller.sync('contextual-targets')
  expect(await missing()).toEqual([])
  expect((await seller.changes(before + changes.length)).map(({ type, data }) => [type, data['id']])).toEqual([
    ['target.added', '200002'],
  ])
})

test('a snapshot that the budget cuts into many runs still notices what is gone', async () => {
  const seller = await startSeller({ limits: { 'taxonomies.list': { tokens: 10, perMs: 400 } } })
  expect(await seller.sync('taxonomies')).toBeGreaterThan(2)
  const before = (await seller.changes()).length
  await change({ removed: 5 })
  expect(await seller.sync('taxonomies')).toBeGreaterThan(2)
  const gone = (await seller.changes(before)).filter(({ type, data }) => type === 'taxonomy_node.removed' && data['level'] === 3)
  expect(gone).toHaveLength(5)
})

test('a snapshot that another process goes on with tells of nothing that it is gone', async () => {
  const seller = await startSeller()
  await seller.sync('contextual-targets')
  const before = (await seller.changes()).length
  const [last] = await seller.rows<{ id: bigint }>(
    'SELECT id FROM warehouse.contextual_targets WHERE seller_id = $1 ORDER BY id DESC LIMIT 1',
  )
  await change({ removedTargets: [Number(last?.id)] })
  const oneTurn = { settings: { ...testSettings, maxPagesPerRun: 1 } }
  expect(await seller.once('contextual-targets', undefined, oneTurn)).toMatchObject({ reason: 'taking turns' })
  const other = openDatabase({ findVocabulary, url: stage.url, connections: 2 })
  try {
    expect(await seller.once('contextual-targets', undefined, { database: other, owner: 'other' })).toEqual({ done: true })
  } finally {
    await other.close()
  }
  expect(await seller.changes(before)).toEqual([])
  await seller.sync('contextual-targets')
  expect((await seller.changes(before)).map(({ type, data }) => [type, data['id']])).toEqual([
    ['target.removed', String(last?.id)],
  ])
})

test('a first load that takes several runs is one change, when its last page is there; a failed one is none', async () => {
  const seller = await startSeller()
  const oneTurn = { settings: { ...testSettings, maxPagesPerRun: 1 } }
  expect(await seller.once('contextual-targets', undefined, oneTurn)).toMatchObject({ reason: 'taking turns' })
  await sandbox.control('PUT', '/faults', { rules: [{ operation: 'targeting.list', repeatCursor: 1 }] })
  await expect(seller.once('contextual-targets')).rejects.toThrow(CursorLoop)
  expect(await seller.changes()).toEqual([])
  await sandbox.control('PUT', '/faults', { rules: [] })
  await seller.sync('contextual-targets')
  const [{ targets } = { targets: 0 }] = await seller.rows<{ targets: number }>(
    'SELECT count(*)::int AS targets FROM warehouse.contextual_targets WHERE seller_id = $1',
  )
  expect(targets).toBeGreaterThan(testSettings.pageSize ?? 0)
  expect(await seller.changes()).toEqual([{ type: 'target.loaded', data: { tactic: 'contextual', count: targets, parts: {} } }])
})

test('a record that cannot be read lies in quarantine, is not gone, and heals', async () => {
  const seller = await startSeller()
  await sandbox.next({ operation: 'targeting.list', fault: 'malformedRecord' })
  await seller.sync('contextual-targets')
  const quarantined = await seller.rows<{ id: bigint; state: string }>(
    `SELECT id, state FROM tallyman.quarantined_records WHERE seller_id = $1 AND resource = 'contextual-targets'`,
  )
  expect(quarantined.length).toBeGreaterThan(0)
  for (const { id } of quarantined)
    expect((await replayQuarantined({ database: stage.database }, id)).outcome).toBe('still-malformed')
  await seller.sync('contextual-targets')
  const [first, second] = await seller.runs('contextual-targets')
  expect(first?.quarantined).toBe(quarantined.length)
  expect(second?.quarantined).toBe(0)
  expect((await seller.changes()).filter(({ type }) => type === 'target.removed')).toEqual([])
})

test('a host that ignores startIndex is found out', async () => {
  const seller = await startSeller()
  await sandbox.control('PUT', '/faults', { rules: [{ operation: 'targeting.list', repeatCursor: 1 }] })
  await expect(seller.once('contextual-targets')).rejects.toThrow(CursorLoop)
  expect(await seller.rows('SELECT last_error FROM tallyman.sync_states WHERE seller_id = $1')).toMatchObject([
    { last_error: expect.stringContaining('startIndex') },
  ])
})

test('a page that comes again once is read from its start, and one that led astray is not gone on with', async () => {
  const seller = await startSeller()
  await sandbox.next({ operation: 'targeting.list', fault: 'repeatCursor' })
  await seller.sync('contextual-targets')
  const [{ targets } = { targets: 0 }] = await seller.rows<{ targets: number }>(
    'SELECT count(*)::int AS targets FROM warehouse.contextual_targets WHERE seller_id = $1',
  )
  expect(targets).toBeGreaterThan(testSettings.pageSize ?? 0)
  await sandbox.control('PUT', '/faults', { rules: [{ operation: 'targeting.list', repeatCursor: 1 }] })
  await expect(seller.once('contextual-targets')).rejects.toThrow(CursorLoop)
  expect(await seller.rows(`SELECT cursor FROM tallyman.sync_states WHERE seller_id = $1`)).toEqual([{ cursor: null }])
})

test('what goes while pages are read makes nothing else look gone', async () => {
  const seller = await startSeller()
  await seller.sync('contextual-targets')
  const before = (await seller.changes()).length
  const ids = await seller.rows<{ id: bigint }>('SELECT id FROM warehouse.contextual_targets WHERE seller_id = $1 ORDER BY id')
  const removed = ids.slice(3, 6).map(({ id }) => Number(id))
  await seller.sync('contextual-targets', async (startIndex) => {
    if (startIndex > 0) await change({ removedTargets: removed })
  })
  const told = async () => (await seller.changes(before)).map(({ type, data }) => [type, data['id']])
  expect(await told()).toEqual([])
  await seller.sync('contextual-targets')
  expect((await told()).sort()).toEqual(removed.map((id) => ['target.removed', String(id)]))
})

test('a failure of the host changes nothing', async () => {
  const seller = await startSeller()
  await seller.sync('taxonomies')
  const marks = await seller.marks()
  for (const fault of ['okWithErrors', 'truncatedJson', 'html', 'emptyBody', 'serverErrorBefore'] as const) {
    await sandbox.next({ operation: 'taxonomies.list', fault })
    await expect(seller.once('taxonomies')).rejects.toThrow(/taxonomies\.list/)
  }
  expect(await seller.marks()).toEqual(marks)
  await seller.sync('taxonomies')
  expect(await seller.marks()).toEqual(marks)
})

test('an identity that is refused is said so, with the settings to look at', async () => {
  const seller = await startSeller({ authToken: 'an-old-display-token' })
  await expect(seller.once('taxonomies')).rejects.toThrow(/refused: HTTP 401/)
  const [state] = await seller.rows<{ last_error: string }>('SELECT last_error FROM tallyman.sync_states WHERE seller_id = $1')
  expect(state?.last_error).toContain('check DISPLAY_CONSUMER_ID')
  expect(state?.last_error).not.toContain('an-old-display-token')
})
