import { InvalidArgumentError } from 'commander'
import { stringify } from 'yaml'
import { z } from 'zod'
import type { CliContext } from '../context.ts'
import { readList } from '../output/lists.ts'
import { print, printJson, printMessage, printTable, type Tone } from '../output/terminal.ts'

const commandSchema = z.looseObject({
  id: z.string(),
  sellerId: z.string(),
  /** Null: the command concerns the seller's shipping settings. */
  purchaseOrderId: z.string().nullable(),
  kind: z.string(),
  state: z.string(),
  reason: z.string().nullish(),
  createdAt: z.string(),
})

const tones: Readonly<Record<string, Tone>> = {
  confirmed: 'good',
  rejected: 'bad',
  held: 'warning',
  verifying: 'warning',
}

const stateCell = (state: string) => {
  const tone = tones[state]
  return tone === undefined ? state : { text: state, tone }
}

/** Filters of `tallyman commands list`; null: any. */
interface CommandFilter {
  readonly state: string | null
  readonly kind: string | null
  readonly purchaseOrderId: string | null
  readonly sku: string | null
  readonly trackingNumber: string | null
  readonly sellerId: string | null
  readonly limit: number
}

/** `tallyman commands list`. */
export const listCommands = async ({ terminal, daemon }: CliContext, { limit, ...filters }: CommandFilter): Promise<void> => {
  const { items, more } = await readList(daemon, '/v1/commands', commandSchema, limit, { ...filters })
  if (terminal.json) return printJson(terminal, { items, more })
  printTable(
    terminal,
    [
      { heading: 'id' },
      { heading: 'order' },
      { heading: 'kind' },
      { heading: 'state' },
      { heading: 'created' },
      { heading: 'seller' },
      { heading: 'reason' },
    ],
    items.map((command) => [
      command.id,
      command.purchaseOrderId ?? '',
      command.kind,
      stateCell(command.state),
      command.createdAt,
      command.sellerId,
      command.reason ?? '',
    ]),
  )
  if (more) printMessage(terminal, `there are more; --limit shows them`)
}

const shownCommandSchema = z.looseObject({
  id: z.string(),
  purchaseOrderId: z.string().nullable(),
  kind: z.string(),
  state: z.string(),
  reason: z.string().nullable(),
  lines: z.array(z.unknown()),
})

/** What a person must do about a command; null: nothing. */
const buildAdvice = ({ id, purchaseOrderId, kind, state, lines }: z.output<typeof shownCommandSchema>): string | null => {
  const subject = purchaseOrderId === null ? 'the shipping settings' : `order ${purchaseOrderId}`
  if (state === 'held') {
    const byLine = lines.length === 0 ? '' : ', or decide it line by line (tallyman commands decide)'
    return `compare the evidence below with ${subject} at the marketplace, then confirm, reject or retry: tallyman commands confirm ${id} --reason "…"${byLine}`
  }
  if (state !== 'rejected') return null
  const correction =
    kind === 'correct-shipment'
      ? "change the tracking number in the marketplace's seller center and tell the buyer"
      : 'correct the cause in the ERP and send a new event'
  return `${correction}, then resolve its alarm: tallyman alarms list, tallyman alarms resolve`
}

/** `tallyman commands show`: state, reason and advice first, then the whole command. */
export const showCommand = async ({ terminal, daemon }: CliContext, id: string): Promise<void> => {
  const command = await daemon.get(`/v1/commands/${encodeURIComponent(id)}`, shownCommandSchema)
  if (terminal.json) return printJson(terminal, command)
  const { state, reason, ...others } = command
  const advice = buildAdvice(command)
  const first = { state, reason, ...(advice === null ? {} : { 'what to do': advice }) }
  print(terminal, stringify({ ...first, ...others }, { lineWidth: 0 }).trimEnd())
}

/** `tallyman commands retry | confirm | reject`: an operator's decision on a command. */
export const decideOnCommand = async (
  { terminal, daemon }: CliContext,
  { id, decision, reason, actor }: { id: string; decision: 'retry' | 'confirm' | 'reject'; reason: string; actor: string },
): Promise<void> => {
  const answer = await daemon.post(
    `/v1/commands/${encodeURIComponent(id)}/${decision}`,
    z.looseObject({ id: z.string(), state: z.string() }),
    { body: { actor, reason } },
  )
  if (terminal.json) printJson(terminal, answer)
  else print(terminal, `command ${answer.id} is ${answer.state} now`)
}

/** `1=applied`, `2/1Z999=send-again:1`: a line, optionally the tracking number or reason of the entry, a verdict, optionally a quantity. */
const lineVerdict = /^(?<line>[^/=]+)(?:\/(?<mark>.+))?=(?<verdict>applied|not-applied|send-again)(?::(?<quantity>[1-9]\d*))?$/

/**
 * Parses the verdict on a line as written on the command line.
 *
 * @throws InvalidArgumentError
 */
export const parseLineVerdict = (text: string) => {
  const groups = lineVerdict.exec(text)?.groups
  if (groups === undefined) {
    throw new InvalidArgumentError(
      'use LINE=applied, LINE=not-applied or LINE=send-again, such as 1=applied or 2/1Z999=send-again:1.',
    )
  }
  const { line = '', mark, verdict = '', quantity } = groups
  return { lineNumber: line, verdict, mark, quantity: quantity === undefined ? undefined : Number(quantity) }
}

/** `tallyman commands decide`: a verdict on each line. */
export const decideByLine = async (
  { terminal, daemon }: CliContext,
  {
    id,
    lines,
    reason,
    actor,
  }: { id: string; lines: readonly ReturnType<typeof parseLineVerdict>[]; reason: string; actor: string },
): Promise<void> => {
  const path = `/v1/commands/${encodeURIComponent(id)}`
  const { kind } = await daemon.get(path, z.looseObject({ kind: z.string() }))
  const answer = await daemon.post(`${path}/decide`, z.looseObject({ id: z.string(), state: z.string() }), {
    body: {
      actor,
      reason,
      lines: lines.map(({ mark, ...line }) => ({
        ...line,
        ...(mark === undefined ? {} : kind === 'ship' ? { trackingNumber: mark } : { reason: mark }),
      })),
    },
  })
  if (terminal.json) printJson(terminal, answer)
  else print(terminal, `command ${answer.id} is ${answer.state} now`)
}
