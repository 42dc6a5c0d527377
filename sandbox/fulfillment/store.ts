import type { SQLInputValue } from 'node:sqlite'
import { type Database, nullableText, type Row, toInteger, toText } from '../core/database.ts'
import type { Item, Movement, NewItem } from './model.ts'

/** How far a seller's inventory has lived; epoch milliseconds of the virtual clock. */
export interface InventoryLife {
  readonly beganAt: number
  /** Movements of all days before this moment are written down. */
  readonly livedUntil: number
  /** When somebody last looked: what happens from now on happens later than that. */
  readonly seenAt: number
}

/** Requested entries of an item's log; bounds inclusive. */
export interface LogFilter {
  readonly from: number
  readonly to: number
  /** Entries that appear later than this are not there yet. */
  readonly now: number
  readonly shipmentId: string | null
  readonly type: string | null
  readonly location: string | null
}

/** How a log is sorted; without a column by time. */
export interface LogOrder {
  readonly column: 'units' | 'reason_code' | 'type' | 'shipment_id' | null
  readonly direction: 'ASC' | 'DESC'
}

/** One entry of the log. */
export interface LogEntry {
  readonly entryId: string
  readonly fcName: string
  readonly units: number
  readonly at: number
  readonly location: string
  readonly reasonCode: string
  readonly reasonText: string
  readonly type: string
  readonly shipmentId: string | null
}

/** The part of a month that a report counts, and what was known when it was made. */
export interface ReportPeriod {
  readonly from: number
  /** Exclusive. */
  readonly to: number
  readonly generatedAt: number
}

/** One row of the report; units that left are positive here, `other` carries its sign. */
export interface ReportRow {
  readonly sku: string
  readonly gtin: string
  readonly productName: string
  readonly beginning: number
  readonly ending: number
  readonly sold: number
  readonly returned: number
  readonly lost: number
  readonly found: number
  readonly damaged: number
  readonly other: number
}

/** A movement that was written down: its inner number and the id of its log entry. */
export interface Recorded {
  readonly movementId: number
  readonly entryId: string
}

/** Stock of an item at a moment, and units sold since another. */
export interface Demand {
  readonly stock: number
  readonly sold: number
}

/** The items of one SKU or GTIN; null: of any. */
interface ItemFilter {
  readonly sku: string | null
  readonly gtin: string | null
}

/** Some of the matching items, and the number of all. */
interface ItemPage {
  readonly items: Item[]
  readonly total: number
}

export interface InventoryStore {
  life(sellerId: string): InventoryLife | null
  keepLife(sellerId: string, life: InventoryLife): void
  /** Somebody looks at the seller's inventory now. */
  seen(sellerId: string, now: number): void
  item(sellerId: string, sku: string): Item | null
  itemsOfGtin(sellerId: string, gtin: string): Item[]
  itemById(id: number): Item | null
  /** Items by SKU, those after `afterSku`. */
  page(sellerId: string, afterSku: string, limit: number): Item[]
  /** Items by SKU from a position on, and how many there are in all; of one SKU or GTIN where it is not null. */
  list(sellerId: string, filter: ItemFilter, limit: number, offset: number): ItemPage
  /** The items that live by themselves, by SKU. */
  livingItems(sellerId: string): Item[]
  /** An item with its first movements. */
  addItem(item: NewItem, movements?: readonly Movement[]): Item
  /** Writes movements down, in this order. */
  record(item: Item, movements: readonly Movement[]): Recorded[]
  hasEntry(item: Item, entryId: string): boolean
  /** Forgets a seller's items with all that belongs to them. */
  dropItems(sellerId: string): void
  countLog(item: Item, filter: LogFilter): number
  log(item: Item, filter: LogFilter, order: LogOrder, limit: number, offset: number): LogEntry[]
  countRows(sellerId: string, period: ReportPeriod): number
  /** Rows by SKU, those after `afterSku`; of one GTIN only when it is given. */
  rows(sellerId: string, period: ReportPeriod, afterSku: string, limit: number, gtin: string | null): ReportRow[]
  /** The row of one item, `null` when the report has none. */
  row(item: Item, period: ReportPeriod): ReportRow | null
  /** The minimum of sellable units from a moment on: as many can leave then. */
  lowestStock(item: Item, from: number): number
  demand(item: Item, since: number, now: number): Demand
  totals(): { readonly skus: number; readonly movements: number; readonly discrepancies: number }
}

class SqlInventoryStore implements InventoryStore {
  readonly #database: Database

  constructor(database: Database) {
    this.#database = database
  }

