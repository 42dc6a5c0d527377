import { readFileSync } from 'node:fs'
import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { cli } from '../cli/run.ts'
import { startTestDaemon } from '../support/daemon.ts'
import { eventually } from '../support/eventually.ts'
import { startTestPostgres, type TestPostgres } from '../support/postgres.ts'
import { compileModel, compileTests, modelFiles, models, sourceTables } from './dbt-project.ts'
import { dashboardPanels, expandQuery, sellerQuery } from './grafana-dashboard.ts'

// The views for BI on what the sandbox and the demonstration ERP make of a fresh database, read by a login that `tallyman grants` creates.

const views = ['sales_daily', 'refunds', 'parcels', 'fulfilment_daily', 'stock_now', 'order_payouts', 'differences'] as const
const maxWaitMs = 120_000

let folder: string
let postgres: TestPostgres
let url: string
/** Of the login for BI. */
let biUrl: string

const page = 'docs/bi.md'
const questions = [...readFileSync(page, 'utf8').matchAll(/^\*\*([^\n]+\?)\*\*\n\n```sql\n(.*?)^```$/gms)].map(
  ([, question = '', sql = '']) => ({ question, sql }),
)

const query = async (at: string, sql: string): Promise<readonly Record<string, unknown>[]> => {
  const client = new pg.Client({ connectionString: at })
  await client.connect()
  try {
    return (await client.query(sql)).rows
  } finally {
    await client.end()
  }
}

const asLogin = (name: string, password: string): string => {
  const address = new URL(url)
  address.username = name
  address.password = password
  return address.href
}

/** The password that `tallyman grants` prints for a new login. */
const passwordIn = (out: string): string => /which is shown only now, is (\S+)$/m.exec(out)?.[1] ?? ''

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'tallyman-bi-'))
  await chmod(folder, 0o755)
  postgres = await startTestPostgres()
  url = await postgres.database()
  const daemon = await startTestDaemon({
    ...{ SANDBOX_PORT: '0', DATA_DIR: folder, DATABASE_URL: url, BI_TIME_ZONE: 'America/New_York' },
  })
  try {
    await eventually(async () => {
      for (const { question, sql } of questions) expect(await query(url, sql), question).not.toEqual([])
      const counts = views.map((view) => `EXISTS (SELECT FROM warehouse.${view}) AS ${view}`).join(', ')
      const [filled = {}] = await query(url, `SELECT ${counts}`)
      expect(Object.entries(filled).flatMap(([view, isFilled]) => (isFilled === true ? [] : [view]))).toEqual([])
    }, maxWaitMs)
  } finally {
    await daemon.program.stop()
  }
  const { out } = await cli(['grants', '--bi-login', 'metabase'], { DATABASE_URL: url })
  biUrl = asLogin('metabase', passwordIn(out))
}, maxWaitMs + 60_000)
afterAll(async () => {
  await postgres?.stop()
  await rm(folder, { recursive: true, force: true })
})

