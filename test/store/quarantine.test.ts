import { expect, test } from 'vitest'
import {
  dismissQuarantined,
  expireKeyless,
  type FaultyRecord,
  findNewlyFaulty,
  findRefusedTexts,
  quarantine,
  readOpenQuarantineKeys,
  supersedeQuarantined,
} from '../../src/store/sync/quarantine.ts'
import { rawHash, storageFault } from '../../src/store/versioned/versions.ts'
import { withDatabase } from '../support/database.ts'

const stage = withDatabase()

const at = (minute: number): Date => new Date(Date.UTC(2026, 0, 1, 0, minute))
const bad = (key: string | null, text: string): FaultyRecord => ({ key, rawText: text, fault: 'lineNumber: missing' })
const put = async (sellerId: string, minute: number, ...records: FaultyRecord[]): Promise<number> => {
  const found = await findNewlyFaulty(stage.database, sellerId, 'orders', at(minute), records)
  await stage.database.transaction((tx) => quarantine(tx, sellerId, 'orders', at(minute), found))
  return found.length
}
const findState = (sellerId: string) =>
  stage.database.query<{ state: string; seen_count: number }>(
    'SELECT state, seen_count FROM tallyman.quarantined_records WHERE seller_id = $1 ORDER BY id',
    sellerId,
  )
const supersede = (sellerId: string, minute: number, key: string) =>
  stage.database.transaction((tx) => supersedeQuarantined(tx, sellerId, 'orders', at(minute), [key]))

test('the same text is written down once an hour at most', async () => {
  expect(await put('a', 1, bad('1', '{"a":1}'), bad('1', '{"a":1}'), bad(null, '[]'))).toBe(2)
  expect(await put('a', 2, bad('1', '{"a":1}'))).toBe(0)
  await stage.database.execute(
    `UPDATE tallyman.quarantined_records SET last_seen_at = now() - interval '2 hours' WHERE seller_id = 'a'`,
  )
  expect(await put('a', 3, bad('1', '{"a":1}'))).toBe(1)
  expect((await findState('a')).map((row) => row.seen_count).sort()).toEqual([1, 2])
  expect(await readOpenQuarantineKeys(stage.database, 'a', 'orders')).toEqual(new Set(['1']))
})

test('a later good version settles it, an earlier one does not, and the same fault later opens it again', async () => {
  await put('b', 5, bad('1', '{"b":1}'))
  expect(await supersede('b', 4, '1')).toBe(0)
  expect(await supersede('b', 6, '1')).toBe(1)
  expect(await put('b', 5, bad('1', '{"b":1}'))).toBe(0)
  expect(await put('b', 7, bad('1', '{"b":1}'))).toBe(1)
  expect((await findState('b'))[0]?.state).toBe('open')
})

test('what Postgres refused is known by its text', async () => {
  const fault = storageFault(await stage.database.query(`SELECT '{"a":"\\u0000"}'::jsonb`).catch((error: unknown) => error))
  expect(fault).toBe('Postgres cannot hold it (SQLSTATE 22P05)')
  await put('c', 1, { key: '1', rawText: 'refused', fault: fault ?? '' }, bad('2', 'not read'))
  const found = await findRefusedTexts(stage.database, 'c', 'orders', [
    { rawText: 'refused' },
    { rawText: 'not read' },
    { rawText: 'new' },
  ])
  expect(found).toEqual(new Set(['refused']))
})

test('an error that blames no record is none of quarantine’s business', async () => {
  expect(storageFault(await stage.database.query('SELECT 1 FROM nowhere').catch((error: unknown) => error))).toBeNull()
  expect(storageFault(new Error('socket closed'))).toBeNull()
})

