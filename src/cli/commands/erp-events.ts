import { stringify } from 'yaml'
import { z } from 'zod'
import type { CliContext } from '../context.ts'
import { readList } from '../output/lists.ts'
import { print, printJson, printMessage, printTable, type Tone } from '../output/terminal.ts'

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
interface EventKey {
  readonly source: string
  readonly id: string
}

const tones: Readonly<Record<string, Tone>> = { accepted: 'good', rejected: 'bad', received: 'warning' }

const stateCell = (state: string) => {
  const tone = tones[state]
  return tone === undefined ? state : { text: state, tone }
}

const formatReason = ({ problem, waitsFor }: z.infer<typeof eventSchema>): string => {
  const [first, ...others] = problem?.errors ?? []
  if (first === undefined) return problem?.detail ?? waitsFor ?? ''
  return `${first.path} ${first.message}${others.length === 0 ? '' : `, and ${others.length} more`}`
}

const buildPath = ({ source, id }: EventKey): string => `/v1/events/${encodeURIComponent(source)}/${encodeURIComponent(id)}`

/** `tallyman events list`. */
export const listEvents = async (
  { terminal, daemon }: CliContext,
  { state, sellerId, limit }: { readonly state: string | null; readonly sellerId: string | null; readonly limit: number },
): Promise<void> => {
  const { items, more } = await readList(daemon, '/v1/events', eventSchema, limit, { state, sellerId })
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
      formatReason(event),
    ]),
  )
  if (more) printMessage(terminal, 'there are more; --limit shows them')
}

/** `tallyman events show`. */
export const showEvent = async ({ terminal, daemon }: CliContext, key: EventKey): Promise<void> => {
  const event = await daemon.get(buildPath(key), z.looseObject({ id: z.string() }))
  if (terminal.json) printJson(terminal, event)
  else print(terminal, stringify(event, { lineWidth: 0 }).trimEnd())
}

/** `tallyman events reject`: an operator rejects an event that waits. */
export const rejectEvent = async (
  { terminal, daemon }: CliContext,
  { actor, reason, ...key }: EventKey & { readonly actor: string; readonly reason: string },
): Promise<void> => {
  const answer = await daemon.post(`${buildPath(key)}/reject`, z.looseObject({ state: z.string() }), {
    body: { actor, reason },
  })
  if (terminal.json) printJson(terminal, answer)
  else print(terminal, `event ${key.id} of ${key.source} is ${answer.state} now`)
}
