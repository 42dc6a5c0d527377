import { readFile } from 'node:fs/promises'
import { z } from 'zod'
import { describeError, Failed, Misused } from '../../api-client/errors.ts'
import { buildEventsRequest } from '../../api-client/events.ts'
import { formatAmount } from '../../domain/values/money.ts'
import type { CliContext } from '../context.ts'
import { printJson, printTable } from '../output/terminal.ts'

const eventSchema = z.record(z.string(), z.unknown())
const eventsSchema = z.union([z.array(eventSchema).min(1), eventSchema])

const receiptSchema = z.looseObject({
  id: z.string(),
  source: z.string(),
  status: z.string(),
  /** State of the event: a duplicate may have been rejected. */
  state: z.string().optional(),
  commands: z.array(z.string()),
})

/** Parses the events of a text. @throws Misused when it contains none */
export const parseEvents = (text: string, origin: string): z.infer<typeof eventsSchema> => {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (error) {
    throw new Misused(`${origin} is not JSON: ${describeError(error)}`)
  }
  const parsed = eventsSchema.safeParse(value)
  if (parsed.success) return parsed.data
  throw new Misused(`${origin} contains neither a CloudEvent (an object) nor a list of at least one`)
}

const read = async (file: string, readInput: () => Promise<string>): Promise<string> => {
  if (file === '-') return readInput()
  try {
    return await readFile(file, 'utf8')
  } catch (error) {
    throw new Misused(`${file} cannot be read: ${describeError(error)}`)
  }
}

const forecastSchema = z.looseObject({
  id: z.string(),
  source: z.string(),
  would: z.string(),
  commands: z.array(
    z.looseObject({
      kind: z.string(),
      lines: z.array(z.object({ lineNumber: z.string(), quantity: z.number() })),
      money: z.object({ amount: z.string(), currency: z.string() }).nullable(),
    }),
  ),
  problem: z.looseObject({ detail: z.string(), errors: z.array(z.object({ path: z.string(), message: z.string() })) }).nullable(),
})
type Forecast = z.infer<typeof forecastSchema>

const formatCommand = ({ kind, lines, money }: Forecast['commands'][number]): string =>
  [
    kind,
    lines.map(({ lineNumber, quantity }) => `${lineNumber}:${quantity}`).join(','),
    money === null ? '' : formatAmount(money.amount, money.currency),
  ]
    .filter((part) => part !== '')
    .join(' ')

const formatProblem = ({ problem }: Forecast): string => {
  if (problem === null) return ''
  return problem.errors.length === 0
    ? problem.detail
    : problem.errors.map(({ path, message }) => `${path} ${message}`.trim()).join('; ')
}

/** `tallyman send`: posts a CloudEvent or a list of them; the daemon's answer is the output. */
export const sendEvents = async (
  { terminal, daemon, settings }: CliContext,
  file: string,
  readInput: () => Promise<string>,
): Promise<void> => {
  const events = parseEvents(await read(file, readInput), file === '-' ? 'standard input' : file)
  const request = buildEventsRequest(events, settings.eventsSecret, new Date())
  const { items: receipts } = await daemon.post('/v1/events', z.looseObject({ items: z.array(receiptSchema) }), request)
  if (terminal.json) return printJson(terminal, { items: receipts })
  printTable(
    terminal,
    [{ heading: 'id' }, { heading: 'source' }, { heading: 'status' }, { heading: 'state' }, { heading: 'commands' }],
    receipts.map((receipt) => [receipt.id, receipt.source, receipt.status, receipt.state ?? '', receipt.commands.join(' ')]),
  )
}

/**
 * `tallyman send --dry-run`: what the events would do now; nothing is stored.
 * @throws Failed when one would be rejected, after printing all
 */
export const forecastEvents = async (
  { terminal, daemon, settings }: CliContext,
  file: string,
  readInput: () => Promise<string>,
): Promise<void> => {
  const events = parseEvents(await read(file, readInput), file === '-' ? 'standard input' : file)
  const request = buildEventsRequest(events, settings.eventsSecret, new Date())
  const answer = z.looseObject({ items: z.array(forecastSchema) })
  const { items } = await daemon.post('/v1/events?dryRun=true', answer, request)
  if (terminal.json) printJson(terminal, { items })
  else
    printTable(
      terminal,
      [{ heading: 'id' }, { heading: 'source' }, { heading: 'would' }, { heading: 'commands' }, { heading: 'problem' }],
      items.map((item) => [item.id, item.source, item.would, item.commands.map(formatCommand).join('; '), formatProblem(item)]),
    )
  const rejected = items.filter(({ would }) => would === 'rejected').length
  if (rejected > 0) throw new Failed(`${rejected} of ${items.length} events would be rejected`)
}