test('a record that a person has dismissed stays settled, however often it comes again', async () => {
  await put('d', 1, bad(null, '["no key"]'))
  const [row] = await stage.database.query<{ id: bigint }>(`SELECT id FROM tallyman.quarantined_records WHERE seller_id = 'd'`)
  const id = row?.id ?? 0n
  const by = { actor: 'kim', reason: 'a leftover of the marketplace' }
  expect(await stage.database.transaction((tx) => dismissQuarantined(tx, id, by))).toBeNull()
  expect(await put('d', 2, bad(null, '["no key"]'))).toBe(0)
  const kept = `SELECT state, dismissed_by, dismissed_reason FROM tallyman.quarantined_records WHERE id = $1::bigint`
  expect(await stage.database.query(kept, id)).toEqual([{ state: 'dismissed', dismissed_by: 'kim', dismissed_reason: by.reason }])
  expect(await stage.database.transaction((tx) => dismissQuarantined(tx, id, by))).toBe('already-settled')
  expect(await stage.database.transaction((tx) => dismissQuarantined(tx, 999_999n, by))).toBe('not-found')
})

test('a record without a key is settled by a complete reading that did not bring it again, and by no other', async () => {
  const by = async (stream: string, text: string, hoursAgo: number, createdFrom: Date | null = null): Promise<void> => {
    const found = await findNewlyFaulty(stage.database, 'e', 'orders', at(1), [bad(null, text)])
    await stage.database.transaction((tx) => quarantine(tx, 'e', 'orders', at(1), found, stream, createdFrom))
    await stage.database.execute(
      `UPDATE tallyman.quarantined_records SET last_seen_at = now() - make_interval(hours => $2::int) WHERE seller_id = 'e' AND raw_text = $1`,
      text,
      hoursAgo,
    )
  }
  await by('released', '["gone"]', 3)
  await by('released', '["still there"]', 0)
  await by('changed', '["of another stream"]', 3, new Date('2026-11-01T00:00:00Z'))
  await by('changed', '["perhaps older"]', 3, new Date('2026-10-31T23:59:59Z'))
  await by('changed', '["of no known age"]', 3)
  await put('e', 1, bad('7', '{"e":7}'))
  const expire = (met: Parameters<typeof expireKeyless>[3]) =>
    stage.database.transaction((tx) => expireKeyless(tx, 'e', 'orders', met, new Date(Date.now() - 60_000).toISOString()))
  expect(await expire({ stream: 'released' })).toBe(1)
  expect(await expire({ stream: 'released' })).toBe(0)
  expect(await expire({ createdFrom: '2026-11-01T00:00:00.000Z' })).toBe(1)
  const open = `SELECT raw_text FROM tallyman.quarantined_records WHERE seller_id = 'e' AND state = 'open' ORDER BY raw_text`
  expect(await stage.database.query(open)).toEqual(
    ['["of no known age"]', '["perhaps older"]', '["still there"]', '{"e":7}'].map((raw_text) => ({ raw_text })),
  )
})

test('a window that is skipped again before it is due does not wait longer', async () => {
  const window = { from: at(0), to: at(1), part: null }
  const skip = async (): Promise<void> => {
    const record = {
      key: null,
      rawText: '{"stream":"x"}',
      fault: 'corrupt',
      skipped: { window },
      hash: rawHash('{"stream":"x"}'),
    }
    await stage.database.transaction((tx) => quarantine(tx, 'p', 'orders', at(1), [record], 'x'))
  }
  const waits = () =>
    stage.database.query<{ hours: number; seen_count: number }>(
      `SELECT round(extract(epoch FROM retry_at - now()) / 3600)::int AS hours, seen_count FROM tallyman.quarantined_records WHERE seller_id = 'p'`,
    )
  for (let time = 0; time < 4; time += 1) await skip()
  expect(await waits()).toEqual([{ hours: 1, seen_count: 1 }])
  await stage.database.execute(`UPDATE tallyman.quarantined_records SET retry_at = now() WHERE seller_id = 'p'`)
  for (let time = 0; time < 4; time += 1) await skip()
  expect(await waits()).toEqual([{ hours: 2, seen_count: 2 }])
})
