import pg from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startTestDaemon, type TestDaemon } from '../support/daemon.ts'
import { withDatabase } from '../support/database.ts'
import { reportedParcel } from '../support/events.ts'
import { eventually } from '../support/eventually.ts'
import { startTestSandbox, type TestSandbox } from '../support/sandbox.ts'

const stage = withDatabase()
let sandbox: TestSandbox
let daemon: TestDaemon
let client: pg.Client

beforeAll(async () => {
  sandbox = await startTestSandbox()
  client = new pg.Client({ connectionString: stage.url })
  await client.connect()
  daemon = await startTestDaemon({
    DATABASE_URL: stage.url,
    MARKETPLACE_URL: sandbox.url,
    SELLER_ID: 'sandbox-seller',
    CLIENT_ID: 'sandbox-client',
    CLIENT_SECRET: 'sandbox-secret',
    POLL_ORDERS: 'off',
    POLL_RETURNS: 'off',
    POLL_ORDER_SWEEP: 'off',
  })
})
afterAll(async () => {
  await client.end()
  await daemon.program.stop()
  await sandbox.stop()
})

test('rows that an ERP inserts in its own transaction become effects at the marketplace', async () => {
  const purchaseOrderId = await sandbox.place({ lines: [{ lineNumber: '1', sku: 'KETTLE', quantity: 2 }] })
  const insert = (id: string, type: string, data: object) =>
    client.query('INSERT INTO tallyman.erp_event (source, id, type, data) VALUES ($1, $2, $3, $4)', [
      '/erp',
      id,
      type,
      { purchaseOrderId, ...data },
    ])
  await client.query('BEGIN')
  await insert('accept', 'erp.order.accepted', {})
  await insert('dispatch', 'erp.shipment.dispatched', {
    parcels: [reportedParcel('1Z1', { sku: 'KETTLE', quantity: 2 })],
  })
  await insert('too-much', 'erp.credit.issued', { lines: [{ lineNumber: 1, quantity: 3, reason: 'DamagedItem' }] })
  await client.query('COMMIT')

  await eventually(async () => {
    const { rows } = await client.query('SELECT id, status FROM tallyman.erp_event ORDER BY sequence')
    expect(rows).toEqual([
      { id: 'accept', status: 'accepted' },
      { id: 'dispatch', status: 'accepted' },
      { id: 'too-much', status: 'rejected' },
    ])
    expect((await sandbox.summary()).find((line) => line.purchaseOrderId === purchaseOrderId)).toMatchObject({
      acknowledged: 2,
      shipped: 2,
      refunded: 0,
    })
  })
  const { body } = await daemon.call('GET', '/v1/events/%2Ferp/too-much')
  expect(JSON.stringify(body)).toContain('data.lines[0].quantity')
})
