/**
 * Statements that choose due work, with a seller who has most of it. `node bench/fairness.ts [rows] [sellers]`; prints the median and the slowest of
 * each in milliseconds, beside the oldest of all by the index of their times.
 */
import { rm } from 'node:fs/promises'
import { startEmbeddedPostgres } from '../src/embedded/postgres.ts'
import { filterWithinShare, findDueCommands } from '../src/store/commands/commands.ts'
import { openDatabase } from '../src/store/db/database.ts'
import { migrate } from '../src/store/db/migrate.ts'
import { findDueEvents } from '../src/store/events/events.ts'
import { findVocabulary } from '../test/support/vocabulary.ts'
import { benchFolder, benchOptions, median } from './measure.ts'

const { rows, sellers } = benchOptions({ rows: 100_000, sellers: 1_000 }, { inOrder: true }).numbers
const rounds = 15
const maxCommands = 2_000
const maxEvents = 500

const folder = await benchFolder()
const server = await startEmbeddedPostgres({ dataDir: folder, say: () => undefined })
await migrate(server.url)
const database = openDatabase({ findVocabulary, url: server.url, connections: 2 })

/** Prints how long a statement takes; answers the median in milliseconds. */
const measure = async (what: string, work: () => Promise<readonly unknown[]>): Promise<number> => {
  const times: number[] = []
  let chosen = 0
  for (let round = 0; round < rounds; round += 1) {
    const started = performance.now()
    chosen = (await work()).length
    times.push(performance.now() - started)
  }
  const middle = median(times)
  process.stdout.write(`${what}: ${middle.toFixed(1)} ms, at most ${Math.max(...times).toFixed(1)} ms, ${chosen} chosen\n`)
  return middle
}

const commands = (what: string) => measure(what, () => findDueCommands(database, maxCommands))

try {
  await database.execute(
    `INSERT INTO tallyman.sellers (seller_id, state, served_at) SELECT 's-' || n, 'active', now() + interval '1 day' FROM generate_series(1, $1::int) n`,
    sellers,
  )
  await commands('due commands, none there')
  await database.execute(
    `INSERT INTO tallyman.commands (id, seller_id, purchase_order_id, kind, state, payload, next_action_at, act_by)
     SELECT 'many-' || n, 's-1', n::text, 'acknowledge', 'pending', '{}', now() - interval '1 hour', now() - n * interval '1 second'
     FROM generate_series(1, $1::int) n`,
    rows,
  )
  await database.execute(
    `INSERT INTO tallyman.commands (id, seller_id, purchase_order_id, kind, state, payload)
     SELECT 'few-' || n || kind, 's-' || n, n::text || kind, kind, 'pending', '{}' FROM generate_series(2, $1::int) n, unnest(ARRAY['acknowledge', 'ship']) kind`,
    sellers,
  )
  await database.execute(
    `INSERT INTO tallyman.erp_event (source, id, type, data)
     SELECT 'bench', n::text, 'erp.order.accepted', jsonb_build_object('sellerId', 's-' || greatest(1, n - $1::int), 'purchaseOrderId', n)
     FROM generate_series(1, $1::int + $2::int) n`,
    rows,
    sellers,
  )
  await database.execute('ANALYZE')
  const fairMs = await commands(`due commands, ${rows} of one seller and two of each of ${sellers - 1}`)
  const oldestMs = await measure('the same, the oldest of all', () =>
    database.query(
      `SELECT id FROM tallyman.commands WHERE state IN ('pending', 'sending', 'verifying') AND next_action_at <= now() ORDER BY next_action_at LIMIT $1`,
      maxCommands,
    ),
  )
  const eventsMs = await measure(`waiting events, ${rows} of one seller and one of each of ${sellers}`, () =>
    findDueEvents(database, maxEvents),
  )
  await measure('is a new command within its share, of a seller with many', () =>
    filterWithinShare(database, [`many-${rows - 300}`]),
  )
  await measure('is a new command within its share, of a seller with few', () => filterWithinShare(database, ['few-2ship']))
  await database.execute(
    `UPDATE tallyman.commands SET next_action_at = now() + interval '1 hour', troubled_since = now() WHERE seller_id = 's-1'`,
  )
  await commands(`due commands, all ${rows} of that seller in trouble and not due`)
  process.stdout.write(`due commands to the oldest of all: ${(fairMs / oldestMs).toFixed(1)}\n`)
  process.send?.({ fairMs, eventsMs, toOldest: fairMs / oldestMs })
} finally {
  await database.close()
  await server.stop()
  await rm(folder, { recursive: true, force: true })
}