  life(sellerId: string): InventoryLife | null {
    const row = this.#database.get('SELECT * FROM inventory_lives WHERE seller_id = ?', sellerId)
    if (row === undefined) return null
    return { beganAt: toInteger(row, 'began_at'), livedUntil: toInteger(row, 'lived_until'), seenAt: toInteger(row, 'seen_at') }
  }

  keepLife(sellerId: string, { beganAt, livedUntil, seenAt }: InventoryLife): void {
    this.#database.run(
      `INSERT INTO inventory_lives (seller_id, began_at, lived_until, seen_at) VALUES (?, ?, ?, ?)
       ON CONFLICT (seller_id) DO UPDATE SET lived_until = excluded.lived_until, seen_at = excluded.seen_at`,
      sellerId,
      beganAt,
      livedUntil,
      seenAt,
    )
  }

  seen(sellerId: string, now: number): void {
    this.#database.run('UPDATE inventory_lives SET seen_at = ? WHERE seller_id = ? AND seen_at < ?', now, sellerId, now)
  }

  // ── items ──

  item(sellerId: string, sku: string): Item | null {
    return this.#items('SELECT * FROM inventory_items WHERE seller_id = ? AND sku = ?', sellerId, sku)[0] ?? null
  }

  itemsOfGtin(sellerId: string, gtin: string): Item[] {
    return this.#items('SELECT * FROM inventory_items WHERE seller_id = ? AND gtin = ? ORDER BY id', sellerId, gtin)
  }

  itemById(id: number): Item | null {
    return this.#items('SELECT * FROM inventory_items WHERE id = ?', id)[0] ?? null
  }

  page(sellerId: string, afterSku: string, limit: number): Item[] {
    const statement = 'SELECT * FROM inventory_items WHERE seller_id = ? AND sku > ? ORDER BY sku LIMIT ?'
    return this.#items(statement, sellerId, afterSku, limit)
  }

  list(sellerId: string, { sku, gtin }: ItemFilter, limit: number, offset: number): ItemPage {
    const where = 'seller_id = ?1 AND (?2 IS NULL OR sku = ?2) AND (?3 IS NULL OR gtin = ?3)'
    const total = this.#count(`SELECT count(*) AS total FROM inventory_items WHERE ${where}`, sellerId, sku, gtin)
    const page = `SELECT * FROM inventory_items WHERE ${where} ORDER BY sku LIMIT ?4 OFFSET ?5`
    return { items: this.#items(page, sellerId, sku, gtin, limit, offset), total }
  }

  livingItems(sellerId: string): Item[] {
    return this.#items('SELECT * FROM inventory_items WHERE seller_id = ? AND pace > 0 ORDER BY sku', sellerId)
  }

  addItem(given: NewItem, movements: readonly Movement[] = []): Item {
    const item: Item = { ...given, id: 0, stock: given.openingUnits, entries: 0 }
    const numbered = movements.map((movement) => ({ movement, entryId: countMovement(item, movement) }))
    const row = this.#database.get(
      `INSERT INTO inventory_items (seller_id, sku, gtin, product_name, opening_units, stock, entries, pace, first_at)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) RETURNING id`,
      item.sellerId,
      item.sku,
      item.gtin,
      item.productName,
      item.openingUnits,
      item.stock,
      item.entries,
      item.pace,
      item.firstAt,
    )
    const id = integerOrZero(row, 'id')
    for (const { movement, entryId } of numbered) this.#insertMovement(id, entryId, movement)
    return { ...item, id }
  }

  dropItems(sellerId: string): void {
    const own = 'item_id IN (SELECT id FROM inventory_items WHERE seller_id = ?)'
    this.#database.run(`DELETE FROM inventory_discrepancies WHERE ${own}`, sellerId)
    this.#database.run(`DELETE FROM inventory_movements WHERE ${own}`, sellerId)
    this.#database.run('DELETE FROM inventory_items WHERE seller_id = ?', sellerId)
  }

  // ── movements and their log ──

  record(item: Item, movements: readonly Movement[]): Recorded[] {
    const recorded = movements.map((movement) => {
      const entryId = countMovement(item, movement)
      return { entryId, movementId: this.#insertMovement(item.id, entryId, movement) }
    })
    const { stock, entries, firstAt, id } = item
    const statement = 'UPDATE inventory_items SET stock = ?, entries = ?, first_at = ? WHERE id = ?'
    this.#database.run(statement, stock, entries, firstAt, id)
    return recorded
  }

  hasEntry(item: Item, entryId: string): boolean {
    const statement = 'SELECT 1 FROM inventory_movements WHERE item_id = ? AND entry_id = ?'
    return this.#database.get(statement, item.id, entryId) !== undefined
  }

  countLog(item: Item, filter: LogFilter): number {
    const { where, values } = logCondition(item, filter)
    return this.#count(`SELECT count(*) AS total FROM inventory_movements WHERE ${where}`, ...values)
  }

  log(item: Item, filter: LogFilter, { column, direction }: LogOrder, limit: number, offset: number): LogEntry[] {
    const { where, values } = logCondition(item, filter)
    const keys = [...(column === null ? [] : [column]), 'at', 'id'].map((key) => `${key} ${direction}`).join(', ')
    return this.#database
      .all(`SELECT * FROM inventory_movements WHERE ${where} ORDER BY ${keys} LIMIT ? OFFSET ?`, ...values, limit, offset)
      .map(parseLogEntry)
  }

  // ── the report of a month, and stock ──

  countRows(sellerId: string, period: ReportPeriod): number {
    const statement = 'SELECT count(*) AS total FROM inventory_items WHERE seller_id = ? AND first_at < ?'
    return this.#count(statement, sellerId, period.to)
  }

  rows(sellerId: string, period: ReportPeriod, afterSku: string, limit: number, gtin: string | null): ReportRow[] {
    return this.#database
      .all(
        `${reportSql(`SELECT * FROM inventory_items WHERE seller_id = ? AND sku > ? AND first_at < ?
           ${gtin === null ? '' : 'AND gtin = ?'} ORDER BY sku LIMIT ?`)} ORDER BY i.sku`,
        ...periodValues(period),
        sellerId,
        afterSku,
        period.to,
        ...(gtin === null ? [] : [gtin]),
        limit,
      )
      .map(parseReportRow)
  }

  row(item: Item, period: ReportPeriod): ReportRow | null {
    const statement = reportSql('SELECT * FROM inventory_items WHERE id = ? AND first_at < ?')
    const [row] = this.#database.all(statement, ...periodValues(period), item.id, period.to)
    return row === undefined ? null : parseReportRow(row)
  }

  lowestStock(item: Item, from: number): number {
    const row = this.#database.get(
      `WITH sums AS (
         SELECT at, id, sum(units) OVER (ORDER BY at, id) AS running FROM inventory_movements WHERE item_id = ?1 AND in_report = 1
       )
       SELECT min(running) AS lowest FROM (
         SELECT running FROM sums WHERE at > ?2 UNION ALL
         SELECT coalesce((SELECT running FROM sums WHERE at <= ?2 ORDER BY at DESC, id DESC LIMIT 1), 0)
       )`,
      item.id,
      from,
    )
    return item.openingUnits + integerOrZero(row, 'lowest')
  }

  demand(item: Item, since: number, now: number): Demand {
    const row = this.#database.get(
      `SELECT coalesce(sum(units), 0) AS moved,
         coalesce(sum(CASE WHEN place = 'sold' AND at >= ? THEN -units ELSE 0 END), 0) AS sold
       FROM inventory_movements WHERE item_id = ? AND at <= ? AND appears_at <= ? AND location = 'Inventory' AND in_log = 1`,
      since,
      item.id,
      now,
      now,
    )
    return { stock: item.openingUnits + integerOrZero(row, 'moved'), sold: integerOrZero(row, 'sold') }
  }

  totals(): { readonly skus: number; readonly movements: number; readonly discrepancies: number } {
    return {
      skus: this.#count('SELECT count(*) AS total FROM inventory_items'),
      movements: this.#count('SELECT count(*) AS total FROM inventory_movements'),
      discrepancies: this.#count('SELECT count(*) AS total FROM inventory_discrepancies'),
    }
  }

  #items(statement: string, ...values: readonly SQLInputValue[]): Item[] {
    return this.#database.all(statement, ...values).map(findItem)
  }

  #count(statement: string, ...values: readonly SQLInputValue[]): number {
    return integerOrZero(this.#database.get(statement, ...values), 'total')
  }

  #insertMovement(itemId: number, entryId: string, movement: Movement): number {
    const row = this.#database.get(
      `INSERT INTO inventory_movements (item_id, entry_id, at, appears_at, units, type, location, reason_code, reason_text, fc_name,
         shipment_id, place, in_log, in_report) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) RETURNING id`,
      itemId,
      entryId,
      movement.at,
      movement.appearsAt,
      movement.units,
      movement.type,
      movement.location,
      movement.reasonCode,
      movement.reasonText,
      movement.fcName,
      movement.shipmentId,
      movement.place,
      Number(movement.inLog),
      Number(movement.inReport),
    )
    if (row === undefined) throw new Error('an inserted movement has no number')
    return toInteger(row, 'id')
  }
}

