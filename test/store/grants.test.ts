import pg from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { applyGrants, grantsScript } from '../../src/store/db/grants.ts'
import { migrate } from '../../src/store/db/migrate.ts'
import { markedColumns } from '../../src/store/privacy/personal-data.ts'
import { cli } from '../cli/run.ts'
import { startTestDaemon } from '../support/daemon.ts'
import { accepted, cloudEvent } from '../support/events.ts'
import { startTestPostgres, type TestPostgres } from '../support/postgres.ts'
import { startTestSandbox } from '../support/sandbox.ts'

let postgres: TestPostgres
let url: string
beforeAll(async () => {
  postgres = await startTestPostgres()
  url = await postgres.database()
})
afterAll(() => postgres.stop())

const connected = async <Result>(at: string, work: (client: pg.Client) => Promise<Result>): Promise<Result> => {
  const client = new pg.Client({ connectionString: at })
  await client.connect()
  try {
    return await work(client)
  } finally {
    await client.end()
  }
}

const run = (sql: string, at: string = url) => connected(at, async (client) => (await client.query(sql)).rows)

/** An address for a login of its own, which is a member of these roles. */
const login = async (name: string, ...roles: readonly string[]): Promise<string> => {
  await run(`CREATE ROLE ${name} LOGIN PASSWORD 'secret'`)
  for (const role of roles) await run(`GRANT ${role} TO ${name}`)
  const address = new URL(url)
  address.username = name
  address.password = 'secret'
  return address.href
}

const order = (sellerId: string, id: string) =>
  `INSERT INTO warehouse.orders (seller_id, purchase_order_id, customer_order_id, customer_name, open, raw_hash, raw, observed_at, first_seen_at, changed_at)
   VALUES ('${sellerId}', '${id}', 'c-${id}', 'Ada', true, '\\x00', '{}', now(), now(), now())`

const denied = /permission denied/

describe('the migration makes the roles', () => {
  test('which may not log in', async () => {
    expect(await run(`SELECT rolname, rolcanlogin, rolsuper FROM pg_roles WHERE rolname LIKE 'tallyman_%' ORDER BY 1`)).toEqual(
      ['tallyman_bi', 'tallyman_daemon', 'tallyman_erp'].map((rolname) => ({ rolname, rolcanlogin: false, rolsuper: false })),
    )
  })

  test('in many databases of a cluster concurrently', async () => {
    const empty = await Promise.all([1, 2, 3].map(() => postgres.emptyDatabase()))
    await Promise.all(empty.map((at) => migrate(at)))
    for (const at of empty) {
      expect(await run(`SELECT has_column_privilege('tallyman_bi', 'warehouse.orders', 'open', 'SELECT') AS may`, at)).toEqual([
        { may: true },
      ])
    }
  })

  test('or uses those that there are, where it may not make any', async () => {
    const at = await login('plain_owner')
    const name = 'of_plain_owner'
    await run(`CREATE DATABASE ${name} OWNER plain_owner TEMPLATE template0`)
    const owned = at.replace(/\/[^/]+$/, `/${name}`)
    expect(await migrate(owned)).not.toEqual([])
    // The roles are there from other databases of the cluster: an owner may give them what it owns.
    expect(await run(`SELECT has_column_privilege('tallyman_bi', 'warehouse.orders', 'open', 'SELECT') AS may`, owned)).toEqual([
      { may: true },
    ])
    await connected(owned, async (client) => {
      const { granted, missing } = await applyGrants(client)
      expect({ granted: granted.length, missing }).toEqual({ granted: 3, missing: [] })
    })
    const stranger = (await login('stranger')).replace(/\/[^/]+$/, `/${name}`)
    expect(await cli(['grants'], { DATABASE_URL: stranger })).toMatchObject({
      code: 1,
      messages: expect.stringContaining('--print'),
    })
  })
})

test('where the roles are missing and may not be made, the migration does without them, and tallyman grants names them', {
  timeout: 240_000,
}, async () => {
  const bare = await startTestPostgres()
  try {
    await bare.database()
    await run('ALTER ROLE tallyman_bi RENAME TO another_bi', bare.url)
    await run('ALTER ROLE tallyman_erp RENAME TO another_erp', bare.url)
    await run(`CREATE ROLE modest LOGIN PASSWORD 'secret'`, bare.url)
    await run('CREATE DATABASE of_modest OWNER modest TEMPLATE template0', bare.url)
    const address = new URL(bare.url.replace(/\/[^/]+$/, '/of_modest'))
    address.username = 'modest'
    address.password = 'secret'
    expect(await migrate(address.href)).not.toEqual([])
    const { code, out, messages } = await cli(['grants'], { DATABASE_URL: address.href })
    expect({ code, out }).toEqual({ code: 1, out: 'tallyman_daemon has its rights\n' })
    expect(messages).toContain('this login may not create tallyman_erp, tallyman_bi')
    expect(await run('SELECT relrowsecurity FROM pg_class WHERE oid = $$warehouse.orders$$::regclass', address.href)).toEqual([
      { relrowsecurity: true },
    ])
  } finally {
    await bare.stop()
  }
})

