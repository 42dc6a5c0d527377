/**
 * The store path against the usual ways, in one process and on one embedded Postgres.
 * `node bench/store.ts [orders] [rounds]`; prints medians and ratios.
 */

import { rm } from 'node:fs/promises'
import pg from 'pg'
import type { PurchaseOrder } from '../src/domain/orders/order.ts'
import { startEmbeddedPostgres } from '../src/embedded/postgres.ts'
import { type Database, openDatabase } from '../src/store/db/database.ts'
import { migrate } from '../src/store/db/migrate.ts'
import { rawHash, type StorableRecord } from '../src/store/versioned/versions.ts'
import { storeOrders } from '../test/support/store.ts'
import { findVocabulary } from '../test/support/vocabulary.ts'
import { generateOrder } from './generate.ts'
import { benchFolder, benchOptions, median } from './measure.ts'

type Order = StorableRecord<PurchaseOrder>

const sellerId = 'bench'
const pageSize = 200
const { orders, rounds } = benchOptions({ orders: 20_000, rounds: 5 }, { inOrder: true }).numbers
const usualOrders = Math.min(orders, 1_000)

/** A way to store pages. */
interface Way {
  readonly name: string
  readonly orders: number
  open(url: string): Promise<{ store(page: readonly Order[]): Promise<unknown>; close(): Promise<unknown> }>
  readonly connections: number
}

const header = (order: PurchaseOrder, rawText: string) => ({
  customerOrderId: order.customerOrderId,
  orderDate: order.orderDate,
  shipNodeType: order.shipNodeType,
  methodCode: order.methodCode,
  estimatedShipDate: order.estimatedShipDate,
  estimatedDeliveryDate: order.estimatedDeliveryDate,
  customerName: order.customerName,
  customerEmail: order.customerEmail,
  customerPhone: order.customerPhone,
  shippingAddress: JSON.parse(JSON.stringify(order.shippingAddress)),
  totalAmount: order.totalAmount,
  currency: order.currency,
  open: true,
  rawHash: Buffer.from(rawHash(rawText), 'hex'),
  raw: JSON.parse(rawText),
  observedAt: new Date(),
  firstSeenAt: new Date(),
  changedAt: new Date(),
})

const storeUsually = async (database: Database, { value: order, rawText }: Order): Promise<void> => {
  const key = { sellerId, purchaseOrderId: order.purchaseOrderId }
  const fields = header(order, rawText)
  const lines = order.lines.map((line, lineIndex) => {
    const lineFields = {
      lineIndex,
      sku: line.sku,
      productName: line.productName,
      unitOfMeasure: line.unitOfMeasure,
      ordered: line.ordered,
      acknowledged: line.units.acknowledged,
      shipped: line.units.shipped,
      cancelled: line.units.cancelled,
      refunded: line.units.refunded,
      refundedAmount: line.refundedAmount,
      currency: line.currency,
      charges: JSON.parse(JSON.stringify(line.charges)),
      refundReasons: [],
      intentToCancel: line.intentToCancel,
      statusDate: line.statusDate,
      raw: JSON.parse(JSON.stringify(line.raw)),
      firstSeenAt: new Date(),
      changedAt: new Date(),
    }
    const statuses = line.statuses.map((status, position) => {
      const statusFields = {
        status: status.status,
        quantity: status.quantity,
        carrier: status.carrier,
        methodCode: status.methodCode,
        trackingNumber: status.trackingNumber,
        trackingUrl: status.trackingUrl,
        shippedAt: status.shippedAt,
        raw: JSON.parse(JSON.stringify(status.raw)),
        firstSeenAt: new Date(),
        changedAt: new Date(),
      }
      const statusKey = { ...key, lineNumber: line.lineNumber, position }
      return {
        where: { sellerId_purchaseOrderId_lineNumber_position: statusKey },
        create: { position, ...statusFields },
        update: statusFields,
      }
    })
    const lineKey = { ...key, lineNumber: line.lineNumber }
    return {
      where: { sellerId_purchaseOrderId_lineNumber: lineKey },
      create: { lineNumber: line.lineNumber, ...lineFields, statuses: { create: statuses.map((entry) => entry.create) } },
      update: { ...lineFields, statuses: { upsert: statuses } },
    }
  })
  await database.prisma.order.upsert({
    where: { sellerId_purchaseOrderId: key },
    create: { ...key, ...fields, lines: { create: lines.map((entry) => entry.create) } },
    update: { ...fields, lines: { upsert: lines } },
  })
}

