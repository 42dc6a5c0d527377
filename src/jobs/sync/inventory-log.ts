import { z } from 'zod'
import type { CallOptions } from '../../clients/call-options.ts'
import { inventoryLogEndpoint } from '../../clients/marketplace/inventory-log.ts'
import type { InventoryLogEntry } from '../../domain/inventory-log.ts'
import { hasUnknownReason } from '../../domain/log-reasons.ts'
import { reviewDiscrepancies } from '../../store/discrepancies.ts'
import { findDifferingEntries, noteGoneEntries, storeDifferingEntries } from '../../store/inventory-log.ts'
import { dueSkus, lockSkus, noteDifferingSkus, noteLogReads, noteOrderSkus } from '../../store/inventory-skus.ts'
import { noteUnknownReasons } from '../../store/log-reasons.ts'
import { answeredOf, noteOf, unreadableOf } from './inventory-log-notes.ts'
import { failureOf, readBatch } from './inventory-log-reading.ts'
import { resource } from './resource.ts'
import type { StreamContext } from './stream.ts'
import { type WalkPage, walk } from './streams.ts'

/** SKUs of one page of the engine, and how many of them are asked for at the same time. */
const skusAtOnce = 48

/** Where the stream stands between two pages. The number makes each place another one. */
const placeShape = z.object({
  page: z.number(),
  /** SKUs whose readings may not be stored yet when the next ones are chosen. */
  being: z.array(z.string()),
  /** Not all of what was due had been read. */
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
  await noteOrderSkus(database, sellerId, client.clock().now())
  if (page === 0) await noteDifferingSkus(database, sellerId, client.clock().now())
  const withGtin = inventoryLog.keyedBy === 'gtin'
  const due = await dueSkus(database, sellerId, { by, except: being, withGtin, limit: skusAtOnce })
  const readings = await readBatch(context, due, options)
  const failure = await failureOf(context, readings, options)
  if (failure !== null) throw failure
  const answers = readings.flatMap(({ pages }) => pages)
  const marketplaceNow = client.clock().now()
  // A run that has to stop fails for that reason alone.
  const counted = options.signal.aborted ? readings.filter((reading) => reading.failure === null) : readings
  // The estimate of the marketplace's clock may have stepped back since the run began; what was read must not be due to the same run.
  const readAt = new Date(Math.max(marketplaceNow.getTime(), by.getTime() + 1))
  const notes = counted.flatMap((reading) => noteOf(reading, readAt) ?? [])
  const unreadable = counted.flatMap((reading) => unreadableOf(reading, notes))
  const leftOver = notes.length < due.length || notes.some(({ dueAt }) => dueAt === null)
  const last = due.length < skusAtOnce && !leftOver && !more
  const place: Place = { page: page + 1, being: notes.map(({ sku }) => sku), more: leftOver }
  return {
    answers,
    records: readings.flatMap(({ records }) => records),
    next: last ? null : place,
    unreadable,
    answered: counted.flatMap(answeredOf),
    ...(notes.length === 0
      ? {}
      : {
          alongside: async (tx) => {
            const gone = await noteGoneEntries(
              tx,
              sellerId,
              readings.flatMap(({ whole }) => whole),
            )
            const comparable = await noteLogReads(tx, sellerId, notes)
            const months = [...comparable, ...gone.map(({ sku, at }) => ({ sku, month: client.vocabulary.calendar.monthOf(at) }))]
            if (months.length > 0) await reviewDiscrepancies(tx, sellerId, months)
          },
        }),
  }
}

/**
 * Every SKU whose log is due, most urgent first. One window, "now", holds all that was due when the run began; what becomes due at once
 * while it goes on is read with it.
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
  poll: { variable: 'POLL_INVENTORY_LOG', ordinaryMs: 3_600_000, demonstrationMs: 30_000 },
  enrolment: 'needed',
  // No past to ask for: each SKU's first read goes back as far as the marketplace does.
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
      await noteUnknownReasons(tx, sellerId, unknown)
      const { calendar } = tx.vocabularyOf(sellerId)
      const months = new Map(
        touched.map(({ sku, at }) => {
          const month = calendar.monthOf(at)
          return [`${month} ${sku}`, { sku, month }]
        }),
      )
      if (months.size > 0) await reviewDiscrepancies(tx, sellerId, [...months.values()])
      return changed
    },
  },
})
