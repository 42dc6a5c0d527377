import { afterAll, beforeAll, expect, test } from 'vitest'
import { formatBytes } from '../../src/cli/commands/retention.ts'
import { startTestDaemon } from '../support/daemon.ts'
import { startProgram } from '../support/process.ts'
import { type Rig, startRig } from './rig.ts'
import { cli } from './run.ts'

let rig: Rig
beforeAll(async () => {
  rig = await startRig()
})
afterAll(() => rig.stop())

const tallyman = (...args: readonly string[]) => cli(args, rig.environment)

test('what would go is shown, goes when it is asked for, and what stays is what open things need', async () => {
  await rig.sql(
    `INSERT INTO tallyman.sync_runs (seller_id, resource, stream, pages, seen, changed, quarantined, started_at, finished_at)
     SELECT 's', 'orders', 'old', 1, 0, 1, 0, now() - interval '40 days', now() - interval '40 days' FROM generate_series(1, 3000)`,
  )
  await rig.sql(
    `INSERT INTO tallyman.alarms (seller_id, kind, subject, message, raised_at, resolved_at) SELECT 's', 'command-held', n, 'x', now() - interval '900 days',
       CASE WHEN n = 1 THEN NULL ELSE now() - interval '800 days' END FROM generate_series(1, 3) n`,
  )
  const shown = await tallyman('retention')
  expect(shown.code).toBe(0)
  expect(shown.out).toMatch(/^RETAIN_RUNS +30d +tallyman\.sync_runs +3,0\d\d +[\d.]+ kB +\d{4}-\S+ +2,999 +~/m)
  expect(shown.out).toMatch(/^RETAIN_LOG_ENTRIES +800d +warehouse\.inventory_log_entries +0 /m)
  const asJson: unknown = JSON.parse((await tallyman('retention', 'show', '--json')).out)
  expect(asJson).toMatchObject({
    items: expect.arrayContaining([
      expect.objectContaining({
        data: 'alarms',
        setting: 'RETAIN_ALARMS',
        keepMs: 400 * 86_400_000,
        rows: 3,
        going: { rows: 2, bytes: expect.any(Number) },
        estimated: false,
      }),
    ]),
  })
  const ran = await tallyman('retention', 'run')
  expect(ran).toMatchObject({
    code: 0,
    out: expect.stringMatching(
      /^tallyman\.sync_runs: 2,999 rows removed or emptied\n(?:.*\n)*tallyman\.alarms: 2 rows removed or emptied$/m,
    ),
  })
  expect(await rig.sql('SELECT subject FROM tallyman.alarms')).toEqual([{ subject: '1' }])
  expect(await rig.sql(`SELECT count(*)::int AS n FROM tallyman.sync_runs WHERE stream = 'old'`)).toEqual([{ n: 1 }])
  const again = await tallyman('retention', 'run', '--json')
  expect(JSON.parse(again.out)).toMatchObject({ items: expect.arrayContaining([{ data: 'runs', removed: 0 }]) })

  const metrics = await (
    await fetch(`${rig.daemon.url}/metrics`, { headers: { authorization: `Bearer ${rig.environment['API_KEY']}` } })
  ).text()
  expect(metrics).toMatch(/^tallyman_retention_removed_total\{data="runs"\} 2999$/m)
  expect(metrics).toMatch(/^tallyman_table_bytes\{table="tallyman\.sync_runs"\} \d{5,}$/m)
  expect(metrics).toMatch(/^tallyman_table_rows\{table="warehouse\.changes"\} \d+$/m)
})

test('a removal that no process does is reported after a limited wait, and is done when a process runs', async () => {
  const url = await rig.emptyDatabase()
  const environment = { ...rig.environment, DATABASE_URL: url, DATA_DIR: rig.sandbox.folder }
  const idle = await startTestDaemon({ ...environment, ROLES: 'scheduler,http' })
  const run = (...more: readonly string[]) => cli(['retention', 'run', ...more], { ...environment, TALLYMAN_URL: idle.url })
  try {
    const refused = await run('--wait', '1')
    expect(refused).toMatchObject({ code: 1, out: '' })
    expect(refused.messages).toMatch(/no process has worked on tallyman\.sync_runs, .* for 1(\.0)? s[\s\S]*`worker`/)
    const late = run('--wait', '60')
    const worker = startProgram('src/main.ts', { LOG_FORMAT: 'json', ...environment, ROLES: 'worker' })
    try {
      expect(await late).toMatchObject({ code: 0 })
    } finally {
      await worker.stop()
    }
  } finally {
    await idle.program.stop()
  }
}, 120_000)

test('sizes are written in the unit that fits', () => {
  expect([0, 512, 4_096, 29_300_000_000, 5e15].map(formatBytes)).toEqual(['0 B', '512 B', '4.1 kB', '29.3 GB', '5000.0 TB'])
})