describe('a login', () => {
  test('reads all columns of the views, and no buyer', async () => {
    for (const view of views) expect(await query(biUrl, `SELECT * FROM warehouse.${view} LIMIT 1`), view).toHaveLength(1)
    await expect(query(biUrl, 'SELECT customer_name FROM warehouse.orders')).rejects.toThrow(/permission denied/)
    await expect(query(biUrl, 'UPDATE tallyman.bi_settings SET time_zone = $$UTC$$')).rejects.toThrow(/permission denied/)
  })

  test('keeps its password and gets its rights again; its sellers are set by --seller', async () => {
    await query(url, `INSERT INTO tallyman.sellers (seller_id, state) VALUES ('other', 'active') ON CONFLICT DO NOTHING`)
    await query(url, 'REVOKE tallyman_bi FROM metabase')
    const again = await cli(['grants', '--bi-login', 'metabase'], { DATABASE_URL: url })
    expect(again).toMatchObject({
      code: 0,
      out: expect.stringMatching(/^metabase may .* all sellers; its password is unchanged$/m),
    })
    expect(await query(biUrl, 'SELECT sku FROM warehouse.sales_daily LIMIT 1')).toHaveLength(1)
    expect(again.out).toContain(`it connects to ${asLogin('metabase', '')}\n`)
    const restricted = await cli(['grants', '--bi-login', 'metabase_other', '--seller', 'other', '--json'], { DATABASE_URL: url })
    const { login } = JSON.parse(restricted.out)
    expect(login).toEqual({
      name: 'metabase_other',
      password: expect.stringMatching(/^[\w-]{24}$/),
      sellerIds: ['other'],
      address: asLogin('metabase_other', ''),
    })
    expect(await query(asLogin('metabase_other', login.password), 'SELECT sku FROM warehouse.sales_daily')).toEqual([])
    expect((await cli(['grants', '--bi-login', 'metabase_other'], { DATABASE_URL: url })).out).toContain('warehouse of other;')
  })

  test('is refused where it would see buyers, with a wrong name or for an unknown seller', async () => {
    await query(url, 'CREATE ROLE boss SUPERUSER LOGIN')
    const run = (...args: readonly string[]) => cli(['grants', ...args], { DATABASE_URL: url })
    expect(await run('--bi-login', 'boss')).toMatchObject({ code: 1, messages: expect.stringContaining("sees buyers' data") })
    expect(await run('--bi-login', 'fresh', '--seller', 'nobody')).toMatchObject({
      code: 1,
      messages: expect.stringContaining('unknown seller nobody'),
    })
    expect(await query(url, `SELECT FROM pg_roles WHERE rolname = 'fresh'`)).toEqual([])
    for (const args of [
      ['--bi-login', 'tallyman_bi'],
      ['--bi-login', 'Bad"name'],
      ['--seller', 'other'],
    ])
      expect(await run(...args), args.join(' ')).toMatchObject({ code: 2 })
  })

  test('is created by an administrator with the printed SQL', async () => {
    const { out } = await cli(['grants', '--print', '--bi-login', 'by_hand', '--seller', 'other'])
    await query(url, out)
    await query(url, `ALTER ROLE by_hand PASSWORD 'secret'`)
    expect(
      await query(asLogin('by_hand', 'secret'), 'SELECT tallyman.sellers_of(current_user) AS sellers').catch(String),
    ).toMatch(/permission denied for schema tallyman/)
    expect(await query(asLogin('by_hand', 'secret'), 'SELECT sku FROM warehouse.sales_daily')).toEqual([])
  })
})

