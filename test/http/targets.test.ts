import { afterAll, beforeAll, expect, test } from 'vitest'
import { withDatabase } from '../support/database.ts'
import { at, ofItems } from '../support/json.ts'
import { startServer, type TestServer } from './support.ts'

const stage = withDatabase()
let server: TestServer

beforeAll(async () => {
  server = await startServer(stage.database)
  const { database } = stage
  await database.execute(
    `INSERT INTO warehouse.taxonomy_nodes (seller_id, node_key, level, path, parent_path, name, item_count, raw_hash, raw, observed_at,
       first_seen_at, changed_at)
     VALUES ('s-1', '2 | Home | Pans', 2, '{Home,Pans}', '{Home}', 'Pans', 412, '\\x00', '{}', now(), now(), now())`,
  )
  await database.execute(
    `INSERT INTO warehouse.contextual_targets (seller_id, id, name, taxon_path, reach, reach_bands, is_disabled, raw_hash, raw, observed_at,
       missing_since, first_seen_at, changed_at)
     SELECT 's-' || s, 9223372036854775800 + n, 'Target ' || n, CASE n WHEN 1 THEN '{Home,Pans}'::text[] END, '{TIER_6}', '{HIGH}', n = 2,
       '\\x00', '{}', now(), CASE n WHEN 3 THEN now() END, now(), now()
     FROM generate_series(1, 3) AS n CROSS JOIN generate_series(1, 2) AS s`,
  )
  await database.execute(
    `INSERT INTO warehouse.behavioral_audiences (seller_id, id, name, audience_type, attribute, is_disabled, raw_hash, raw, observed_at,
       first_seen_at, changed_at)
     VALUES ('s-1', 7, 'Home cooks', 'PERSONA', 'LIFESTYLE', false, '\\x00', '{}', now(), now(), now())`,
  )
})
afterAll(() => server.close())

const listIds = async (query: string): Promise<readonly unknown[]> => {
  const { status, body } = await server.json(`/v1/targets?${query}`)
  expect(status, JSON.stringify(body)).toBe(200)
  return ofItems(body, 'id')
}

test.each([
  ['sellerId=s-1', ['7', '9223372036854775801', '9223372036854775802', '9223372036854775803']],
  ['sellerId=s-1&tactic=behavioral', ['7']],
  ['sellerId=s-1&usable=true', ['7', '9223372036854775801']],
  ['sellerId=s-1&usable=false', ['9223372036854775802', '9223372036854775803']],
  ['q=pAnS', ['9223372036854775801', '9223372036854775801']],
  ['q=home&sellerId=s-1', ['7', '9223372036854775801']],
  ['q=%25', []],
])('targets are found by %s', async (query, expected) => {
  expect([...(await listIds(query))].sort()).toEqual([...expected].sort())
})

test('a target is shown with its reach and the items of its place', async () => {
  const { body } = await server.json('/v1/targets?sellerId=s-1&tactic=contextual&limit=1')
  expect(at(body, 'items')).toEqual([
    expect.objectContaining({
      name: 'Target 1',
      taxonPath: ['Home', 'Pans'],
      itemCount: 412,
      reach: ['TIER_6'],
      reachBands: ['HIGH'],
      usable: true,
    }),
  ])
  const rest = await server.json(`/v1/targets?sellerId=s-1&tactic=contextual&limit=1&cursor=${at(body, 'nextCursor')}`)
  expect(at(rest.body, 'items')).toEqual([
    expect.objectContaining({ name: 'Target 2', itemCount: null, isDisabled: true, usable: false }),
  ])
})
