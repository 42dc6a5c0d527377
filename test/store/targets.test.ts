import { expect, test } from 'vitest'
import { parseBehavioralAudience, parseContextualTarget } from '../../src/clients/display/target-record.ts'
import type { ParsedRecord } from '../../src/clients/http/record.ts'
import { audienceKinds, audiencePart } from '../../src/domain/campaigns/targeting.ts'
import { behavioralAudienceStore, contextualTargetStore } from '../../src/store/campaigns/targets.ts'
import type { ListedStore } from '../../src/store/versioned/listed-records.ts'
import { numbered } from '../support/changes.ts'
import { withDatabase } from '../support/database.ts'

const stage = withDatabase({ each: 'test' })
const sellerId = 'seller'
const at = (minute: number): Date => new Date(Date.UTC(2026, 0, 1, 0, minute))

const save = async <T>(store: ListedStore<T>, observedAt: Date, parsed: ParsedRecord<T>): Promise<number> => {
  if (!parsed.ok) throw new Error(parsed.fault)
  const differing = await store.findDiffering(stage.database, sellerId, [parsed])
  return stage.database.transaction((tx) => store.store(tx, sellerId, observedAt, differing))
}
const contextual = (minute: number, wire: string) => save(contextualTargetStore, at(minute), parseContextualTarget(wire))
const behavioral = (minute: number, wire: string) => save(behavioralAudienceStore, at(minute), parseBehavioralAudience(wire))
const changes = async () =>
  (await numbered(stage.database)).query('SELECT type, data FROM warehouse.changes WHERE seller_id = $1 ORDER BY seq', sellerId)

const biggest = '9223372036854775807'
const target = (more = '') =>
  `{"id":${biggest},"name":"Pans","taxonPath":"Home|Pans","reach":["TIER 1","TIER_6"],"isDisabled":false${more}}`

test('a target keeps its 64-bit id, its tiers and their bands, and is reported once', async () => {
  expect(await contextual(1, target())).toBe(1)
  expect(await contextual(2, target())).toBe(0)
  expect(
    await stage.database.query(
      'SELECT id, name, taxon_path, reach, reach_bands, is_disabled, missing_since FROM warehouse.contextual_targets',
    ),
  ).toEqual([
    {
      id: BigInt(biggest),
      name: 'Pans',
      taxon_path: ['Home', 'Pans'],
      reach: ['TIER_1', 'TIER_6'],
      reach_bands: ['LOW', 'HIGH'],
      is_disabled: false,
      missing_since: null,
    },
  ])
  expect(await changes()).toEqual([
    {
      type: 'target.added',
      data: {
        tactic: 'contextual',
        id: biggest,
        before: null,
        after: {
          name: 'Pans',
          taxonPath: ['Home', 'Pans'],
          reach: ['TIER_1', 'TIER_6'],
          reachBands: ['LOW', 'HIGH'],
          isDisabled: false,
        },
      },
    },
  ])
})

test('a disabled target is reported with its previous state, and is no longer usable', async () => {
  const usable = () =>
    stage.database.query('SELECT tactic, id, reach_bands, audience_type FROM warehouse.usable_targets ORDER BY tactic')
  const audience = (disabled: boolean) =>
    `{"id":5,"name":"Gamers","audienceType":"persona","attribute":"lifestyle","isDisabled":${disabled}}`
  await contextual(1, target())
  await behavioral(1, audience(false))
  await behavioral(1, '{"id":6,"name":"Nobody said whether it is disabled","audienceType":"CUSTOM"}')
  expect(await usable()).toEqual([
    { tactic: 'behavioral', id: 5n, reach_bands: null, audience_type: 'PERSONA' },
    { tactic: 'contextual', id: BigInt(biggest), reach_bands: ['LOW', 'HIGH'], audience_type: null },
  ])
  await behavioral(2, audience(true))
  await stage.database.transaction((tx) => contextualTargetStore.noteMissing(tx, sellerId, at(2), [biggest]))
  expect(await usable()).toEqual([])
  expect((await changes()).slice(3)).toMatchObject([
    {
      type: 'target.changed',
      data: {
        tactic: 'behavioral',
        id: '5',
        before: { isDisabled: false },
        after: { isDisabled: true, attribute: 'LIFESTYLE' },
      },
    },
    { type: 'target.removed', data: { tactic: 'contextual', id: biggest, before: { name: 'Pans' }, after: null } },
  ])
  await contextual(3, target())
  expect(await usable()).toHaveLength(1)
})

test('only records of the part that was read can be missing from it', async () => {
  const kinds = ['RETAIL/HISTORICAL', 'RETAIL/PREDICTIVE', 'BRAND/HISTORICAL', 'CUSTOM/EXTERNAL', 'CUSTOM/ADVANCED']
  for (const [index, kind] of kinds.entries()) {
    const [audienceType, attribute] = kind.split('/')
    await behavioral(1, JSON.stringify({ id: index, audienceType, attribute, isDisabled: false }))
  }
  const findMissing = (part: string, ...keys: string[]) =>
    behavioralAudienceStore.findMissing(stage.database, sellerId, part, new Set(keys))
  expect(await findMissing('RETAIL/HISTORICAL')).toEqual(['0'])
  expect(await findMissing('RETAIL/HISTORICAL', '0')).toEqual([])
  expect(await findMissing('CUSTOM', '4')).toEqual(['3'])
  // Each stored kind of the specification belongs to the one part that lists it.
  const parts = await Promise.all(audienceKinds.map((kind) => findMissing(audiencePart(kind))))
  expect(parts.flat().sort()).toEqual(['0', '1', '2', '3', '4'])
})