/** Pairs of statements with the same result: a view, and the tables that it comes from. */
const comparisons: readonly (readonly [what: string, view: string, tables: string])[] = [
  [
    'units',
    'SELECT sum(units), sum(cancelled), sum(refunded) FROM warehouse.sales_daily',
    'SELECT sum(ordered), sum(cancelled), sum(refunded) FROM warehouse.order_lines',
  ],
  [
    'charges',
    'SELECT sum(gross + discount + shipping), sum(tax) FROM warehouse.sales_daily',
    'SELECT sum(price + shipping), sum(tax) FROM warehouse.order_money',
  ],
  [
    'refunded money by sales',
    'SELECT sum(refunded_amount + refunded_tax) FROM warehouse.sales_daily',
    'SELECT sum(refunded_amount) FROM warehouse.order_lines',
  ],
  [
    'net',
    'SELECT sum(net) FROM warehouse.sales_daily',
    'SELECT sum(gross + discount + shipping - cancelled_amount - refunded_amount) FROM warehouse.sales_daily',
  ],
  [
    'days',
    'SELECT day, sum(units) FROM warehouse.sales_daily GROUP BY day ORDER BY day',
    `SELECT (o.order_date AT TIME ZONE 'America/New_York')::date, sum(l.ordered) FROM warehouse.orders o
     JOIN warehouse.order_lines l USING (seller_id, purchase_order_id) GROUP BY 1 ORDER BY 1`,
  ],
  [
    'refunds',
    'SELECT sum(units), sum(amount + tax) FROM warehouse.refunds',
    'SELECT sum(refunded), sum(refunded_amount) FROM warehouse.order_lines',
  ],
  ['parcels', 'SELECT count(*) FROM warehouse.parcels', 'SELECT count(*) FROM warehouse.shipments'],
  [
    'units in parcels',
    'SELECT seller_id, purchase_order_id, line_number, sum(units) FROM warehouse.parcels GROUP BY 1, 2, 3 ORDER BY 1, 2, 3',
    // Units that were refunded before the order was first read are in no parcel.
    `SELECT l.seller_id, l.purchase_order_id, l.line_number, least(l.shipped, sum(s.quantity)) FROM warehouse.order_lines l
     JOIN warehouse.shipments s USING (seller_id, purchase_order_id, line_number) GROUP BY 1, 2, 3, l.shipped ORDER BY 1, 2, 3`,
  ],
  [
    'fulfilment',
    'SELECT sum(units), sum(cancelled), sum(shipped), sum(on_time + late) FROM warehouse.fulfilment_daily',
    `SELECT sum(ordered), sum(cancelled), sum(shipped), (SELECT sum(units) FROM warehouse.parcels WHERE late IS NOT NULL)
     FROM warehouse.order_lines`,
  ],
  [
    'stock',
    'SELECT sku, on_hand_units FROM warehouse.stock_now ORDER BY sku',
    `SELECT DISTINCT ON (r.sku) r.sku, r.ending_quantity + (SELECT coalesce(sum(e.changed_units), 0) FROM warehouse.inventory_log_entries e
       WHERE e.sku = r.sku AND e.transaction_time >= r.covered_until AND e.transaction_location = 'Inventory' AND e.missing_since IS NULL)
     FROM warehouse.reconciliation_current_rows r ORDER BY r.sku, r.month DESC`,
  ],
  [
    'payouts',
    `SELECT count(*), sum(payout), sum(open_amount), count(*) FILTER (WHERE state = 'pending') FROM warehouse.order_payouts`,
    `SELECT count(DISTINCT (seller_id, purchase_order_id)), sum(payout), sum(open_amount),
       count(DISTINCT (seller_id, purchase_order_id)) FILTER (WHERE open_amount > 0) FROM warehouse.order_money`,
  ],
  [
    'differences',
    'SELECT count(*), sum(abs(value)) FROM warehouse.differences',
    `SELECT count(*), sum(abs(value)) FROM (SELECT value FROM warehouse.inventory_discrepancies UNION ALL
       SELECT value FROM warehouse.stock_differences UNION ALL SELECT difference FROM warehouse.settlement_differences) d`,
  ],
]

/** Numbers as such: the same sum may be of another type. */
const readNumbers = async (sql: string): Promise<readonly (readonly unknown[])[]> =>
  (await query(url, sql)).map((row) =>
    Object.values(row).map((value) => (/^-?\d+(\.\d+)?$/.test(String(value)) ? Number(value) : String(value))),
  )

describe('the views add up to the tables', () => {
  test.each(comparisons)('%s', async (_, view, tables) => {
    const shown = await readNumbers(view)
    expect(shown.length).toBeGreaterThan(0)
    expect(shown.flat()).not.toContain('null')
    expect(shown).toEqual(await readNumbers(tables))
  })
})

test('the ten questions of docs/bi.md have answers', async () => {
  expect(questions).toHaveLength(10)
  for (const { question, sql } of questions) expect(await query(biUrl, sql), question).not.toEqual([])
})

