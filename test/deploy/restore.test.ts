import { execFile } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { placeOrder, post, sandboxSeller, untilEffects } from '../daemon/support.ts'
import { startTestDaemon, type TestDaemon } from '../support/daemon.ts'
import { accepted, dispatched, type ErpEvent } from '../support/events.ts'
import { startTestSandbox, type TestSandbox } from '../support/sandbox.ts'
import { shippedUnits, untilShipment } from './support.ts'

const run = promisify(execFile)
let sandbox: TestSandbox
let folder: string
let daemon: TestDaemon | undefined
beforeAll(async () => {
  sandbox = await startTestSandbox()
  folder = await mkdtemp(path.join(tmpdir(), 'tallyman-restore-'))
  await run('chmod', ['755', folder])
})
afterAll(async () => {
  await daemon?.program.kill()
  await sandbox?.stop()
  await rm(folder, { recursive: true, force: true })
})

const start = async (more: Readonly<Record<string, string>> = {}): Promise<TestDaemon> => {
  daemon = await startTestDaemon({
    ...sandboxSeller,
    MARKETPLACE_URL: sandbox.url,
    DATA_DIR: path.join(folder, 'data'),
    POLL_ORDERS: '1s',
    REQUEST_TIMEOUT: '3s',
    SETTLE_TIME: '4s',
    ...more,
  })
  return daemon
}
const stop = async (): Promise<void> => {
  expect(await daemon?.program.stop()).toBe(0)
}
const pause = (way: 'pause' | 'resume') =>
  daemon?.call('POST', `/v1/sellers/${sandboxSeller.SELLER_ID}/${way}`, way === 'pause' ? { reason: 'the backup' } : {})

test('after a restore of an older DATA_DIR no unit is shipped twice, whatever was sent since the backup', {
  timeout: 240_000,
}, async () => {
  let running = await start()
  const [waiting, partly, untouched] = await Promise.all([placeOrder(sandbox, 2), placeOrder(sandbox, 4), placeOrder(sandbox, 3)])
  for (const order of [waiting, partly, untouched]) expect(await post(running, accepted(order))).toBe(202)
  for (const order of [waiting, partly, untouched]) await untilEffects(sandbox, order, ['acknowledged'])
  // The backup holds a command that was not sent yet.
  await pause('pause')
  expect(await post(running, dispatched(waiting, 1, 2))).toBe(202)
  await untilShipment(running, waiting, ['pending'])
  await stop()
  await run('cp', ['-a', path.join(folder, 'data'), path.join(folder, 'backup')])

  // What is lost: the sending of that command, an event with its command, and a second event of the same line.
  running = await start()
  await pause('resume')
  await untilShipment(running, waiting, ['confirmed'])
  const lost: readonly ErpEvent[] = [dispatched(partly, 1, 1), dispatched(partly, 2, 1)]
  for (const event of lost) expect(await post(running, event)).toBe(202)
  await untilShipment(running, partly, ['confirmed', 'confirmed'])
  await stop()
  expect([await shippedUnits(sandbox, waiting), await shippedUnits(sandbox, partly)]).toEqual([2, 2])

  await rm(path.join(folder, 'data'), { recursive: true })
  await run('cp', ['-a', path.join(folder, 'backup'), path.join(folder, 'data')])
  running = await start({ AFTER_RESTORE: 'on' })
  await running.program.says('AFTER_RESTORE is on')
  await untilShipment(running, waiting, ['pending'])
  await pause('resume')
  const [found] = await untilShipment(running, waiting, ['confirmed'])
  expect(found?.reason).toContain('before the database was restored')
  // The ERP posts again whatever it posted since the backup, and what has happened meanwhile.
  for (const event of lost) expect(await post(running, event)).toBe(202)
  // Each finds its own parcel on the line.
  await untilShipment(running, partly, ['confirmed', 'confirmed'])
  expect(await post(running, dispatched(untouched, 1, 3))).toBe(202)
  await untilShipment(running, untouched, ['confirmed'])
  expect(await post(running, dispatched(partly, 3, 2))).toBe(202)
  await untilShipment(running, partly, ['confirmed', 'confirmed', 'confirmed'])
  expect([
    await shippedUnits(sandbox, waiting),
    await shippedUnits(sandbox, partly),
    await shippedUnits(sandbox, untouched),
  ]).toEqual([2, 4, 3])
  await stop()
})
