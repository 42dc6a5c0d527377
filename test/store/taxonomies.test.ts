import { expect, test } from 'vitest'
import { parseTaxonomyNode } from '../../src/clients/display/taxonomy-record.ts'
import type { TaxonomyNode } from '../../src/domain/campaigns/taxonomy.ts'
import { taxonomyStore } from '../../src/store/campaigns/taxonomies.ts'
import type { StorableRecord } from '../../src/store/versioned/versions.ts'
import { numbered } from '../support/changes.ts'
import { withDatabase } from '../support/database.ts'

const stage = withDatabase({ each: 'test' })
const sellerId = 'seller'
const at = (minute: number): Date => new Date(Date.UTC(2026, 0, 1, 0, minute))

const record = (wire: object): StorableRecord<TaxonomyNode> => {
  const parsed = parseTaxonomyNode(JSON.stringify(wire))
  if (!parsed.ok) throw new Error(parsed.fault)
  return parsed
}

const pans = (itemCount: number) =>
  record({ level: 1, name: 'Home', taxonomies: { level: 2, name: 'Kitchen', taxonomies: { level: 3, name: 'Pans', itemCount } } })
const tools = record({
  level: 1,
  name: 'Tools | more',
  itemCount: 7,
  attributes: { type: 'skin_color', values: [{ value: 'good', count: 1 }] },
})

const store = async (observedAt: Date, ...records: StorableRecord<TaxonomyNode>[]): Promise<number> => {
  const differing = await taxonomyStore.findDiffering(stage.database, sellerId, records)
  return stage.database.transaction((tx) => taxonomyStore.store(tx, sellerId, observedAt, differing))
}
const changes = async () =>
  (await numbered(stage.database)).query('SELECT type, data FROM warehouse.changes WHERE seller_id = $1 ORDER BY seq', sellerId)

test('nodes become rows, and are reported once', async () => {
  expect(await store(at(1), pans(290), tools)).toBe(2)
  expect(await store(at(2), pans(290), tools)).toBe(0)
  expect(
    await stage.database.query(
      `SELECT node_key, level, path, parent_path, name, item_count, attributes, observed_at FROM warehouse.taxonomy_nodes ORDER BY level`,
    ),
  ).toEqual([
    {
      node_key: '1 | Tools \\| more',
      level: 1,
      path: ['Tools | more'],
      parent_path: [],
      name: 'Tools | more',
      item_count: 7,
      attributes: { type: 'skin_color', values: [{ value: 'good', count: 1 }] },
      observed_at: at(1),
    },
    {
      node_key: '3 | Home | Kitchen | Pans',
      level: 3,
      path: ['Home', 'Kitchen', 'Pans'],
      parent_path: ['Home', 'Kitchen'],
      name: 'Pans',
      item_count: 290,
      attributes: null,
      observed_at: at(1),
    },
  ])
  expect(await changes()).toMatchObject([
    { type: 'taxonomy_node.added', data: { level: 1, path: ['Tools | more'], before: null } },
    { type: 'taxonomy_node.added', data: { level: 3, path: ['Home', 'Kitchen', 'Pans'], after: { itemCount: 290 } } },
  ])
})

test('another count is recorded with the previous one, an older observation changes nothing', async () => {
  await store(at(1), pans(290))
  expect(await store(at(3), pans(300))).toBe(1)
  expect(await store(at(2), pans(250))).toBe(0)
  expect(await changes()).toEqual([
    expect.anything(),
    {
      type: 'taxonomy_node.changed',
      data: {
        level: 3,
        path: ['Home', 'Kitchen', 'Pans'],
        before: { itemCount: 290, attributes: null },
        after: { itemCount: 300, attributes: null },
      },
    },
  ])
  expect(
    await stage.database.query(
      `SELECT record_key, raw #>> '{taxonomies,taxonomies,itemCount}' AS count FROM tallyman.superseded_versions`,
    ),
  ).toEqual([{ record_key: '3 | Home | Kitchen | Pans', count: '290' }])
})

test('a version with the same content in another form is kept, but not recorded', async () => {
  await store(at(1), pans(290))
  const { rawText, ...same } = pans(290)
  expect(await store(at(2), { ...same, rawText: rawText.replace('{', '{ ') })).toBe(1)
  expect(await changes()).toHaveLength(1)
})

test('a node that a level no longer shows is marked once, and returns', async () => {
  await store(at(1), pans(290), tools)
  const findMissing = (level: number, ...keys: string[]) =>
    taxonomyStore.findMissing(stage.database, sellerId, String(level), new Set(keys))
  expect(await findMissing(3, '3 | Home | Kitchen | Pans')).toEqual([])
  expect(await findMissing(2)).toEqual([])
  expect(await findMissing(3, '1 | Tools')).toEqual(['3 | Home | Kitchen | Pans'])
  const noteMissing = async (minute: number) =>
    stage.database.transaction((tx) => taxonomyStore.noteMissing(tx, sellerId, at(minute), ['3 | Home | Kitchen | Pans']))
  expect(await noteMissing(0)).toBe(0)
  expect(await noteMissing(2)).toBe(1)
  expect(await noteMissing(3)).toBe(0)
  expect(await findMissing(3)).toEqual([])
  const missing = () => stage.database.query('SELECT missing_since FROM warehouse.taxonomy_nodes WHERE level = 3')
  expect(await missing()).toEqual([{ missing_since: at(2) }])
  // A late answer from before that does not bring it back.
  expect(await store(at(1), pans(290))).toBe(0)
  expect(await store(at(4), pans(290))).toBe(1)
  expect(await missing()).toEqual([{ missing_since: null }])
  expect(await changes()).toMatchObject([
    { type: 'taxonomy_node.added' },
    { type: 'taxonomy_node.added' },
    { type: 'taxonomy_node.removed', data: { path: ['Home', 'Kitchen', 'Pans'], before: { itemCount: 290 }, after: null } },
    { type: 'taxonomy_node.added', data: { path: ['Home', 'Kitchen', 'Pans'] } },
  ])
  expect(await stage.database.query('SELECT 1 FROM tallyman.superseded_versions')).toEqual([])
})

test('two concurrent writers store and record a node once', async () => {
  const differing = await taxonomyStore.findDiffering(stage.database, sellerId, [pans(1)])
  const both = await Promise.all(
    [at(1), at(1)].map((observedAt) =>
      stage.database.transaction((tx) => taxonomyStore.store(tx, sellerId, observedAt, differing)),
    ),
  )
  expect(both.sort()).toEqual([0, 1])
  expect(await changes()).toHaveLength(1)
})