describe('tallyman_erp', () => {
  test('inserts events and reads their results, and nothing else', async () => {
    const erp = await login('erp_of_test', 'tallyman_erp')
    await run(
      `INSERT INTO tallyman.erp_event (source, id, type, data) VALUES ('/erp', '1', 'erp.order.accepted', '{"purchaseOrderId": "1"}')`,
      erp,
    )
    expect(await run(`SELECT status, problem FROM tallyman.erp_event WHERE id = '1'`, erp)).toEqual([
      { status: 'received', problem: null },
    ])
    expect(await run('SELECT state, reason FROM tallyman.commands', erp)).toEqual([])
    const forbidden = [
      `INSERT INTO tallyman.erp_event (source, id, type, data, status) VALUES ('/erp', '2', 'x', '{}', 'accepted')`,
      `UPDATE tallyman.erp_event SET status = 'accepted'`,
      'DELETE FROM tallyman.erp_event',
      'SELECT data FROM tallyman.erp_event',
      'SELECT payload FROM tallyman.commands',
      'SELECT 1 FROM tallyman.command_attempts',
      'SELECT 1 FROM tallyman.audit_entries',
      'SELECT 1 FROM warehouse.orders',
      'CREATE TABLE tallyman.own (a int)',
    ]
    for (const sql of forbidden) await expect(run(sql, erp), sql).rejects.toThrow(denied)
  })

  test('puts events in, and reads them and their commands, of its sellers only where a role is bound to them', async () => {
    const event = (id: string, data: object) =>
      `INSERT INTO tallyman.erp_event (source, id, type, data) VALUES ('/bound', '${id}', 'erp.order.accepted', '${JSON.stringify(data)}')`
    const command = (id: string, sellerId: string) =>
      `INSERT INTO tallyman.commands (id, seller_id, purchase_order_id, kind, state, payload) VALUES ('${id}', '${sellerId}', '1', 'cancel', 'held', '{}')`
    for (const seller of ['e-1', 'e-2']) await run(command(`of ${seller}`, seller))
    await run('CREATE ROLE erps_of_two NOLOGIN')
    await run('GRANT tallyman_erp TO erps_of_two')
    await run(`INSERT INTO tallyman.seller_roles VALUES ('erps_of_two', 'e-2')`)
    const bound = await login('erp_of_two', 'erps_of_two')
    const free = await login('erp_of_all', 'tallyman_erp')

    await run(event('of one', { sellerId: 'e-1', purchaseOrderId: '1' }), free)
    await run(event('of none', { purchaseOrderId: '1' }), free)
    await run(event('waiting', { sellerId: ' e-2 ', purchaseOrderId: '1' }), free)
    const [own] = await run(`${event('own', { sellerId: 'e-2', purchaseOrderId: '1' })} RETURNING status`, bound)
    expect(own).toEqual({ status: 'received' })
    const foreign = [{ sellerId: 'e-1' }, { sellerId: 2 }, { sellerId: null }, {}, ['e-2']]
    for (const as of ['erp_of_two', 'tallyman_erp']) {
      for (const data of foreign) {
        const put = connected(bound, async (client) => {
          await client.query(`SET ROLE ${as}`)
          await client.query(event('foreign', data))
        })
        await expect(put, JSON.stringify(data)).rejects.toThrow(/row-level security/)
      }
    }
    // Once an event has a seller, it is that seller's, whatever its data says or has lost.
    await run(`UPDATE tallyman.erp_event SET seller_id = 'e-2', data = '{}' WHERE id = 'own'`)
    await run(event('moved', { sellerId: 'e-2' }))
    await run(`UPDATE tallyman.erp_event SET seller_id = 'e-1' WHERE id = 'moved'`)

    const events = `SELECT id FROM tallyman.erp_event WHERE source = '/bound' ORDER BY id`
    const commands = `SELECT id FROM tallyman.commands WHERE id LIKE 'of e-%' ORDER BY id`
    expect(await run(events, bound)).toEqual([{ id: 'own' }, { id: 'waiting' }])
    expect(await run(commands, bound)).toEqual([{ id: 'of e-2' }])
    expect(await run(events, free)).toEqual(['moved', 'of none', 'of one', 'own', 'waiting'].map((id) => ({ id })))
    expect(await run(commands, free)).toEqual([{ id: 'of e-1' }, { id: 'of e-2' }])
    // The owner is not asked.
    expect(
      await run(
        `SELECT relname, relrowsecurity, relforcerowsecurity FROM pg_class WHERE oid IN ('tallyman.erp_event'::regclass, 'tallyman.commands'::regclass) ORDER BY 1`,
      ),
    ).toEqual(['commands', 'erp_event'].map((relname) => ({ relname, relrowsecurity: true, relforcerowsecurity: false })))
    await run(`DELETE FROM tallyman.commands WHERE id LIKE 'of e-%'`)
    await run(`DELETE FROM tallyman.erp_event WHERE source = '/bound'`)
  })
})

