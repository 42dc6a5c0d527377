import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { Command, Option } from 'commander'
import { buildHistory, countSeed, shrink } from './generator.ts'
import { playHiding } from './hidden/play.ts'
import type { History } from './history.ts'
import type { RuleName } from './oracle.ts'
import { type Played, play } from './play.ts'
import { type CarrierName, type Carry, carriers, directly, openQueues, type QueueCarrier } from './queues.ts'
import { playReadings } from './reading/main.ts'
import { listFaults, stories } from './stories.ts'
import { errorCode } from './story.ts'
import { openTheatre, type Theatre } from './theatre.ts'

const whole = (text: string): number => {
  const value = Number(text)
  if (!Number.isSafeInteger(value) || value < 0) throw new Error(`${text} is no whole number`)
  return value
}

const program = new Command('histories')
  .description(
    'Plays hostile histories against the command engine, over a Postgres of its own. Ends with 1 when one is not withstood.',
  )
  .option('--reading', 'histories of reading instead: lists that lie, cursors that die, pages that corrupt')
  .option(
    '--hidden <number>',
    'with --reading: so many orders, of which the sandbox hides 1 % from its lists for ever, and 5 % for a day',
    whole,
  )
  .option('--count <number>', 'how many', whole, 500)
  .option('--from <number>', 'the first one; left out, goes on where the last run of this seed was interrupted', whole)
  .option('--seed <number>', 'of the whole row', whole, 1)
  .option('--only <number>', 'plays the one history of this seed, and tells all that happened', whole)
  .option('--story <words>', 'plays the stories whose name contains these words, and tells all that happened')
  .option('--at-once <number>', 'so many histories at the same time', whole, 4)
  .addOption(
    new Option('--queues <store>', 'steps go through the queues of the daemon in this store, or are called directly')
      .choices([...carriers, 'both'])
      .default('none'),
  )
  .option('--go-on', 'does not stop at the first that is not withstood')
  .option('--no-shrink', 'does not look for a shorter one')
  .parse()
const options = program.opts<{
  reading?: true
  hidden?: number
  count: number
  from?: number
  seed: number
  only?: number
  story?: string
  atOnce: number
  queues: CarrierName | 'both'
  goOn?: true
  shrink: boolean
}>()

const tell = (heading: string, played: Played, faults: readonly string[]): void => {
  const ends = played.commands.map(({ kind, state, reason }) => `  ${kind}: ${state}${reason === null ? '' : `, ${reason}`}`)
  const verdict = faults.length === 0 ? 'withstood' : faults.join('\n')
  console.log(`── ${heading}\n${played.trace.join('\n')}\n${ends.join('\n')}\n${verdict}\n`)
}

/** The queues that the steps go through, in turn. */
const queues: QueueCarrier[] = []
const openAll = async (): Promise<void> => {
  const wanted = options.queues === 'both' ? (['postgres', 'redis'] as const) : options.queues === 'none' ? [] : [options.queues]
  for (const store of wanted) queues.push(await openQueues(store))
}
const buildCarry = (seed: number): Carry => queues[seed % queues.length]?.carry ?? directly

const tellStories = async (theatre: Theatre, words: string): Promise<boolean> => {
  let withstood = true
  for (const story of stories.filter(({ name }) => name.includes(words))) {
    const played = await play(theatre, story.history, buildCarry(0))
    const faults = listFaults(story, played)
    withstood &&= faults.length === 0
    tell(story.name, played, faults)
  }
  return withstood
}

const findRules = (played: Played): ReadonlySet<RuleName> => new Set(played.violations.map(({ rule }) => rule))

const tellFailure = async (theatre: Theatre, seed: number, played: Played): Promise<void> => {
  console.log(`\nseed ${seed} is not withstood:\n${listFaults({}, played).join('\n')}`)
  if (!options.shrink) return
  const rules = findRules(played)
  const [worst] = rules
  const fails = async (history: History): Promise<boolean> => {
    const again = await play(theatre, history, buildCarry(seed))
    return worst !== undefined && findRules(again).has(worst)
  }
  console.log(`looking for a shorter one that breaks the rule "${worst}"`)
  const short = await shrink(seed, fails, 120_000)
  const again = await play(theatre, short, buildCarry(seed))
  tell(`seed ${seed}, shortened`, again, listFaults({}, again))
  console.log(`to keep it, in test/histories/stories:\n${errorCode(short)}\n`)
}

const hourMs = 3_600_000

/** Where a run of a seed stands, so that it can go on. */
const stateFile = path.join(tmpdir(), 'tallyman-histories', `seed-${options.seed}.json`)
const readState = async (): Promise<number> => {
  const text = await readFile(stateFile, 'utf8').catch(() => null)
  const next: unknown = text === null ? 0 : JSON.parse(text)
  return typeof next === 'number' ? next : 0
}
const writeState = async (next: number): Promise<void> => {
  // A look at some others is no progress of the row.
  if (options.from !== undefined) return
  await mkdir(path.dirname(stateFile), { recursive: true })
  await writeFile(stateFile, JSON.stringify(next))
}

