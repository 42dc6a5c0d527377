import { type Database, nullableText, type Row, toInteger, toText } from '../core/database.ts'
import { type Discrepancy, discrepancyKinds } from './discrepancy.ts'
import { cells, type Item, type Movement } from './model.ts'

/** A log entry that a discrepancy can be made of. */
export interface Candidate {
  readonly movementId: number
  readonly entryId: string
  readonly movement: Movement
}

/** An entry that log and reports show later than its time. Times are milliseconds. */
export interface LateEntry {
  readonly sku: string
  readonly entryId: string
  readonly units: number
  readonly at: number
  readonly appearsAt: number
}

export interface DiscrepancyStore {
  add(discrepancy: Omit<Discrepancy, 'id'>): Discrepancy
  find(id: number): Discrepancy | null
  /** A seller's, oldest first. */
  list(sellerId: string): Discrepancy[]
  remove(id: number): void
  /** A seller's late entries, oldest first. */
  listLate(sellerId: string): LateEntry[]
  /** The first entries of sellable stock within the bounds (`to` exclusive) that log and report both show; that one only when `entryId` says which. */
  candidates(item: Item, from: number, to: number, entryId: string | null, limit: number): Candidate[]
  setInLog(movementId: number, inLog: boolean): void
  removeMovement(movementId: number): void
  /** Units that the log shows in a column of the report, positive when units left where the column counts such. */
  logged(item: Item, from: number, to: number, now: number, cell: string): number
}

export const createDiscrepancyStore = (database: Database): DiscrepancyStore => {
  const find: DiscrepancyStore['find'] = (id) => {
    const row = database.get('SELECT * FROM inventory_discrepancies WHERE id = ?', id)
    return row === undefined ? null : parseDiscrepancy(row)
  }
  return {
    add(given) {
      const row = database.get(
        `INSERT INTO inventory_discrepancies (item_id, month, kind, cell, units, movement_id, entry_id, done)
         VALUES (?, ?, ?, ?, ?, ?, ?, ?) RETURNING *`,
        given.itemId,
        given.month,
        given.kind,
        given.cell,
        given.units,
        given.movementId,
        given.entryId,
        given.done,
      )
      if (row === undefined) throw new Error('an inserted discrepancy has no number')
      return parseDiscrepancy(row)
    },
    find,
    list: (sellerId) =>
      database
        .all(
          `SELECT d.* FROM inventory_discrepancies AS d JOIN inventory_items AS i ON i.id = d.item_id WHERE i.seller_id = ? ORDER BY d.id`,
          sellerId,
        )
        .map(parseDiscrepancy),
    listLate: (sellerId) =>
      database
        .all(
          `SELECT i.sku, m.entry_id, m.units, m.at, m.appears_at FROM inventory_movements AS m JOIN inventory_items AS i ON i.id = m.item_id
           WHERE i.seller_id = ? AND m.appears_at > m.at ORDER BY m.at, m.id`,
          sellerId,
        )
        .map((row) => ({
          sku: toText(row, 'sku'),
          entryId: toText(row, 'entry_id'),
          units: toInteger(row, 'units'),
          at: toInteger(row, 'at'),
          appearsAt: toInteger(row, 'appears_at'),
        })),
    remove: (id) => {
      database.run('DELETE FROM inventory_discrepancies WHERE id = ?', id)
    },
    candidates: (item, from, to, entryId, limit) =>
      database
        .all(
          `SELECT * FROM inventory_movements WHERE item_id = ? AND at >= ? AND at < ? AND appears_at < ? AND in_log = 1 AND in_report = 1
             ${entryId === null ? '' : 'AND entry_id = ?'} ORDER BY at, id LIMIT ?`,
          item.id,
          from,
          to,
          to,
          ...(entryId === null ? [] : [entryId]),
          limit,
        )
        .map(parseCandidate),
    setInLog: (movementId, inLog) => {
      database.run('UPDATE inventory_movements SET in_log = ? WHERE id = ?', Number(inLog), movementId)
    },
    removeMovement: (movementId) => {
      database.run('DELETE FROM inventory_movements WHERE id = ?', movementId)
    },
    logged(item, from, to, now, cell) {
      const row = database.get(
        `SELECT coalesce(sum(CASE WHEN place IN ('sold', 'lost', 'damaged') THEN -units ELSE units END), 0) AS total
         FROM inventory_movements WHERE item_id = ? AND at >= ? AND at < ? AND appears_at <= ? AND in_log = 1
           AND location = 'Inventory' AND place = ?`,
        item.id,
        from,
        to,
        now,
        cell,
      )
      return row === undefined ? 0 : toInteger(row, 'total')
    },
  }
}

const parseDiscrepancy = (row: Row): Discrepancy => {
  const kind = discrepancyKinds.find((known) => known === row['kind'])
  if (kind === undefined) throw new TypeError('a discrepancy is of no known kind')
  return {
    id: toInteger(row, 'id'),
    itemId: toInteger(row, 'item_id'),
    month: toText(row, 'month'),
    kind,
    cell: cells.find((known) => known === row['cell']) ?? null,
    units: toInteger(row, 'units'),
    movementId: toInteger(row, 'movement_id'),
    entryId: nullableText(row, 'entry_id'),
    done: toText(row, 'done'),
  }
}

const parseCandidate = (row: Row): Candidate => ({
  movementId: toInteger(row, 'id'),
  entryId: toText(row, 'entry_id'),
  movement: {
    type: toText(row, 'type'),
    reasonCode: toText(row, 'reason_code'),
    reasonText: toText(row, 'reason_text'),
    at: toInteger(row, 'at'),
    appearsAt: toInteger(row, 'appears_at'),
    units: toInteger(row, 'units'),
    location: 'Inventory',
    fcName: toText(row, 'fc_name'),
    shipmentId: nullableText(row, 'shipment_id'),
    entryId: null,
    place: cells.find((cell) => cell === row['place']) ?? 'other',
    inLog: true,
    inReport: true,
  },
})
