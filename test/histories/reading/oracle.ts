import type pg from 'pg'
import type { ReadingHistory, TrueReadingOrder } from './history.ts'
import type { ReadingWorld } from './marketplace.ts'

/** What an oracle looks at. */
export interface ReadingEvidence {
  readonly history: ReadingHistory
  readonly world: ReadingWorld
  /** Of the harness. */
  readonly client: pg.Client
  readonly sellerId: string
}

const countSecond = (order: TrueReadingOrder): number => Math.floor(Math.max(order.createdMs, ...order.changedMs) / 1_000)

/** Compares what is stored with what is true; answers what does not fit, in words. */
export const judgeReading = async ({ history, world, client, sellerId }: ReadingEvidence): Promise<string[]> => {
  const violations: string[] = []
  const { rows } = await client.query<{ id: string; version: number; copies: number }>(
    `SELECT o.purchase_order_id AS id, (o.raw ->> 'version')::int AS version,
       (SELECT count(*)::int FROM warehouse.changes c WHERE c.seller_id = o.seller_id AND c.purchase_order_id = o.purchase_order_id
         AND c.type = 'order.seen') AS copies
     FROM warehouse.orders o WHERE o.seller_id = $1`,
    [sellerId],
  )
  const stored = new Map(rows.map((row) => [row.id, row]))
  const corrupt = history.orders.filter(({ poison }) => poison !== null && poison.untilMs === null)
  const corruptSeconds = new Set(corrupt.map(countSecond))
  for (const [place, order] of history.orders.entries()) {
    const id = world.findId(place)
    const row = stored.get(id)
    stored.delete(id)
    const listed = order.hiddenForMs !== null && !corrupt.includes(order)
    // What shares its second with a record that is never to be had may stand behind it on every page.
    const reachable = listed && !corruptSeconds.has(countSecond(order))
    if (row === undefined) {
      if (reachable || (order.namedBy !== 'lists' && order.poison === null))
        violations.push(`order ${id} (place ${place}) is not stored`)
      continue
    }
    if (row.copies !== 1) violations.push(`order ${id} was reported ${row.copies} times as new`)
    if (reachable && row.version !== world.readVersion(order))
      violations.push(`order ${id} (place ${place}) is stored as version ${row.version}, not ${world.readVersion(order)}`)
  }
  for (const id of stored.keys()) violations.push(`order ${id} is invented`)

  const { rows: states } = await client.query<{ stream: string; failures: number; pending: number; error: string | null }>(
    `SELECT stream, failures, jsonb_array_length(pending) AS pending, last_error AS error FROM tallyman.sync_states WHERE seller_id = $1`,
    [sellerId],
  )
  for (const { stream, failures, pending, error } of states)
    if (failures > 0 || pending > 0) violations.push(`${stream} stands still: ${failures} failures, ${pending} windows, ${error}`)

  const { rows: skipped } = await client.query<{ text: string }>(
    `SELECT raw_text AS text FROM tallyman.quarantined_records WHERE seller_id = $1 AND state = 'open' AND skipped IS NOT NULL`,
    [sellerId],
  )
  const calm =
    corrupt.length === 0 &&
    history.temper.is === 'good' &&
    history.rules.every(({ lie, share }) => lie === 'render' && share === 1)
  const { rows: ever } = await client.query<{ text: string }>(
    `SELECT raw_text AS text FROM tallyman.quarantined_records WHERE seller_id = $1 AND skipped IS NOT NULL`,
    [sellerId],
  )
  if (calm && history.orders.every(({ poison }) => poison === null))
    for (const { text } of ever) violations.push(`skipped while everything with rows failed: ${text}`)
  const { rows: alarms } = await client.query(
    `SELECT 1 FROM tallyman.alarms WHERE seller_id = $1 AND kind = 'reading-skipped' AND resolved_at IS NULL`,
    [sellerId],
  )
  if (skipped.length > 0 !== alarms.length > 0) violations.push(`${skipped.length} parts skipped, ${alarms.length} alarms`)
  const shown = corrupt.filter(({ hiddenForMs }) => hiddenForMs !== null)
  if (shown.length === 0) for (const { text } of skipped) violations.push(`still skipped though it can be read: ${text}`)
  if (shown.length > 0 && skipped.length === 0) violations.push('what cannot be read is not told')
  return violations
}
