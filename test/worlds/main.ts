import { Command } from 'commander'
import { openDatabase } from '../../src/store/db/database.ts'
import { startTestPostgres } from '../support/postgres.ts'
import { findVocabulary } from '../support/vocabulary.ts'
import { listFaults, play } from './play.ts'
import { buildWorld } from './world.ts'

const whole = (text: string): number => {
  const value = Number(text)
  if (!Number.isSafeInteger(value) || value < 0) throw new Error(`${text} is no whole number`)
  return value
}

const { count, from, only } = new Command('worlds')
  .description(
    'Plays random worlds of stock into a Postgres of its own and compares what is found. Ends with 1 when one is not found out.',
  )
  .option('--count <number>', 'how many', whole, 50)
  .option('--from <number>', 'the seed of the first one', whole, 1)
  .option('--only <number>', 'plays the one world of this seed', whole)
  .parse()
  .opts<{ count: number; from: number; only?: number }>()

const seeds = only === undefined ? Array.from({ length: count }, (_, index) => from + index) : [only]
const postgres = await startTestPostgres()
// A database of its own for some at a time keeps its tables small.
const worldsOfOneDatabase = 50
let broken = 0
let differences = 0
const startedMs = performance.now()
for (let at = 0; at < seeds.length; at += worldsOfOneDatabase) {
  const database = openDatabase({ findVocabulary, url: await postgres.database() })
  for (const seed of seeds.slice(at, at + worldsOfOneDatabase)) {
    const world = buildWorld(seed)
    const played = await play(database, world)
    const faults = listFaults(world, played)
    differences += played.open.length + played.settled.length
    if (faults.length === 0) continue
    broken += 1
    console.log(`world ${seed}, from ${world.months[0]}:\n  ${faults.join('\n  ')}`)
  }
  await database.close()
}
await postgres.stop()
const seconds = ((performance.now() - startedMs) / 1_000).toFixed(0)
console.log(`${seeds.length} worlds, ${differences} differences found or settled, ${broken} worlds with faults, ${seconds} s`)
process.exitCode = broken > 0 ? 1 : 0
