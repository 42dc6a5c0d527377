import { z } from 'zod'
import type { CliContext } from './context.ts'
import { notBegun } from './faults.ts'
import { count, pause, print, printJson, printTable, say } from './terminal.ts'

const retainedSchema = z.looseObject({
  data: z.string(),
  setting: z.string(),
  keepMs: z.number().nullable(),
  table: z.string(),
  rows: z.number(),
  bytes: z.number(),
  oldest: z.string().nullable(),
  going: z.looseObject({ rows: z.number(), bytes: z.number() }),
  estimated: z.boolean(),
  running: z.boolean(),
  dueAt: z.string(),
  lastRemoved: z.number().nullable(),
})
type Retained = z.infer<typeof retainedSchema>

const read = async ({ daemon }: CliContext): Promise<readonly Retained[]> =>
  (await daemon.get('/v1/retention', z.looseObject({ items: z.array(retainedSchema) }), { timeoutMs: lookTimeoutMs })).items

/** Time-out of the request, in milliseconds: large tables take a while. */
const lookTimeoutMs = 120_000
/** Interval of checking whether the removal is done, in milliseconds. */
const lookEveryMs = 500

const units = ['B', 'kB', 'MB', 'GB', 'TB'] as const

/** A size in the unit that fits: `512 B`, `4.1 MB`. */
export const bytesText = (bytes: number): string => {
  const step = bytes < 1 ? 0 : Math.min(Math.floor(Math.log10(bytes) / 3), units.length - 1)
  const amount = bytes / 1_000 ** step
  return `${step === 0 ? Math.round(amount) : amount.toFixed(1)} ${units[step] ?? 'B'}`
}

const keptFor = (keepMs: number | null): string => {
  if (keepMs === null) return 'forever'
  const days = keepMs / 86_400_000
  return days >= 1 ? `${Number(days.toFixed(1))}d` : `${Math.round(keepMs / 1_000)}s`
}

const about = (estimated: boolean, text: string): string => (estimated ? `~${text}` : text)

/** `tallyman retention show`: retention periods, and what is due for removal. */
export const showRetention = async (context: CliContext): Promise<void> => {
  const { terminal } = context
  const items = await read(context)
  if (terminal.json) return printJson(terminal, { items })
  printTable(
    terminal,
    [
      { heading: 'setting' },
      { heading: 'kept' },
      { heading: 'table' },
      { heading: 'rows', align: 'right' },
      { heading: 'size', align: 'right' },
      { heading: 'oldest' },
      { heading: 'going', align: 'right' },
      { heading: 'of size', align: 'right' },
    ],
    items.map((item) => [
      item.setting,
      keptFor(item.keepMs),
      item.table,
      about(item.estimated, item.rows.toLocaleString('en-US')),
      bytesText(item.bytes),
      item.oldest ?? '',
      about(item.estimated, item.going.rows.toLocaleString('en-US')),
      about(true, bytesText(item.going.bytes)),
    ]),
  )
  say(
    terminal,
    'data of open commands, events, alarms and differences is kept at any age; `tallyman retention run` removes the rest now',
  )
}

/**
 * `tallyman retention run`: has old data removed now, and waits until it is. The daemon does it: interrupting this command does not stop it.
 *
 * @param waitMs so long it waits, in milliseconds, while no process is at it
 * @throws Failed when none has been at it for so long
 */
export const runRetention = async (context: CliContext, waitMs: number): Promise<void> => {
  const { terminal, daemon, signal } = context
  const { askedAt } = await daemon.post('/v1/retention/run', z.looseObject({ askedAt: z.string() }))
  const isDone = ({ keepMs, running, dueAt }: Retained): boolean =>
    keepMs === null || (!running && Date.parse(dueAt) > Date.parse(askedAt))
  let movedAtMs = performance.now()
  let doneBefore = 0
  for (;;) {
    const items = await read(context)
    const done = items.filter(isDone).length
    if (done < items.length) {
      if (done > doneBefore || items.some(({ running }) => running)) movedAtMs = performance.now()
      doneBefore = done
      if (performance.now() - movedAtMs > waitMs)
        throw notBegun(
          items.flatMap((item) => (isDone(item) ? [] : item.table)).join(', '),
          waitMs,
          '`tallyman retention` shows when',
        )
      await pause(lookEveryMs, signal)
      continue
    }
    const gone = items.filter(({ keepMs }) => keepMs !== null)
    if (terminal.json)
      return printJson(terminal, { items: gone.map(({ data, lastRemoved }) => ({ data, removed: lastRemoved })) })
    for (const { table, lastRemoved } of gone) print(terminal, `${table}: ${count(lastRemoved ?? 0, 'row')} removed or emptied`)
    return
  }
}