const usual: Way = {
  name: 'Prisma upsert loop, nested',
  orders: usualOrders,
  connections: 1,
  open: async (url) => {
    const database = openDatabase({ findVocabulary, url, connections: 1 })
    return {
      store: async (page) => {
        for (const order of page) await storeUsually(database, order)
      },
      close: () => database.close(),
    }
  },
}

const plainWrite = `
  WITH t AS MATERIALIZED (
    SELECT * FROM jsonb_to_recordset($2::jsonb) AS t(po text, hash text, customer_order_id text, order_date timestamptz,
      ship_node_type text, method_code text, esd timestamptz, edd timestamptz, name text, email text, phone text, address jsonb,
      total numeric, currency text, raw jsonb, lines jsonb)
  ), o AS (
    INSERT INTO warehouse.orders (seller_id, purchase_order_id, customer_order_id, order_date, ship_node_type, method_code,
      estimated_ship_date, estimated_delivery_date, customer_name, customer_email, customer_phone, shipping_address, total_amount,
      currency, open, raw_hash, raw, observed_at, first_seen_at, changed_at)
    SELECT $1, po, customer_order_id, order_date, ship_node_type, method_code, esd, edd, name, email, phone, address, total, currency,
      true, decode(hash, 'hex'), raw, now(), now(), now() FROM t
    ON CONFLICT (seller_id, purchase_order_id) DO UPDATE SET raw_hash = excluded.raw_hash, raw = excluded.raw,
      customer_order_id = excluded.customer_order_id, total_amount = excluded.total_amount, observed_at = now(), changed_at = now()
  ), l AS MATERIALIZED (
    SELECT t.po, x.* FROM t, LATERAL jsonb_to_recordset(t.lines) AS x(line_number text, line_index int, sku text, product_name text,
      uom text, ordered int, acknowledged int, shipped int, cancelled int, refunded int, refunded_amount numeric, currency text,
      charges jsonb, status_date timestamptz, raw jsonb, statuses jsonb)
  ), ol AS (
    INSERT INTO warehouse.order_lines (seller_id, purchase_order_id, line_number, line_index, sku, product_name, unit_of_measure,
      ordered, acknowledged, shipped, cancelled, refunded, refunded_amount, currency, charges, refund_reasons, intent_to_cancel,
      status_date, raw, first_seen_at, changed_at)
    SELECT $1, po, line_number, line_index, sku, product_name, uom, ordered, acknowledged, shipped, cancelled, refunded,
      refunded_amount, currency, charges, '[]', false, status_date, raw, now(), now() FROM l
    ON CONFLICT (seller_id, purchase_order_id, line_number) DO UPDATE SET ordered = excluded.ordered,
      acknowledged = excluded.acknowledged, shipped = excluded.shipped, cancelled = excluded.cancelled,
      refunded = excluded.refunded, status_date = excluded.status_date, raw = excluded.raw, changed_at = now()
  )
  INSERT INTO warehouse.order_line_statuses (seller_id, purchase_order_id, line_number, position, status, quantity, carrier,
    method_code, tracking_number, tracking_url, shipped_at, raw, first_seen_at, changed_at)
  SELECT $1, l.po, l.line_number, s.position, s.status, s.quantity, s.carrier, s.method_code, s.tracking_number, s.tracking_url,
    s.shipped_at, s.raw, now(), now()
  FROM l, LATERAL jsonb_to_recordset(l.statuses) AS s(position int, status text, quantity int, carrier text, method_code text,
    tracking_number text, tracking_url text, shipped_at timestamptz, raw jsonb)
  ON CONFLICT (seller_id, purchase_order_id, line_number, position) DO UPDATE SET status = excluded.status,
    quantity = excluded.quantity, carrier = excluded.carrier, tracking_number = excluded.tracking_number,
    shipped_at = excluded.shipped_at, raw = excluded.raw, changed_at = now()`