describe('deploy/bi/dbt', () => {
  test('its sources are the views for BI', () => {
    expect(sourceTables.map(({ name }) => name).sort()).toEqual([...views].sort())
  })

  test('its tests pass on the sources', async () => {
    for (const table of sourceTables)
      for (const sql of compileTests(`warehouse.${table.name}`, table)) expect(await query(biUrl, sql), sql).toEqual([])
  })

  test('its models are built by the login in a schema of its own, have the declared columns, and pass their tests', async () => {
    await query(url, 'CREATE SCHEMA reporting AUTHORIZATION metabase')
    expect(models.map(({ name }) => name).sort()).toEqual([...modelFiles].sort())
    for (const model of models) {
      const relation = `reporting.${model.name}`
      await query(biUrl, `CREATE TABLE ${relation} AS ${compileModel(model.name)}`)
      const [row = {}] = await query(biUrl, `SELECT * FROM ${relation} LIMIT 1`)
      expect(Object.keys(row), model.name).toEqual(model.columns.map(({ name }) => name))
      for (const sql of compileTests(relation, model)) expect(await query(biUrl, sql), sql).toEqual([])
    }
  })

  test('a test of a model finds what it is for', async () => {
    await query(url, `CREATE TABLE public.twice AS SELECT * FROM (VALUES ('a', 'x'), ('a', 'y'), (NULL, 'x')) AS t(name, state)`)
    const found = (column: string, test: Parameters<typeof compileTests>[1]['data_tests'][number]) => {
      const columns = [{ name: column, description: 'A column.', data_tests: [test] }]
      const grain = { unique_rows: { arguments: { columns: ['state', 'name'] } } }
      return Promise.all(
        compileTests('public.twice', { name: 'twice', description: 'A table.', data_tests: [grain], columns }).map((sql) =>
          query(url, sql),
        ),
      )
    }
    expect(await found('name', 'not_null')).toEqual([[], [{ name: null, state: 'x' }]])
    expect(await found('state', { accepted_values: { arguments: { values: ['x'] } } })).toEqual([[], [{ state: 'y' }]])
    expect(await found('name', { unique_rows: { arguments: { columns: ['name'] } } })).toEqual([[], [{ name: 'a' }]])
  })
})

describe('deploy/bi/grafana', () => {
  const dayMs = 86_400_000
  const range = {
    from: new Date(Date.now() - 30 * dayMs),
    to: new Date(Date.now() + 7 * dayMs),
    sellerIds: ['sandbox-seller', "o'ther"],
  }

  test('the sellers to choose from are those of the orders', async () => {
    expect(await query(biUrl, expandQuery(sellerQuery(), range))).toEqual([{ seller_id: 'sandbox-seller' }])
  })

  test.each(dashboardPanels())('$title', async ({ type, targets: [{ rawSql, format }] }) => {
    const rows = await query(biUrl, expandQuery(rawSql, range))
    expect(rows).not.toEqual([])
    expect(format).toBe(type === 'timeseries' ? 'time_series' : 'table')
    if (type === 'timeseries') for (const row of rows) expect(row).toHaveProperty('time', expect.any(Date))
    // Another seller has nothing, or zeros.
    const others = await query(biUrl, expandQuery(rawSql, { ...range, sellerIds: ['other'] }))
    expect(others.flatMap((row) => Object.values(row)).filter((value) => value !== null && Number(value) !== 0)).toEqual([])
  })

  test('panels do not overlap, and have ids of their own', () => {
    const panels = dashboardPanels()
    expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length)
    const cells = panels.flatMap(({ gridPos: { x, y, w, h } }) =>
      Array.from({ length: w * h }, (_, cell) => `${x + (cell % w)}/${y + Math.floor(cell / w)}`),
    )
    expect(new Set(cells).size).toBe(cells.length)
    expect(panels.every(({ gridPos: { x, w } }) => x + w <= 24)).toBe(true)
  })

  test('an unknown macro is found', () => {
    expect(() => expandQuery('SELECT $__timeGroup(day, 1d)', range)).toThrow(RangeError)
  })
})
