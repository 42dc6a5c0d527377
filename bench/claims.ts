/**
 * Claims and differences over HTTP, of a month with many rows of which each lost a unit. `node bench/claims.ts [rows]`; prints the median of
 * each answer alternating with a list of two sellers.
 */

import { rm } from 'node:fs/promises'
import { startEmbeddedPostgres } from '../src/embedded/postgres.ts'
import { openDatabase } from '../src/store/db/database.ts'
import { migrate } from '../src/store/db/migrate.ts'
import { reviewDiscrepancies } from '../src/store/inventory/discrepancies.ts'
import { startServer } from '../test/http/support.ts'
import { storeReport } from '../test/store/support/inventory.ts'
import { findVocabulary } from '../test/support/vocabulary.ts'
import { alternately } from './answer-times.ts'
import { benchFolder, benchOptions, median } from './measure.ts'

const { rows } = benchOptions({ rows: 300_000 }, { inOrder: true }).numbers
const sellerId = 's-1'
const month = '2026-03'
const batch = 1_000
const rounds = 15

const plain = '/v1/sellers'
const asked = {
  'claims of the month': `/v1/claims?month=${month}`,
  'a page of 1,000 differences': `/v1/discrepancies?month=${month}&limit=1000`,
  'differences of one SKU': `/v1/discrepancies?month=${month}&sku=SKU-7`,
  'differences of a kind that none has': `/v1/discrepancies?month=${month}&kind=carry-over`,
} as const

const folder = await benchFolder()
const server = await startEmbeddedPostgres({ dataDir: folder, say: () => undefined })
await migrate(server.url)
const database = openDatabase({ findVocabulary, url: server.url, connections: 4 })
const http = await startServer(database)
try {
  for (let from = 0; from < rows; from += batch) {
    const skus = Array.from({ length: Math.min(batch, rows - from) }, (_, at) => `SKU-${from + at}`)
    await storeReport(
      database,
      sellerId,
      month,
      '2026-04-01T07:00:00Z',
      skus.map((sku) => ({ sku, beginning: 20, ending: 15, lost: 2, sold: 2 })),
    )
    await database.transaction((tx) =>
      reviewDiscrepancies(
        tx,
        sellerId,
        skus.map((sku) => ({ sku, month })),
      ),
    )
  }
  await database.execute('ANALYZE')
  const reported = []
  for (const [what, path] of Object.entries(asked)) {
    const { these, others } = await alternately(`${http.url}${path}`, `${http.url}${plain}`, rounds)
    const [ms, plainMs] = [median(these), median(others)]
    reported.push({ what, ms, slowestMs: Math.max(...these), toPlain: ms / plainMs })
  }
  console.table(
    reported.map(({ what, ms, slowestMs, toPlain }) => ({
      what,
      'median, ms': ms.toFixed(0),
      'slowest, ms': slowestMs.toFixed(0),
      'to a list of sellers': toPlain.toFixed(1),
    })),
  )
  process.send?.({ slowestMs: Math.max(...reported.map(({ slowestMs }) => slowestMs)) })
} finally {
  await http.close()
  await database.close()
  await server.stop()
  await rm(folder, { recursive: true, force: true })
}