const plainRow = ({ value: order, rawText }: Order, hash: string): string => {
  const fields = {
    po: order.purchaseOrderId,
    hash,
    customer_order_id: order.customerOrderId,
    order_date: order.orderDate,
    ship_node_type: order.shipNodeType,
    method_code: order.methodCode,
    esd: order.estimatedShipDate,
    edd: order.estimatedDeliveryDate,
    name: order.customerName,
    email: order.customerEmail,
    phone: order.customerPhone,
    address: order.shippingAddress,
    total: order.totalAmount,
    currency: order.currency,
    lines: order.lines.map((line, line_index) => ({
      line_number: line.lineNumber,
      line_index,
      sku: line.sku,
      product_name: line.productName,
      uom: line.unitOfMeasure,
      ordered: line.ordered,
      ...line.units,
      refunded_amount: line.refundedAmount,
      currency: line.currency,
      charges: line.charges,
      status_date: line.statusDate,
      raw: line.raw,
      statuses: line.statuses.map((status, position) => ({
        position,
        status: status.status,
        quantity: status.quantity,
        carrier: status.carrier,
        method_code: status.methodCode,
        tracking_number: status.trackingNumber,
        tracking_url: status.trackingUrl,
        shipped_at: status.shippedAt,
        raw: status.raw,
      })),
    })),
  }
  return `${JSON.stringify(fields).slice(0, -1)},"raw":${rawText}}`
}

const plain = (connections: number): Way => ({
  name: `select hashes, then one statement (pg), ${connections} connection${connections > 1 ? 's' : ''}`,
  orders,
  connections,
  open: async (url) => {
    const pool = new pg.Pool({ connectionString: url, max: connections })
    return {
      store: async (page) => {
        const { rows } = await pool.query<{ purchase_order_id: string; raw_hash: Buffer }>(
          'SELECT purchase_order_id, raw_hash FROM warehouse.orders WHERE seller_id = $1 AND purchase_order_id = ANY($2)',
          [sellerId, page.map((order) => order.key)],
        )
        const stored = new Map(rows.map((row) => [row.purchase_order_id, row.raw_hash.toString('hex')]))
        const differing = page.flatMap((order) => {
          const hash = rawHash(order.rawText)
          return stored.get(order.key) === hash ? [] : [plainRow(order, hash)]
        })
        if (differing.length > 0) await pool.query(plainWrite, [sellerId, `[${differing.join(',')}]`])
      },
      close: () => pool.end(),
    }
  },
})

const ours = (connections: number): Way => ({
  name: `Tallyman's store path, ${connections} connection${connections > 1 ? 's' : ''}`,
  orders,
  connections,
  open: async (url) => {
    const database = openDatabase({ findVocabulary, url, connections })
    return {
      store: (records) => storeOrders(database, { sellerId, records, observedAt: new Date() }),
      close: () => database.close(),
    }
  },
})

const countPages = (all: readonly Order[], count: number): (readonly Order[])[] =>
  Array.from({ length: Math.ceil(count / pageSize) }, (_, page) =>
    all.slice(page * pageSize, Math.min((page + 1) * pageSize, count)),
  )

interface Figures {
  readonly first: number
  readonly unchanged: number
  readonly changed: number
  readonly walUnchanged: number
  readonly walFirst: number
}

const walPosition = async (client: pg.Client): Promise<number> => {
  const { rows } = await client.query<{ bytes: string }>(`SELECT pg_current_wal_lsn() - '0/0'::pg_lsn AS bytes`)
  return Number(rows[0]?.bytes)
}

