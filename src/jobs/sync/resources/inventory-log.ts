import { z } from 'zod'
import type { CallOptions } from '../../../clients/http/call-options.ts'
import { inventoryLogEndpoint } from '../../../clients/marketplace/inventory-log.ts'
import { parseEntryTime } from '../../../clients/marketplace/inventory-log-record.ts'
import type { InventoryLogEntry } from '../../../domain/inventory/inventory-log.ts'
import { hasUnknownReason } from '../../../domain/inventory/log-reasons.ts'
import { pollIntervals } from '../../../domain/sync/intervals.ts'
import { reviewDiscrepancies } from '../../../store/inventory/discrepancies.ts'
import { reviewInbound } from '../../../store/inventory/inbound-shipments.ts'
import { findDifferingEntries, markMissingEntries, storeDifferingEntries } from '../../../store/inventory/inventory-log.ts'
import {
  findDueSkus,
  lockSkus,
  recordLogReads,
  recordOrderSkus,
  requestDifferingLogs,
} from '../../../store/inventory/inventory-skus.ts'
import { recordUnknownReasons } from '../../../store/inventory/log-reasons.ts'
import { reviewStock } from '../../../store/inventory/stock-differences.ts'
import { reviewUnreadLogs, settleUnreadEntries } from '../../../store/inventory/unread-log.ts'
import { resource } from '../engine/resource.ts'
import type { StreamContext } from '../engine/stream.ts'
import { type WalkPage, walk } from '../engine/streams.ts'
import { answeredSkus, findNote, listReadParts, listUnreadable } from './inventory-log-notes.ts'
import { findRunFailure, readBatch } from './inventory-log-reading.ts'

/** SKUs of one page of the engine. */
const skusAtOnce = 48

/** The place of the walk between two pages. The page number makes each place unique. */
const placeShape = z.object({
  page: z.number(),
  /** SKUs whose results may not be stored yet when the next ones are chosen. */
  being: z.array(z.string()),
  /** Some due SKUs are still unread. */
  more: z.boolean(),
})
type Place = z.infer<typeof placeShape>

const start: Place = { page: 0, being: [], more: false }

const readNext = async (
  context: StreamContext,
  by: Date,
  { page, being, more }: Place,
  options: CallOptions,
): Promise<WalkPage<InventoryLogEntry, Place>> => {
  const { client, database } = context
  const { sellerId } = client
  const inventoryLog = client.of(inventoryLogEndpoint)
  await recordOrderSkus(database, sellerId, client.clock().now())
  if (page === 0) await requestDifferingLogs(database, sellerId, client.clock().now())
  const withGtin = inventoryLog.keyedBy === 'gtin'
  const due = await findDueSkus(database, sellerId, { by, except: being, withGtin, limit: skusAtOnce })
  const readings = await readBatch(context, due, options)
  const failure = await findRunFailure(context, readings, options)
  if (failure !== null) throw failure
  const answers = readings.flatMap(({ pages }) => pages)
  const marketplaceNow = client.clock().now()
  // At a shutdown, requests fail for that reason alone.
  const counted = options.signal.aborted ? readings.filter((reading) => reading.failure === null) : readings
  // The estimated marketplace clock may have stepped back since the run began; a SKU that was read must not be due again in the same run.
  const readAt = new Date(Math.max(marketplaceNow.getTime(), by.getTime() + 1))
  const notes = counted.flatMap((reading) => findNote(reading, readAt) ?? [])
  const unreadable = counted.flatMap((reading) => listUnreadable(reading, notes))
  const leftOver = notes.length < due.length || notes.some(({ dueAt }) => dueAt === null)
  const last = due.length < skusAtOnce && !leftOver && !more
  const place: Place = { page: page + 1, being: notes.map(({ sku }) => sku), more: leftOver }
  return {
    answers,
    records: readings.flatMap(({ records }) => records),
    next: last ? null : place,
    unreadable,
    answered: counted.flatMap(answeredSkus),
    ...(notes.length === 0
      ? {}
      : {
          inSameTransaction: async (tx) => {
            const gone = await markMissingEntries(
              tx,
              sellerId,
              readings.flatMap(({ completeParts }) => completeParts),
            )
            const comparable = await recordLogReads(tx, sellerId, notes)
            const months = [
              ...comparable,
              ...gone.map(({ sku, at }) => ({ sku, month: client.vocabulary.calendar.formatMonth(at) })),
            ]
            if (months.length > 0) await reviewDiscrepancies(tx, sellerId, months)
            await settleUnreadEntries(tx, sellerId, readings.flatMap(listReadParts))
            const skus = readings.map(({ due: { sku } }) => sku)
            await reviewUnreadLogs(tx, sellerId, skus)
            await reviewStock(tx, sellerId, skus)
            await reviewInbound(tx, sellerId, skus)
          },
        }),
  }
}

/**
 * Every SKU whose log is due, most urgent first. The only window, "now", covers the SKUs that were due when the run began. A SKU that becomes due
 * immediately during the run is read in the same run.
 */
const due = walk<InventoryLogEntry, Place>({
  operation: inventoryLogEndpoint.operations.list,
  reads: 'the log of each SKU that is due',
  places: { shape: placeShape, start },
  step: (context, { after, plannedAt }, options) => readNext(context, plannedAt, after, options),
})

/** The inventory log, SKU by SKU, each with a watermark of its own (specification, section 7; public facts, section 7.1). */
export const inventoryLog = resource({
  name: 'inventory-log',
  endpoint: inventoryLogEndpoint,
  poll: pollIntervals.inventoryLog,
  enrolment: 'needed',
  createdAt: parseEntryTime,
  // No backfill: the first reading of each SKU covers everything that the marketplace provides.
  streams: { due },
  table: {
    findDiffering: findDifferingEntries,
    store: async (tx, sellerId, observedAt, records) => {
      if (records.length === 0) return 0
      await lockSkus(
        tx,
        sellerId,
        records.map(({ value }) => value.sku),
      )
      const { changed, touched } = await storeDifferingEntries(tx, sellerId, observedAt, records)
      const unknown = records.map(({ value }) => value).filter((entry) => hasUnknownReason(entry))
      await recordUnknownReasons(tx, sellerId, unknown)
      const { calendar } = tx.findVocabulary(sellerId)
      const months = new Map(
        touched.map(({ sku, at }) => {
          const month = calendar.formatMonth(at)
          return [`${month} ${sku}`, { sku, month }]
        }),
      )
      if (months.size > 0) await reviewDiscrepancies(tx, sellerId, [...months.values()])
      return changed
    },
  },
})
