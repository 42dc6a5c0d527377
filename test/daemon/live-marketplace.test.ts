import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { configuration, region, settings } from '../domain/support/shipping-settings.ts'
import { startTestDaemon, type TestDaemon } from '../support/daemon.ts'
import { cloudEvent } from '../support/events.ts'
import { eventually } from '../support/eventually.ts'
import { startTestPostgres, type TestPostgres } from '../support/postgres.ts'
import { query } from '../support/query.ts'
import { startTestSandbox, type TestSandbox } from '../support/sandbox.ts'
import { sandboxSeller } from './support.ts'

// What only the live marketplace has (profile `walmart-us`), through the whole daemon.

let postgres: TestPostgres
let sandbox: TestSandbox
let folder: string
let databaseUrl: string
let daemon: TestDaemon

beforeAll(async () => {
  ;[postgres, sandbox] = await Promise.all([startTestPostgres(), startTestSandbox({ MARKETPLACE_PROFILE: 'walmart-us' })])
  folder = await mkdtemp(path.join(tmpdir(), 'tallyman-live-'))
  databaseUrl = await postgres.database()
  daemon = await startTestDaemon({
    ...sandboxSeller,
    DATABASE_URL: databaseUrl,
    DATA_DIR: folder,
    MARKETPLACE_URL: sandbox.url,
    MARKETPLACE_PROFILE: 'walmart-us',
    POLL_ORDERS: '1s',
    REQUEST_TIMEOUT: '1s',
    SETTLE_TIME: '2s',
  })
})
afterAll(async () => {
  await daemon.program.kill()
  await Promise.all([postgres.stop(), sandbox.stop()])
  await rm(folder, { recursive: true, force: true })
})

describe('shipping settings', () => {
  const methods = [
    {
      shippingMethod: 'STANDARD',
      carriers: [{ carrierName: 'UPS', carrierService: 'UPS_GROUND' }],
      configurations: [configuration([region('C')])],
    },
    {
      shippingMethod: 'EXPEDITED',
      carriers: [{ carrierName: 'UPS', carrierService: 'UPS_2DAY_AIR' }],
      configurations: [configuration([region('C')])],
    },
  ]
  const post = (id: string, overrides: object) =>
    daemon.call('POST', '/v1/events', {
      ...cloudEvent({
        id,
        type: 'erp.shipping-settings.defined',
        data: { simplifiedShippingSettings: settings(overrides) },
      }),
    })

  test('in the first form are refused with what to leave out', async () => {
    const { status, body } = await post('priority', { carrierConfigs: methods })
    expect(status).toBe(422)
    expect(JSON.stringify(body)).toContain('accountConfigs.shippingPriority')
    expect(JSON.stringify(body)).toContain('is not part of the shipping settings of this marketplace: leave it out')
  })

  test('with one region under two methods are created once, though the answer is lost', async () => {
    await sandbox.next({ fault: 'timeoutAfter', operation: 'shipping-settings.create' })
    const { status } = await post('methods', { shippingPriority: undefined, carrierConfigs: methods })
    expect(status).toBe(202)
    await eventually(async () => {
      const rows = await query(databaseUrl, 'SELECT state, reason FROM tallyman.commands')
      expect(rows).toEqual([{ state: 'confirmed', reason: expect.stringContaining('by reading') }])
    })
    const [stored] = await query(databaseUrl, 'SELECT shipping_priority, source, raw FROM warehouse.shipping_settings')
    expect(stored).toMatchObject({ shipping_priority: null, source: 'command' })
    expect(JSON.stringify(stored)).toContain('"shippingMethod":"EXPEDITED"')
    expect(JSON.stringify(stored)).not.toContain('shippingPriority')
    expect((await sandbox.effects()).filter(({ kind }) => kind === 'shipping-settings-created')).toHaveLength(1)
  })
})
