import { afterAll, beforeAll, expect, test } from 'vitest'
import { openDatabase } from '../../src/store/db/database.ts'
import { reviewDiscrepancies } from '../../src/store/inventory/discrepancies.ts'
import { recordSellers } from '../../src/store/sellers/sellers.ts'
import { storeLog, storeReport } from '../store/support/inventory.ts'
import { findVocabulary } from '../support/vocabulary.ts'
import { type Rig, startRig } from './rig.ts'
import { type CliRun, cli } from './run.ts'

let rig: Rig

beforeAll(async () => {
  rig = await startRig()
  const database = openDatabase({ findVocabulary, url: rig.databaseUrl })
  // A seller that the daemon does not sync: nothing else touches its rows.
  await recordSellers(database, [{ sellerId: 's-1', credentialsFingerprint: 'f' }])
  await storeReport(database, 's-1', '2026-03', '2026-04-01T07:00:00Z', [{ sku: 'A', beginning: 20, ending: 18, lost: 2 }])
  await storeLog(database, 's-1', [{ sku: 'A', id: '1', kind: 'lost', changedUnits: -2, at: '2026-03-05T12:00:00Z' }])
  await database.transaction((tx) => reviewDiscrepancies(tx, 's-1', [{ sku: 'A', month: '2026-03' }]))
  await database.close()
})
afterAll(async () => {
  await rig.stop()
})

const claims = (...args: readonly string[]): Promise<CliRun> => cli(['claims', ...args], rig.environment)

test('a claim is listed, shown, exported, filed and closed', async () => {
  // The daemon may have computed its deadline since.
  const listed = await claims('list', '--month', '2026-03', '--seller', 's-1', '--state', 'all')
  expect(listed).toMatchObject({ code: 0, messages: '' })
  const [, id = ''] = /^(\d+) +A +2026-03 +lost +2 +reported /m.exec(listed.out) ?? []
  expect((await claims('show', id)).out).toContain('  2 units are stated as lost by the report.')
  const csv = (await claims('export', id)).out
  expect(csv).toContain(`${id},s-1,A,gtin of A,2026-03,lost,arithmetic,,,,,2 units are stated as lost by the report.,\r\n`)
  expect(csv).not.toContain('\\u000d')
  expect(await claims('payments', '--seller', 's-1')).toMatchObject({ code: 0 })
  expect(await claims('payments', '--seller', 'nobody')).toMatchObject({
    code: 1,
    messages: expect.stringContaining('There is no seller nobody.'),
  })
  expect(await claims('export', '--month', '2025-01')).toMatchObject({
    code: 0,
    messages: 'no claim of 2025-01 is open; --state all exports the others\n',
  })
  const page = await claims('export', '--month', '2026-03', '--state', 'all', '--format', 'html')
  expect(page.out).toContain('<h1>Claims for 2026-03</h1>')
  expect(page.out).toContain('<h2>2 lost of A, 2026-03</h2>')
  expect(await claims('file', id, '--reference', 'CASE-1')).toEqual({ code: 0, out: `claim ${id} is filed\n`, messages: '' })
  const closed = await claims('close', id, '--as', 'paid', '--paid', '9.98', '--json')
  expect(JSON.parse(closed.out)).toMatchObject({ state: 'paid', paidAmount: '9.98', reference: 'CASE-1' })
})

test('an export needs either a claim or a month', async () => {
  expect(await claims('export')).toMatchObject({ code: 2 })
  expect(await claims('export', '1', '--month', '2026-03')).toMatchObject({ code: 2 })
  expect(await claims('show', '999999')).toMatchObject({ code: 1 })
})