/** The inventory of all sellers, in SQLite. */
export const createInventoryStore = (database: Database): InventoryStore => new SqlInventoryStore(database)

const integerOrZero = (row: Row | undefined, column: string): number => (row === undefined ? 0 : toInteger(row, column))

/** Entries are numbered within their item: an id is unique within a GTIN, not beyond it (public facts, section 7.1). */
const firstEntry = 700_000_000

/** Numbers the entry of a movement, and counts its units for the item; returns the id of the entry. */
const countMovement = (item: Item, movement: Movement): string => {
  item.entries += 1
  if (movement.inLog && movement.inReport) item.stock += movement.units
  item.firstAt = Math.min(item.firstAt, movement.at)
  return movement.entryId ?? String(firstEntry + item.entries)
}

const findItem = (row: Row): Item => {
  const pace = row['pace']
  return {
    id: toInteger(row, 'id'),
    sellerId: toText(row, 'seller_id'),
    sku: toText(row, 'sku'),
    gtin: toText(row, 'gtin'),
    productName: toText(row, 'product_name'),
    openingUnits: toInteger(row, 'opening_units'),
    stock: toInteger(row, 'stock'),
    entries: toInteger(row, 'entries'),
    pace: typeof pace === 'number' ? pace : 0,
    firstAt: toInteger(row, 'first_at'),
  }
}

