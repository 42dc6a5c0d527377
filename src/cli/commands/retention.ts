import { z } from 'zod'
import type { CliContext } from '../context.ts'
import { buildNoWorkerError } from '../exit-codes.ts'
import { count, pause, print, printJson, printMessage, printTable } from '../output/terminal.ts'

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
  (await daemon.get('/v1/retention', z.looseObject({ items: z.array(retainedSchema) }), { timeoutMs: requestTimeoutMs })).items

/** Timeout of the request, in milliseconds: large tables take long. */
const requestTimeoutMs = 120_000
/** Interval of polling whether the removal is done, in milliseconds. */
const pollMs = 500

const units = ['B', 'kB', 'MB', 'GB', 'TB'] as const

/** A size in the unit that fits: `512 B`, `4.1 MB`. */
export const formatBytes = (bytes: number): string => {
  const step = bytes < 1 ? 0 : Math.min(Math.floor(Math.log10(bytes) / 3), units.length - 1)
  const amount = bytes / 1_000 ** step
  return `${step === 0 ? Math.round(amount) : amount.toFixed(1)} ${units[step] ?? 'B'}`
}

const formatPeriod = (keepMs: number | null): string => {
  if (keepMs === null) return 'forever'
  const days = keepMs / 86_400_000
  return days >= 1 ? `${Number(days.toFixed(1))}d` : `${Math.round(keepMs / 1_000)}s`
}

const markEstimate = (estimated: boolean, text: string): string => (estimated ? `~${text}` : text)

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
      { heading: 'due rows', align: 'right' },
      { heading: 'due size', align: 'right' },
    ],
    items.map((item) => [
      item.setting,
      formatPeriod(item.keepMs),
      item.table,
      markEstimate(item.estimated, item.rows.toLocaleString('en-US')),
      formatBytes(item.bytes),
      item.oldest ?? '',
      markEstimate(item.estimated, item.going.rows.toLocaleString('en-US')),
      markEstimate(true, formatBytes(item.going.bytes)),
    ]),
  )
  printMessage(
    terminal,
    'data of open commands, events, alarms and discrepancies is kept at any age; `tallyman retention run` removes the rest now',
  )
}

/**
 * `tallyman retention run`: requests the removal of old data, and waits until it is done. The daemon does it: interrupting this command does not stop it.
 *
 * @param maxIdleMs how long it waits while no process works on it, in milliseconds
 * @throws Failed when no process has worked on it for this time
 */
export const runRetention = async (context: CliContext, maxIdleMs: number): Promise<void> => {
  const { terminal, daemon, signal } = context
  const { askedAt } = await daemon.post('/v1/retention/run', z.looseObject({ askedAt: z.string() }))
  const isDone = ({ keepMs, running, dueAt }: Retained): boolean =>
    keepMs === null || (!running && Date.parse(dueAt) > Date.parse(askedAt))
  let activeAtMs = performance.now()
  let doneBefore = 0
  for (;;) {
    const items = await read(context)
    const done = items.filter(isDone).length
    if (done < items.length) {
      if (done > doneBefore || items.some(({ running }) => running)) activeAtMs = performance.now()
      doneBefore = done
      if (performance.now() - activeAtMs > maxIdleMs)
        throw buildNoWorkerError(
          items.flatMap((item) => (isDone(item) ? [] : item.table)).join(', '),
          maxIdleMs,
          '`tallyman retention` shows the progress',
        )
      await pause(pollMs, signal)
      continue
    }
    const limited = items.filter(({ keepMs }) => keepMs !== null)
    if (terminal.json)
      return printJson(terminal, { items: limited.map(({ data, lastRemoved }) => ({ data, removed: lastRemoved })) })
    for (const { table, lastRemoved } of limited)
      print(terminal, `${table}: ${count(lastRemoved ?? 0, 'row')} removed or emptied`)
    return
  }
}
