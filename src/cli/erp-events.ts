import { stringify } from 'yaml'
import { z } from 'zod'
import type { CliContext } from './context.ts'
import { take } from './lists.ts'
import { print, printJson, printTable, say, type Tone } from './terminal.ts'

const eventSchema = z.looseObject({
  source: z.string(),
  id: z.string(),
  type: z.string(),
  sellerId: z.string().nullable(),
  purchaseOrderId: z.string().nullable(),
  state: z.string(),
  receivedAt: z.string(),
  waitsFor: z.string().nullish(),
  problem: z
    .looseObject({ detail: z.string(), errors: z.array(z.looseObject({ path: z.string(), message: z.string() })) })
    .nullish(),
})

/** Identity of an event. */
interface EventName {
  readonly source: string
  readonly id: string
}

const tones: Readonly<Record<string, Tone>> = { accepted: 'good', rejected: 'bad', received: 'warning' }

const stateCell = (state: string) => {
  const tone = tones[state]
  return tone === undefined ? state : { text: state, tone }
}

const reasonOf = ({ problem, waitsFor }: z.infer<typeof eventSchema>): string => {
  const [first, ...others] = problem?.errors ?? []
  if (first === undefined) return problem?.detail ?? waitsFor ?? ''
  return `${first.path} ${first.message}${others.length === 0 ? '' : `, and ${others.length} more`}`
}

const addressOf = ({ source, id }: EventName): string => `/v1/events/${encodeURIComponent(source)}/${encodeURIComponent(id)}`

/** `tallyman events list`. */
export const listEvents = async (
  { terminal, daemon }: CliContext,
  { state, sellerId, limit }: { readonly state: string | null; readonly sellerId: string | null; readonly limit: number },
): Promise<void> => {
  const { items, more } = await take(daemon, '/v1/events', eventSchema, limit, { state, sellerId })
  if (terminal.json) return printJson(terminal, { items, more })
  printTable(
    terminal,
    [
      { heading: 'source' },
      { heading: 'id' },
      { heading: 'type' },
      { heading: 'order' },
      { heading: 'state' },
      { heading: 'received' },
      { heading: 'seller' },
      { heading: 'reason' },
    ],
    items.map((event) => [
      event.source,
      event.id,
      event.type,
      event.purchaseOrderId ?? '',
      stateCell(event.state),
      event.receivedAt,
      event.sellerId ?? '',
      reasonOf(event),
    ]),
  )
  if (more) say(terminal, 'there are more; --limit shows them')
}

/** `tallyman events show`. */
export const showEvent = async ({ terminal, daemon }: CliContext, name: EventName): Promise<void> => {
  const event = await daemon.get(addressOf(name), z.looseObject({ id: z.string() }))
  if (terminal.json) printJson(terminal, event)
  else print(terminal, stringify(event, { lineWidth: 0 }).trimEnd())
}

/** `tallyman events reject`: an operator rejects an event that waits. */
export const rejectEvent = async (
  { terminal, daemon }: CliContext,
  { actor, reason, ...name }: EventName & { readonly actor: string; readonly reason: string },
): Promise<void> => {
  const answer = await daemon.post(`${addressOf(name)}/reject`, z.looseObject({ state: z.string() }), { body: { actor, reason } })
  if (terminal.json) printJson(terminal, answer)
  else print(terminal, `event ${name.id} of ${name.source} is ${answer.state} now`)
}
