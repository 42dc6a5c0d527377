import { setTimeout as delay } from 'node:timers/promises'
import type { ChangeRecord } from '../../domain/changes/catalogue.ts'
import { prepared } from '../db/prepared-statements.ts'

/** Stores the recorded changes of a transaction, as its last statement; its parameter is {@link serializeChanges}. */
export const insertUnnumbered = prepared('INSERT INTO tallyman.unnumbered_changes (changes) VALUES ($1::jsonb)')

/** Changes of one transaction as the parameter of {@link insertUnnumbered}. */
export const serializeChanges = (changes: readonly ChangeRecord[]): string =>
  JSON.stringify(
    changes.map((change, index) => ({
      ordinal: index + 1,
      seller_id: change.sellerId,
      type: change.type,
      purchase_order_id: change.purchaseOrderId ?? null,
      line_number: change.lineNumber ?? null,
      return_order_id: change.returnOrderId ?? null,
      command_id: change.commandId ?? null,
      data: change.data,
    })),
  )

// Lock, numbering and COMMIT are one message, so that no frozen process can keep the lock. Committed rows are read under the lock, so a later row is
// never numbered while an earlier committed one is missed.
const numberCommitted = `
  SELECT pg_advisory_xact_lock(7255313);
  WITH moved AS (
    DELETE FROM tallyman.unnumbered_changes RETURNING id, occurred_at, changes
  ), expanded AS (
    SELECT row_number() OVER (ORDER BY m.id, c.ordinal) AS place, m.occurred_at, c.*
    FROM moved m CROSS JOIN LATERAL jsonb_to_recordset(m.changes) AS c(ordinal int, seller_id text, type text, purchase_order_id text,
      line_number text, return_order_id text, command_id text, data jsonb)
  ), counter AS (
    UPDATE tallyman.change_counter SET last_seq = last_seq + (SELECT count(*) FROM expanded) WHERE EXISTS (SELECT FROM expanded) RETURNING last_seq
  ), written AS (
    INSERT INTO warehouse.changes (seq, seller_id, type, purchase_order_id, line_number, return_order_id, command_id, data, occurred_at)
    SELECT counter.last_seq - (SELECT count(*) FROM expanded) + e.place, e.seller_id, e.type, e.purchase_order_id,
      e.line_number, e.return_order_id, e.command_id, e.data, e.occurred_at
    FROM expanded e, counter
  )
  SELECT pg_notify('tallyman_changes', '') FROM counter`

/**
 * Numbers all committed changes in the order of their insertion, and notifies. When it resolves, all changes that were committed before the call have
 * numbers. Numbers become visible in order and without gaps, because only one numbering runs at a time.
 */
export const numberChanges = async (sql: { execute(text: string): Promise<number> }): Promise<void> => {
  await sql.execute(numberCommitted)
}

/** Numbers the changes of this process, and those that dead processes have left. */
export interface Numbering {
  /** Call it after the commit of a transaction that recorded changes. Never throws. */
  recorded(): void
  /** Resolves once all recorded changes are numbered, or their numbering has failed. */
  close(): Promise<void>
}

/** Changes that are recorded within this time are numbered together. */
const batchMs = 20

interface NumberingOptions {
  /** Interval of numbering without a call of `recorded`, in milliseconds; null: never. */
  readonly everyMs: number | null
  /** Called when a numbering failed; the next one numbers its changes too. */
  readonly onError: (error: unknown) => void
}

/** @param number see {@link numberChanges}; it is called once at a time */
export const createNumbering = (number: () => Promise<void>, { everyMs, onError }: NumberingOptions): Numbering => {
  let running: Promise<void> | null = null
  let isMore = false
  const run = async (): Promise<void> => {
    await delay(batchMs)
    isMore = false
    await number().catch(onError)
    running = isMore ? run() : null
  }
  const recorded = (): void => {
    isMore = true
    running ??= run()
  }
  const ticking = everyMs === null ? undefined : setInterval(recorded, everyMs).unref()
  return {
    recorded,
    close: async () => {
      clearInterval(ticking)
      while (running !== null) await running
    },
  }
}
