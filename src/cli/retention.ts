import { z } from 'zod'
import type { CliContext } from './context.ts'
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

/** Looking at large tables takes a while, in milliseconds. */
const lookTimeoutMs = 120_000
/** How often it is asked whether old data has gone, in milliseconds. */
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

/** `tallyman retention show`: what is kept for how long, and what would go now. */
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
    'what open commands, events, alarms and differences need stays, whatever its age; `tallyman retention run` removes the rest now',
  )
}

/** `tallyman retention run`: has old data removed now, and waits until it is. The daemon does it: interrupting this command does not stop it. */
export const runRetention = async (context: CliContext): Promise<void> => {
  const { terminal, daemon, signal } = context
  const { askedAt } = await daemon.post('/v1/retention/run', z.looseObject({ askedAt: z.string() }))
  const isDone = ({ keepMs, running, dueAt }: Retained): boolean =>
    keepMs === null || (!running && Date.parse(dueAt) > Date.parse(askedAt))
  for (;;) {
    const items = await read(context)
    if (!items.every(isDone)) {
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