const playMany = async (theatre: Theatre): Promise<boolean> => {
  const stored = options.from ?? (await readState())
  const first = stored >= options.count && options.from === undefined ? 0 : stored
  const end = options.from === undefined ? options.count : first + options.count
  if (first > 0) console.log(`going on at history ${first}; --from 0 begins anew`)
  const beganMs = performance.now()
  const broken = new Map<string, number>()
  const holds = new Map<string, number>()
  const ends = new Map<string, number>()
  let next = first
  let done = 0
  let failed = 0
  let commands = 0
  let held = 0
  let needless = 0
  let stop = false
  const progress = (): string => {
    const perHistory = (performance.now() - beganMs) / Math.max(done, 1)
    const rules = [...broken].map(([rule, count]) => `${count} ${rule}`).join(', ')
    return `${first + done} of ${end}, ${perHistory.toFixed(0)} ms each; ${commands} commands, ${held} held (${needless} needlessly); ${
      failed === 0 ? 'all withstood' : `${failed} not withstood: ${rules}`
    }`
  }
  const worker = async (): Promise<void> => {
    while (next < end && !stop) {
      const seed = countSeed(options.seed, next)
      next += 1
      const played = await play(theatre, buildHistory(seed), buildCarry(seed))
      done += 1
      commands += played.commands.length
      for (const { kind, state } of played.commands) ends.set(`${kind} ${state}`, (ends.get(`${kind} ${state}`) ?? 0) + 1)
      held += played.holds.length
      needless += played.holds.filter((hold) => hold.needless).length
      for (const { reason, needless: without } of played.holds) {
        // The details after the colon differ each time.
        const why = `${reason.split(/: | \(/)[0] ?? ''}${without ? ', NEEDLESSLY' : ''}`
        holds.set(why, (holds.get(why) ?? 0) + 1)
        if (without) console.log(`\rseed ${seed}, held needlessly: ${reason}`)
      }
      if (played.violations.length > 0) {
        failed += 1
        for (const rule of findRules(played)) broken.set(rule, (broken.get(rule) ?? 0) + 1)
        stop ||= options.goOn !== true
        if (options.goOn === true) console.log(`\rseed ${seed}: ${listFaults({}, played).join('; ')}`)
        else if (failed === 1) await tellFailure(theatre, seed, played)
      }
      if (done % 100 === 0) await writeState(Math.max(0, next - options.atOnce))
      if (process.stdout.isTTY || done % 500 === 0) process.stdout.write(`\r${progress()}${process.stdout.isTTY ? '' : '\n'}`)
    }
  }
  await Promise.all(Array.from({ length: options.atOnce }, worker))
  await writeState(failed === 0 ? end : Math.max(0, next - options.atOnce))
  console.log(`\n${progress()}`)
  for (const [end, count] of [...ends].sort()) console.log(`${String(count).padStart(6)} ${end}`)
  for (const [reason, count] of [...holds].sort((a, b) => b[1] - a[1]))
    console.log(`${String(count).padStart(6)} held: ${reason}`)
  return failed === 0
}

const theatre = await openTheatre(options.story !== undefined || options.only !== undefined ? 1 : options.atOnce)
try {
  await openAll()
  if (options.reading === true && options.hidden !== undefined) {
    const plan = {
      ...{ orders: options.hidden, forEver: 0.01, forAWhile: 0.05, whileMs: 24 * hourMs },
      ...{ arrivalMs: 12 * hourMs, pollOrdersMs: hourMs / 12 },
    }
    const { violations, figures } = await playHiding(theatre, plan, (line) => console.log(line))
    console.log([...figures, violations.length === 0 ? 'withstood' : violations.join('\n')].join('\n'))
    process.exitCode = violations.length === 0 ? 0 : 1
  } else if (options.reading === true) {
    const { from = 0, only = null, story = null, goOn = false, ...rest } = options
    process.exitCode = (await playReadings(theatre, { ...rest, from, only, story, goOn })) ? 0 : 1
  } else if (options.story !== undefined) process.exitCode = (await tellStories(theatre, options.story)) ? 0 : 1
  else if (options.only !== undefined) {
    const history = buildHistory(options.only)
    const played = await play(theatre, history, buildCarry(options.only))
    tell(`seed ${options.only}`, played, listFaults({}, played))
    console.log(errorCode(history))
    if (played.violations.length > 0 && options.shrink) await tellFailure(theatre, options.only, played)
    process.exitCode = played.violations.length === 0 ? 0 : 1
  } else process.exitCode = (await playMany(theatre)) ? 0 : 1
} finally {
  await Promise.all(queues.map((each) => each.stop()))
  await theatre.stop()
}