describe('tallyman_bi', () => {
  test('reads the warehouse but for its buyers, and nothing else', async () => {
    await run(order('s-1', '1'))
    const bi = await login('bi_of_test', 'tallyman_bi')
    const ofWarehouse = (await markedColumns()).filter(({ table }) => table.startsWith('warehouse.'))
    await connected(bi, async (client) => {
      for (const { table, column, mark } of ofWarehouse) {
        const read = client.query(`SELECT "${column}" FROM ${table} LIMIT 1`)
        if (mark === 'buyer') await expect(read, `${table}.${column}`).rejects.toThrow(denied)
        else await expect(read, `${table}.${column}`).resolves.toBeDefined()
      }
    })
    const forbidden = [
      'SELECT * FROM warehouse.orders',
      'SELECT 1 FROM tallyman.erp_event',
      'SELECT sku FROM tallyman.inventory_skus',
      `UPDATE warehouse.orders SET open = false`,
      'DELETE FROM warehouse.changes',
      'CREATE TABLE warehouse.own (a int)',
    ]
    for (const sql of forbidden) await expect(run(sql, bi), sql).rejects.toThrow(denied)
  })

  test('sees one seller only where a role is bound to one, through views too', async () => {
    await run(order('s-2', '2'))
    for (const seller of ['s-1', 's-2'])
      await run(`INSERT INTO tallyman.inventory_skus (seller_id, sku, source) VALUES ('${seller}', 'A', 'settings')`)
    await run('CREATE ROLE readers_of_two NOLOGIN')
    await run('GRANT tallyman_bi TO readers_of_two')
    await run(`INSERT INTO tallyman.seller_roles VALUES ('readers_of_two', 's-2')`)
    const bound = await login('reader_of_two', 'readers_of_two')
    const free = await login('reader_of_all', 'tallyman_bi')
    const sellers = 'SELECT DISTINCT seller_id FROM warehouse.orders ORDER BY 1'
    expect(await run(sellers, bound)).toEqual([{ seller_id: 's-2' }])
    expect(await run(sellers, free)).toEqual([{ seller_id: 's-1' }, { seller_id: 's-2' }])
    expect(await run('SELECT seller_id FROM warehouse.inventory_log_freshness', bound)).toEqual([{ seller_id: 's-2' }])
    await expect(run(`DELETE FROM tallyman.seller_roles`, bound)).rejects.toThrow(denied)
    // Whoever is bound may become a role that is not, and stays bound; who may become several is bound by each.
    const as = (role: string, address: string) =>
      connected(address, async (client) => {
        await client.query(`SET ROLE ${role}`)
        return (await client.query(sellers)).rows
      })
    expect(await as('tallyman_bi', bound)).toEqual([{ seller_id: 's-2' }])
    await run('CREATE ROLE readers_of_one NOLOGIN')
    await run('GRANT tallyman_bi TO readers_of_one')
    await run(`INSERT INTO tallyman.seller_roles VALUES ('readers_of_one', 's-1')`)
    const either = await login('reader_of_either', 'readers_of_one', 'readers_of_two')
    expect(await as('readers_of_one', either)).toEqual([{ seller_id: 's-1' }])
    expect(await as('tallyman_bi', either)).toEqual([{ seller_id: 's-1' }, { seller_id: 's-2' }])
    await run(order('s-3', '3'))
    expect(await as('tallyman_bi', either)).toEqual([{ seller_id: 's-1' }, { seller_id: 's-2' }])
    // A superuser belongs to every role, and is bound by none.
    expect(await as('tallyman_bi', url)).toHaveLength(3)
    expect(await as('readers_of_two', url)).toEqual([{ seller_id: 's-2' }])
    // Every table of the warehouse, also those to come.
    expect(
      await run(
        `SELECT relname FROM pg_class WHERE relnamespace = 'warehouse'::regnamespace AND relkind IN ('r', 'p') AND NOT relispartition AND NOT relrowsecurity`,
      ),
    ).toEqual([])
  })
})

