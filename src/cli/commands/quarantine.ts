import { z } from 'zod'
import { Failed } from '../../api-client/errors.ts'
import { Refused } from '../../api-client/failures.ts'
import type { CliContext } from '../context.ts'
import { readList } from '../output/lists.ts'
import { count, print, printJson, printMessage, printTable } from '../output/terminal.ts'

// Ids are 64-bit numbers, so they are sent as text.
const recordSchema = z.looseObject({
  id: z.union([z.string(), z.number()]).transform(String),
  sellerId: z.string(),
  resource: z.string(),
  recordKey: z.string().nullish(),
  fault: z.string(),
  state: z.string(),
  seenCount: z.number().nullish(),
  lastSeenAt: z.string().nullish(),
})

/** `tallyman quarantine list`. */
export const listQuarantine = async ({ terminal, daemon }: CliContext, limit: number): Promise<void> => {
  const { items, more } = await readList(daemon, '/v1/quarantine', recordSchema, limit)
  if (terminal.json) return printJson(terminal, { items, more })
  printTable(
    terminal,
    [
      { heading: 'id', align: 'right' },
      { heading: 'resource' },
      { heading: 'record' },
      { heading: 'state' },
      { heading: 'seen', align: 'right' },
      { heading: 'last seen' },
      { heading: 'seller' },
      { heading: 'fault' },
    ],
    items.map((record) => [
      record.id,
      record.resource,
      record.recordKey ?? '',
      record.state,
      String(record.seenCount ?? ''),
      record.lastSeenAt ?? '',
      record.sellerId,
      record.fault,
    ]),
  )
  if (more) printMessage(terminal, 'there are more; --limit shows them')
}

/** Result of one replayed record. */
interface Replay {
  readonly id: string
  readonly done: boolean
  readonly outcome: string
}

/** `tallyman quarantine replay`: one record, or every open one when `id` is null. Fails when one still cannot be parsed. */
export const replayQuarantine = async (context: CliContext, id: string | null): Promise<void> => {
  const { terminal } = context
  const ids = id === null ? await readOpenIds(context) : [id]
  const replays: Replay[] = []
  for (const each of ids) {
    const replay = await replayOne(context, each, id !== null)
    replays.push(replay)
    if (!terminal.json) print(terminal, `${each}: ${replay.outcome}`)
  }
  const failed = replays.filter((replay) => !replay.done)
  if (terminal.json) printJson(terminal, { items: replays })
  else if (replays.length === 0) print(terminal, 'nothing is in quarantine')
  if (failed.length > 0) throw new Failed(`${count(failed.length, 'record')} of ${replays.length} could not be replayed`)
}

const readOpenIds = async ({ daemon }: CliContext): Promise<string[]> => {
  const ids: string[] = []
  for await (const record of daemon.list('/v1/quarantine', recordSchema)) if (record.state === 'open') ids.push(record.id)
  return ids
}

const replayOne = async ({ daemon }: CliContext, id: string, single: boolean): Promise<Replay> => {
  try {
    const answer = await daemon.post(`/v1/quarantine/${encodeURIComponent(id)}/replay`, z.looseObject({ outcome: z.string() }))
    return { id, done: true, outcome: answer.outcome }
  } catch (error) {
    // A record that still cannot be parsed, or has been replayed since, does not stop the others.
    if (single || !(error instanceof Refused) || ![404, 409, 422].includes(error.status)) throw error
    return { id, done: error.status !== 422, outcome: error.message }
  }
}

/** `tallyman quarantine dismiss`: an operator settles a record that cannot be obtained. */
export const dismissQuarantine = async (
  { terminal, daemon }: CliContext,
  { id, ...body }: { readonly id: string; readonly actor: string; readonly reason: string },
): Promise<void> => {
  const answer = await daemon.post(`/v1/quarantine/${encodeURIComponent(id)}/dismiss`, z.unknown(), { body })
  if (terminal.json) printJson(terminal, answer)
  else print(terminal, `record ${id} is dismissed`)
}
