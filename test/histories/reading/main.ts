import { countSeed } from '../generator.ts'
import type { Theatre } from '../theatre.ts'
import { buildReadingHistory, shrinkReading } from './generator.ts'
import type { ReadingHistory } from './history.ts'
import { playReading } from './play.ts'
import { readingStories } from './stories.ts'

/** What is to be played. */
export interface ReadingOptions {
  readonly count: number
  readonly from: number
  /** Of the whole row. */
  readonly seed: number
  /** The one history of this seed; null: a row of them. */
  readonly only: number | null
  /** Stories whose name contains these words; null: none. */
  readonly story: string | null
  readonly atOnce: number
  readonly goOn: boolean
  readonly shrink: boolean
}

const shrinkMs = 120_000

const tell = async (theatre: Theatre, heading: string, history: ReadingHistory): Promise<boolean> => {
  const { trace, violations, requests, runs } = await playReading(theatre, history)
  const verdict = violations.length === 0 ? 'withstood' : violations.join('\n')
  console.log(
    `── ${heading}\n${trace.join('\n')}\n${JSON.stringify(history)}\n${requests} requests in ${runs} runs: ${verdict}\n`,
  )
  return violations.length === 0
}

const tellFailure = async (theatre: Theatre, seed: number, shrink: boolean): Promise<void> => {
  const fails = async (history: ReadingHistory): Promise<boolean> => (await playReading(theatre, history)).violations.length > 0
  await tell(theatre, `seed ${seed}`, shrink ? await shrinkReading(seed, fails, shrinkMs) : buildReadingHistory(seed))
}

/** Plays histories of reading and tells what is not withstood; answers whether all were. */
export const playReadings = async (theatre: Theatre, options: ReadingOptions): Promise<boolean> => {
  const { story, only, seed: row } = options
  if (story !== null) {
    let withstood = true
    for (const { name, history } of readingStories.filter((each) => each.name.includes(story)))
      withstood = (await tell(theatre, name, history)) && withstood
    return withstood
  }
  if (only !== null) return tell(theatre, `seed ${only}`, buildReadingHistory(only))
  const end = options.from + options.count
  const failed: number[] = []
  let next = options.from
  let done = 0
  const worker = async (): Promise<void> => {
    while (next < end && (options.goOn || failed.length === 0)) {
      const seed = countSeed(row, next)
      next += 1
      const { violations } = await playReading(theatre, buildReadingHistory(seed))
      done += 1
      if (violations.length > 0) {
        failed.push(seed)
        console.log(`seed ${seed}: ${violations.join('; ')}`)
      }
      if (done % 100 === 0) console.log(`${done} of ${options.count}, ${failed.length} not withstood`)
    }
  }
  await Promise.all(Array.from({ length: options.atOnce }, worker))
  const [first] = failed
  if (first !== undefined && !options.goOn) await tellFailure(theatre, first, options.shrink)
  console.log(`${done} of ${options.count}, ${failed.length === 0 ? 'all withstood' : `${failed.length} not withstood`}`)
  return failed.length === 0
}