const parseLogEntry = (row: Row): LogEntry => ({
  entryId: toText(row, 'entry_id'),
  fcName: toText(row, 'fc_name'),
  units: toInteger(row, 'units'),
  at: toInteger(row, 'at'),
  location: toText(row, 'location'),
  reasonCode: toText(row, 'reason_code'),
  reasonText: toText(row, 'reason_text'),
  type: toText(row, 'type'),
  shipmentId: nullableText(row, 'shipment_id'),
})

const logCondition = (item: Item, filter: LogFilter): { where: string; values: SQLInputValue[] } => {
  const parts = ['item_id = ? AND at BETWEEN ? AND ? AND appears_at <= ? AND in_log = 1']
  const values: SQLInputValue[] = [item.id, filter.from, filter.to, filter.now]
  const add = (part: string, value: string | null): void => {
    if (value === null) return
    parts.push(part)
    values.push(value)
  }
  add('shipment_id = ?', filter.shipmentId)
  add('type = ?', filter.type)
  add('location = ?', filter.location)
  return { where: parts.join(' AND '), values }
}

const periodValues = ({ from, to, generatedAt }: ReportPeriod): SQLInputValue[] => [from, to, generatedAt]

/** One row an item: what lay there before the month, what the month moved, by column. */
const reportSql = (items: string): string => {
  const cell = (place: string): string =>
    `coalesce(sum(m.units) FILTER (WHERE m.at >= p.month_from AND m.place = '${place}'), 0) AS ${place}`
  return `WITH p AS (SELECT ? AS month_from, ? AS month_to, ? AS made_at)
    SELECT i.sku, i.gtin, i.product_name,
      i.opening_units + coalesce(sum(m.units) FILTER (WHERE m.at < p.month_from OR m.place = 'carry'), 0) AS beginning,
      i.opening_units + coalesce(sum(m.units), 0) AS ending,
      ${['sold', 'returned', 'lost', 'found', 'damaged', 'other'].map(cell).join(', ')}
    FROM p, (${items}) AS i LEFT JOIN inventory_movements AS m
      ON m.item_id = i.id AND m.at <= p.month_to AND (m.at < p.month_to OR (m.place = 'carry' AND m.at = p.month_from))
      AND m.appears_at <= p.made_at AND m.in_report = 1
    GROUP BY i.id`
}

const parseReportRow = (row: Row): ReportRow => ({
  sku: toText(row, 'sku'),
  gtin: toText(row, 'gtin'),
  productName: toText(row, 'product_name'),
  beginning: toInteger(row, 'beginning'),
  ending: toInteger(row, 'ending'),
  sold: 0 - toInteger(row, 'sold'),
  returned: toInteger(row, 'returned'),
  lost: 0 - toInteger(row, 'lost'),
  found: toInteger(row, 'found'),
  damaged: 0 - toInteger(row, 'damaged'),
  other: toInteger(row, 'other'),
})
