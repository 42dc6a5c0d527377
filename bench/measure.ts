import { chmod, mkdtemp, readFile, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { parseArgs } from 'node:util'
import type pg from 'pg'

/** Reads the V8 options of `npm start`. @throws Error when there are none: memory measured without them says nothing of the daemon */
const flagsOfStart = async (): Promise<readonly string[]> => {
  const script = await readFile(new URL('../scripts/start.sh', import.meta.url), 'utf8')
  const flags = /^run \S*node (?<flags>.*) src\/main\.ts$/m.exec(script)?.groups?.['flags']?.split(' ') ?? []
  if (flags.length === 0) throw new Error('scripts/start.sh starts the daemon without V8 options')
  return flags
}

/** The V8 options of `npm start`: memory is measured with the daemon's settings. */
export const daemonFlags: readonly string[] = await flagsOfStart()

/** A folder for an embedded Postgres, which as root runs under a user who must be able to enter it. The caller removes it. */
export const benchFolder = async (): Promise<string> => {
  const folder = await mkdtemp(path.join(tmpdir(), 'tallyman-bench-'))
  await chmod(folder, 0o755)
  return folder
}

/** The value in the middle; of an even number of values the upper of the two. */
export const median = (values: readonly number[]): number =>
  [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN

/** The value that this share of the values does not exceed, such as 0.95. */
export const percentile = (values: readonly number[], share: number): number =>
  [...values].sort((a, b) => a - b)[Math.ceil(values.length * share) - 1] ?? Number.NaN

/** What a bench takes besides numbers with a name. */
interface OtherOptions {
  /** The numbers may stand there without their names, too, in their order. */
  readonly inOrder?: boolean
  /** Names of options without a value. */
  readonly flags?: readonly string[]
  /** Whether it is reported where queues are. */
  readonly queues?: boolean
}

/** What a bench was reported. */
interface BenchOptions<Name extends string> {
  readonly numbers: Readonly<Record<Name, number>>
  readonly flags: ReadonlySet<string>
  readonly queues: 'postgres' | 'redis'
}

/** An option that a bench does not take, or a value that the option does not. */
class Misused extends Error {}

const isMisused = (error: unknown): error is Error =>
  error instanceof Misused || (error instanceof TypeError && 'code' in error && String(error.code).startsWith('ERR_PARSE_ARGS'))

const readOptions = <Name extends string>(
  presets: Readonly<Record<Name, number>>,
  { inOrder = false, flags = [], queues = false }: OtherOptions,
): BenchOptions<Name> => {
  const names = Object.keys(presets).filter((name): name is Name => Object.hasOwn(presets, name))
  const { values, positionals } = parseArgs({
    options: {
      ...Object.fromEntries([...names, ...(queues ? ['queues'] : [])].map((name) => [name, { type: 'string' as const }])),
      ...Object.fromEntries(flags.map((name) => [name, { type: 'boolean' as const }])),
    },
    allowPositionals: inOrder,
  })
  if (positionals.length > names.length) throw new Misused(`takes ${names.length} numbers without a name at most`)
  const numbers: Record<Name, number> = { ...presets }
  for (const [index, name] of names.entries()) {
    const text = values[name] ?? positionals[index]
    if (text === undefined) continue
    if (!(Number(text) > 0)) throw new Misused(`--${name} needs a number above zero`)
    numbers[name] = Number(text)
  }
  const { queues: where = 'postgres' } = values
  if (where !== 'postgres' && where !== 'redis') throw new Misused('--queues is postgres or redis')
  return { numbers, flags: new Set(flags.filter((name) => values[name] === true)), queues: where }
}

/** Reads what a bench was reported; a number has its preset where it was not. Anything else ends the process with code 2 before the bench has begun. */
export const benchOptions = <Name extends string>(
  presets: Readonly<Record<Name, number>>,
  others: OtherOptions = {},
): BenchOptions<Name> => {
  try {
    return readOptions(presets, others)
  } catch (error) {
    if (!isMisused(error)) throw error
    const known = [...Object.keys(presets), ...(others.flags ?? []), ...(others.queues === true ? ['queues'] : [])]
    const accepted = known.length === 0 ? 'it takes no options' : `it takes ${known.map((name) => `--${name}`).join(', ')}`
    // Advice of Node after the first sentence is about positions, which nobody asked for.
    const [said] = error.message.split('. ')
    console.error(`${path.basename(process.argv[1] ?? 'bench')}: ${said}; ${accepted}`)
    return process.exit(2)
  }
}

/** Write-ahead log that the server has written since its creation, in bytes. */
export const walBytes = async (client: pg.Client): Promise<number> => {
  const { rows } = await client.query<{ bytes: string }>(`SELECT pg_current_wal_insert_lsn() - '0/0'::pg_lsn AS bytes`)
  return Number(rows[0]?.bytes)
}

/** Resident memory of a process in MB (1,000,000 bytes): now, and the highest since the start or the last {@link forgetPeak}. Linux only. */
export const residentMb = async (pid: number): Promise<{ readonly now: number; readonly peak: number }> => {
  const status = await readFile(`/proc/${pid}/status`, 'utf8')
  const field = (name: string): number => (Number(new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(status)?.[1]) * 1_024) / 1e6
  return { now: field('VmRSS'), peak: field('VmHWM') }
}

/** Makes the peak of {@link residentMb} start again. */
export const forgetPeak = (pid: number): Promise<void> => writeFile(`/proc/${pid}/clear_refs`, '5')

const tickMs = 10
const readTicks = async (pid: number): Promise<number> => {
  // A server process may end between being listed and being looked at; its time is then in its parent's.
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => null)
  if (stat === null) return 0
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return fields.slice(11, 15).reduce((sum, ticks) => sum + Number(ticks), 0)
}

/** Processor time that a process and its children have used, in ms. Linux only. */
export const processorMs = async (pid: number): Promise<number> => {
  const listed = await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8')
  const children = listed.split(' ').filter(Boolean).map(Number)
  const ticks = await Promise.all([pid, ...children].map(readTicks))
  return ticks.reduce((sum, each) => sum + each, 0) * tickMs
}
