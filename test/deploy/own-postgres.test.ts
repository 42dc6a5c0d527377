import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { promisify } from 'node:util'
import { afterAll, expect, test } from 'vitest'
import { placeOrder, post, sandboxSeller, untilEffects } from '../daemon/support.ts'
import { startTestDaemon, type TestDaemon } from '../support/daemon.ts'
import { accepted, dispatched } from '../support/events.ts'
import { ownPostgresPrograms, startOwnPostgres } from '../support/own-postgres.ts'
import { startTestSandbox } from '../support/sandbox.ts'
import { shippedUnits, untilShipment } from './support.ts'

const run = promisify(execFile)
const programs = ownPostgresPrograms()
const cleanUps: (() => Promise<unknown>)[] = []
afterAll(async () => {
  for (const cleanUp of cleanUps.reverse()) await cleanUp()
})

test.skipIf(programs === null)(
  'a dump of a running daemon, restored by the commands of the documentation, ships no unit twice',
  {
    timeout: 240_000,
  },
  async () => {
    if (programs === null) return
    const [sandbox, postgres] = await Promise.all([startTestSandbox(), startOwnPostgres(programs)])
    const folder = await mkdtemp(path.join(tmpdir(), 'tallyman-dump-'))
    cleanUps.push(
      () => rm(folder, { recursive: true, force: true }),
      () => postgres.stop(),
      () => sandbox.stop(),
    )
    /** The lines of the page's blocks that begin with these words, as they stand. */
    const page = (await readFile('docs/backup.md', 'utf8')).split('\n')
    const documented = async (begin: RegExp, env: Readonly<Record<string, string>>): Promise<void> => {
      const lines = page.filter((line) => begin.test(line))
      expect(lines.length).toBeGreaterThan(0)
      const script = lines.join('\n').replaceAll('tallyman.dump', path.join(folder, 'tallyman.dump'))
      await run('bash', ['-euc', script], { env: { ...process.env, PATH: `${programs}:${process.env['PATH']}`, ...env } })
    }
    const start = async (databaseUrl: string, more: Readonly<Record<string, string>> = {}): Promise<TestDaemon> => {
      const daemon = await startTestDaemon({
        ...sandboxSeller,
        MARKETPLACE_URL: sandbox.url,
        DATABASE_URL: databaseUrl,
        DATA_DIR: path.join(folder, 'data'),
        POLL_ORDERS: '1s',
        REQUEST_TIMEOUT: '3s',
        SETTLE_TIME: '4s',
        ...more,
      })
      cleanUps.push(() => daemon.program.kill())
      return daemon
    }
    const seller = `/v1/sellers/${sandboxSeller.SELLER_ID}`

    const [first, second] = [await postgres.database(), await postgres.database()]
    const before = await start(first)
    const order = await placeOrder(sandbox, 2)
    expect(await post(before, accepted(order))).toBe(202)
    await untilEffects(sandbox, order, ['acknowledged'])
    await before.call('POST', `${seller}/pause`, { reason: 'the dump' })
    expect(await post(before, dispatched(order, 1, 2))).toBe(202)
    await untilShipment(before, order, ['pending'])
    await documented(/^pg_dump /, { DATABASE_URL: first })
    // Sent after the dump, which does not know of it.
    await before.call('POST', `${seller}/resume`)
    await untilShipment(before, order, ['confirmed'])
    expect(await before.program.stop()).toBe(0)

    // The roles are there: they belong to the server, not to a database.
    await documented(/^(pg_restore |DATABASE_URL="\$NEW_DATABASE_URL" npx tallyman )/, { NEW_DATABASE_URL: second })
    const after = await start(second, { AFTER_RESTORE: 'on' })
    await untilShipment(after, order, ['pending'])
    await after.call('POST', `${seller}/resume`)
    const [found] = await untilShipment(after, order, ['confirmed'])
    expect(found?.reason).toContain('before the database was restored')
    expect(await shippedUnits(sandbox, order)).toBe(2)
    expect(await after.program.stop()).toBe(0)
  },
)