describe('tallyman grants', () => {
  test('grants rights on later tables, repeatedly; the printed script does the same', async () => {
    await run('REVOKE ALL ON ALL TABLES IN SCHEMA warehouse, tallyman FROM tallyman_bi, tallyman_daemon')
    await run('GRANT SELECT ON warehouse.orders TO tallyman_bi')
    const may = `SELECT has_column_privilege('tallyman_bi', 'warehouse.orders', 'open', 'SELECT') AS open,
      has_column_privilege('tallyman_bi', 'warehouse.orders', 'customer_name', 'SELECT') AS name,
      has_table_privilege('tallyman_daemon', 'tallyman.audit_entries', 'INSERT') AS audit`
    for (let time = 0; time < 2; time += 1) {
      expect((await cli(['grants'], { DATABASE_URL: url })).out).toBe(
        'tallyman_daemon has its rights\ntallyman_erp has its rights\ntallyman_bi has its rights\n',
      )
      expect(await run(may)).toEqual([{ open: true, name: false, audit: true }])
    }
    const { out } = await cli(['grants', '--print'])
    expect(out).toBe(`${await grantsScript()}\n`)
    await run(out)
    expect(await run(may)).toEqual([{ open: true, name: false, audit: true }])
  })
})

describe('tallyman_daemon', () => {
  test('is all that a daemon needs once an owner has migrated', { timeout: 240_000 }, async () => {
    const sandbox = await startTestSandbox()
    const seller = { SELLER_ID: 'sandbox-seller', CLIENT_ID: 'sandbox-client', CLIENT_SECRET: 'sandbox-secret' }
    const settings = { ...seller, MARKETPLACE_URL: sandbox.url, DATA_DIR: sandbox.folder, POLL_ORDERS: '1s' }
    // Makes the schema of the queues, once.
    const first = await startTestDaemon({ ...settings, DATABASE_URL: url })
    await first.program.stop()
    await cli(['grants'], { DATABASE_URL: url })
    const own = await login('daemon_of_test', 'tallyman_daemon')
    const daemon = await startTestDaemon({ ...settings, DATABASE_URL: own })
    try {
      const purchaseOrderId = await sandbox.place({ lines: [{ lineNumber: '1', sku: 'TEA', quantity: 2, unitPrice: '4.00' }] })
      const event = cloudEvent(accepted({ purchaseOrderId }))
      const posted = await fetch(`${daemon.url}/v1/events`, {
        method: 'POST',
        headers: { 'content-type': 'application/cloudevents+json' },
        body: JSON.stringify(event),
      })
      expect(posted.status, await posted.text()).toBe(202)
      await expect
        .poll(() => run(`SELECT state FROM tallyman.commands`), { timeout: 60_000, interval: 200 })
        .toEqual([{ state: 'confirmed' }])
      expect(daemon.program.output()).not.toMatch(denied)
      // Row-level security costs it nothing: the condition is gone when the statement is planned.
      for (const sql of [
        `SELECT * FROM warehouse.orders WHERE seller_id = 'sandbox-seller' AND purchase_order_id = '1'`,
        `SELECT * FROM tallyman.erp_event WHERE source = '/erp' AND id = 'e-1'`,
        `INSERT INTO tallyman.erp_event (source, id, type, data) VALUES ('/erp', 'e-2', 'x', '{}')`,
        `UPDATE tallyman.commands SET state = 'held' WHERE seller_id = 'sandbox-seller'`,
      ]) {
        expect(JSON.stringify(await run(`EXPLAIN (VERBOSE) ${sql}`, own)), sql).not.toMatch(/sellers_of|InitPlan/)
      }
    } finally {
      await daemon.program.stop()
      await sandbox.stop()
    }
    for (const sql of [
      'CREATE TABLE warehouse.own (a int)',
      'DROP TABLE warehouse.orders',
      'ALTER TABLE warehouse.orders DISABLE ROW LEVEL SECURITY',
    ])
      await expect(run(sql, own), sql).rejects.toThrow(/permission denied|must be owner/)
  })
})