const measure = async (way: Way, url: string, versions: readonly (readonly Order[])[]): Promise<Figures> => {
  const admin = new pg.Client({ connectionString: url })
  await admin.connect()
  const target = await way.open(url)
  const pass = async (all: readonly Order[]): Promise<{ rate: number; wal: number }> => {
    const pages = countPages(all, way.orders)
    await admin.query('CHECKPOINT')
    const walBefore = await walPosition(admin)
    const started = performance.now()
    const lanes = Array.from({ length: way.connections }, async () => {
      for (let page = pages.shift(); page !== undefined; page = pages.shift()) await target.store(page)
    })
    await Promise.all(lanes)
    const seconds = (performance.now() - started) / 1_000
    return { rate: way.orders / seconds, wal: (await walPosition(admin)) - walBefore }
  }
  try {
    await admin.query(
      'TRUNCATE warehouse.orders, warehouse.order_lines, warehouse.order_line_statuses, warehouse.changes, tallyman.superseded_versions',
    )
    await target.store([generateOrder(9_999_999, 0)])
    const [zero = [], one = []] = versions
    const first = await pass(zero)
    // What a first load leaves for later (hint bits under checksums) is not the second pass's doing.
    await admin.query('VACUUM')
    const unchanged = await pass(zero)
    const changed = await pass(one)
    return {
      first: first.rate,
      unchanged: unchanged.rate,
      changed: changed.rate,
      walUnchanged: unchanged.wal,
      walFirst: first.wal,
    }
  } finally {
    await target.close()
    await admin.end()
  }
}

const run = async (): Promise<void> => {
  const folder = await benchFolder()
  const server = await startEmbeddedPostgres({ dataDir: folder, say: () => undefined })
  try {
    await migrate(server.url)
    const zero = Array.from({ length: orders }, (_, order) => generateOrder(order, 0))
    const one = zero.map((order, index) => (index % 20 === 0 ? generateOrder(index, 1) : order))
    const bytes = zero.reduce((sum, order) => sum + order.rawText.length, 0) / orders
    const ways = [usual, plain(1), ours(1), plain(2), ours(2)]
    const all = new Map<Way, Figures[]>(ways.map((way) => [way, []]))
    for (let round = 0; round < rounds; round += 1) {
      for (const way of ways) all.get(way)?.push(await measure(way, server.url, [zero, one]))
    }
    const of = (way: Way, pick: (figures: Figures) => number): number => median((all.get(way) ?? []).map(pick))
    console.log(
      `${orders} orders of ${Math.round(bytes)} bytes, ${pageSize} a page, medians of ${rounds} rounds; orders a second`,
    )
    console.table(
      ways.map((way) => {
        const reference = ways.find((other) => other.name.startsWith('select') && other.connections === way.connections) ?? way
        const ratio = (pick: (figures: Figures) => number): string => (of(way, pick) / of(reference, pick)).toFixed(2)
        const overUsual = (pick: (figures: Figures) => number): string => (of(way, pick) / of(usual, pick)).toFixed(1)
        return {
          way: way.name,
          'first load': Math.round(of(way, (figures) => figures.first)),
          unchanged: Math.round(of(way, (figures) => figures.unchanged)),
          '5 % changed': Math.round(of(way, (figures) => figures.changed)),
          'WAL first, MB': (of(way, (figures) => figures.walFirst) / 1e6).toFixed(1),
          'WAL unchanged, MB': (of(way, (figures) => figures.walUnchanged) / 1e6).toFixed(3),
          'to plain (first/unch./5 %)': `${ratio((figures) => figures.first)} / ${ratio((figures) => figures.unchanged)} / ${ratio((figures) => figures.changed)}`,
          'to usual (first/unch./5 %)': `${overUsual((figures) => figures.first)} / ${overUsual((figures) => figures.unchanged)} / ${overUsual((figures) => figures.changed)}`,
        }
      }),
    )
  } finally {
    await server.stop()
    await rm(folder, { recursive: true, force: true })
  }
}

await run()
