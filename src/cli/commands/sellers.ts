import { z } from 'zod'
import { Failed } from '../../api-client/errors.ts'
import type { CliContext } from '../context.ts'
import { readList } from '../output/lists.ts'
import { count, print, printJson, printMessage, printTable, type Tone } from '../output/terminal.ts'

/** A seller as `GET /v1/sellers` shows it. */
export const sellerSchema = z.looseObject({
  sellerId: z.string(),
  state: z.string(),
  reason: z.string().nullish(),
  since: z.string().nullish(),
  pausedBy: z.string().nullish(),
  nextProbeAt: z.string().nullish(),
  served: z.boolean(),
  servedBy: z.array(z.string()).nullish(),
  removedAt: z.string().nullish(),
  removedBy: z.string().nullish(),
  mode: z.string().nullish(),
  modeSince: z.string().nullish(),
})
/** See {@link sellerSchema}. */
export type Seller = z.infer<typeof sellerSchema>

/** State of a stopped or paused seller, as one sentence. */
export const describeInactive = ({ sellerId, state, since, pausedBy, reason }: Seller): string =>
  `seller ${sellerId} is ${state}${typeof since === 'string' ? ` since ${since}` : ''}${typeof pausedBy === 'string' ? ` by ${pausedBy}` : ''}: ${reason ?? 'no reason was recorded'}`

const tones: Readonly<Record<string, Tone>> = { active: 'good', stopped: 'bad', paused: 'warning' }

const stateCell = (state: string) => {
  const tone = tones[state]
  return tone === undefined ? state : { text: state, tone }
}

/** Time and actor of the removal, as the end of a sentence. */
const describeRemoval = ({ removedAt, removedBy }: Seller): string =>
  `removed ${removedAt ?? ''}${typeof removedBy === 'string' ? ` by ${removedBy}` : ''}`

/** Whether nothing of a seller is written to the marketplace. */
export const isShadow = ({ mode }: Seller): boolean => mode === 'shadow'

const isRemoved = ({ removedAt }: Seller): boolean => typeof removedAt === 'string'

/** The processes that serve a seller that the answering process does not serve. */
const describeServers = ({ servedBy }: Seller): string =>
  (servedBy ?? []).length === 0 ? 'not in the settings' : `served by ${servedBy?.join(', ')}`

const formatNotes = (seller: Seller): string => {
  const notes = [
    ...(isShadow(seller) ? ['in shadow mode'] : []),
    ...(isRemoved(seller) ? [describeRemoval(seller)] : []),
    ...(seller.served ? [] : [describeServers(seller)]),
  ]
  return [seller.reason ?? '', ...(notes.length === 0 ? [] : [`(${notes.join(', ')})`])].join(' ').trim()
}

/** `tallyman sellers list`. */
export const listSellers = async (
  { terminal, daemon }: CliContext,
  { limit, removed }: { limit: number; removed: boolean },
): Promise<void> => {
  const { items, more } = await readList(daemon, '/v1/sellers', sellerSchema, limit, removed ? { removed: 'true' } : {})
  if (terminal.json) return printJson(terminal, { items, more })
  printTable(
    terminal,
    [{ heading: 'seller' }, { heading: 'state' }, { heading: 'since' }, { heading: 'by' }, { heading: 'reason' }],
    items.map((seller) => [
      seller.sellerId,
      stateCell(seller.state),
      seller.since ?? '',
      seller.pausedBy ?? '',
      formatNotes(seller),
    ]),
  )
  if (more) printMessage(terminal, 'there are more; --limit shows them')
}

const workingSellerSchema = sellerSchema.extend({
  openCommands: z.number(),
  waitingEvents: z.number(),
  failingStreams: z.number(),
  ordersLagSeconds: z.number().nullable(),
  waitingOperations: z.array(z.looseObject({ operation: z.string(), scope: z.string().nullish(), until: z.string().nullable() })),
})

/** `tallyman sellers show`: one seller with its open work, and how far behind it is. */
export const showSeller = async ({ terminal, daemon }: CliContext, sellerId: string): Promise<void> => {
  const { items } = await readList(daemon, '/v1/sellers', workingSellerSchema, 1, { sellerId })
  const [seller] = items
  if (seller === undefined) throw new Failed(`there is no seller ${sellerId}`)
  if (terminal.json) return printJson(terminal, seller)
  const { openCommands, waitingEvents, failingStreams, ordersLagSeconds, waitingOperations } = seller
  const waits = waitingOperations.map(({ operation, scope, until }) =>
    [operation, ...(typeof scope === 'string' ? [`(${scope})`] : []), ...(until === null ? [] : [`until ${until}`])].join(' '),
  )
  if (isRemoved(seller))
    print(terminal, `seller ${sellerId} was ${describeRemoval(seller)}; it is listed again when a process has it in its settings`)
  if (seller.state !== 'active') print(terminal, describeInactive(seller))
  else if (!isRemoved(seller)) print(terminal, `seller ${sellerId} is active`)
  if (isShadow(seller))
    print(
      terminal,
      `it is in shadow mode since ${seller.modeSince ?? ''}: nothing is written to the marketplace, commands are predicted`,
    )
  if (!seller.served) print(terminal, 'it is not in the settings of this daemon')
  print(terminal, `served by: ${seller.servedBy?.join(', ') || 'no process'}`)
  print(
    terminal,
    `orders: ${ordersLagSeconds === null ? 'not read completely yet' : `read ${Math.round(ordersLagSeconds)} s ago`}`,
  )
  print(terminal, `open commands: ${openCommands}, waiting events: ${waitingEvents}, failing streams: ${failingStreams}`)
  print(terminal, `waiting for rate limits: ${waits.join(', ') || 'nothing'}`)
}

/** `tallyman sellers pause | resume`: an operator's decision on a seller. */
export const decideOnSeller = async (
  { terminal, daemon }: CliContext,
  { sellerId, decision, actor, reason }: { sellerId: string; decision: 'pause' | 'resume'; actor: string; reason: string | null },
): Promise<void> => {
  const seller = await daemon.post(`/v1/sellers/${encodeURIComponent(sellerId)}/${decision}`, sellerSchema, {
    body: { actor, ...(reason === null ? {} : { reason }) },
  })
  if (terminal.json) return printJson(terminal, seller)
  print(
    terminal,
    seller.state === 'active' ? `seller ${seller.sellerId} is active; its credentials are tried now` : describeInactive(seller),
  )
}

/** `tallyman sellers go-live | go-shadow`: whether the commands of a seller are sent, or only predicted. */
export const decideOnMode = async (
  { terminal, daemon }: CliContext,
  {
    sellerId,
    decision,
    actor,
    reason,
    force,
  }: { sellerId: string; decision: 'go-live' | 'go-shadow'; actor: string; reason: string; force: boolean },
): Promise<void> => {
  const decidedSchema = z.looseObject({
    seller: sellerSchema,
    withdrawn: z.array(z.string()),
    notShown: z.array(z.string()),
    differences: z.number(),
  })
  const decided = await daemon.post(`/v1/sellers/${encodeURIComponent(sellerId)}/${decision}`, decidedSchema, {
    body: { actor, reason, ...(force ? { force } : {}) },
  })
  if (terminal.json) return printJson(terminal, decided)
  const { withdrawn, notShown, differences } = decided
  if (decision === 'go-shadow')
    return print(terminal, `seller ${sellerId} is in shadow mode: nothing is written to the marketplace, commands are predicted`)
  print(terminal, `seller ${sellerId} is live: its commands are sent from now on`)
  if (differences > 0) print(terminal, `${count(differences, 'order')} differed from what was predicted`)
  if (withdrawn.length === 0) return
  print(terminal, `${count(withdrawn.length, 'command')} of the shadow mode ended: nothing was sent, and nothing will be`)
  if (notShown.length === 0) return print(terminal, 'the orders show all of them: the other system has done them')
  print(
    terminal,
    `the orders do not show ${count(notShown.length, 'command')}; where Tallyman shall do it, send the event again with a new id:`,
  )
  for (const id of notShown) print(terminal, `  ${id}`)
}

/** `tallyman sellers remove`: deletes a seller that no process serves, or hides it if it has records. */
export const removeSeller = async (
  { terminal, daemon }: CliContext,
  { sellerId, actor, reason }: { sellerId: string; actor: string; reason: string },
): Promise<void> => {
  const removedSchema = z.looseObject({ deleted: z.boolean(), removedAt: z.string().nullable() })
  const removed = await daemon.delete(`/v1/sellers/${encodeURIComponent(sellerId)}`, removedSchema, { query: { actor, reason } })
  if (terminal.json) return printJson(terminal, removed)
  print(
    terminal,
    removed.deleted
      ? `seller ${sellerId} is deleted: it had no records`
      : `seller ${sellerId} is removed since ${removed.removedAt ?? ''}: its records stay readable, and it is listed again when a process has it in its settings`,
  )
}

const otherSchema = z.looseObject({
  process: z.string(),
  roles: z.array(z.string()),
  sellers: z.array(z.string()),
  state: z.string(),
  faults: z.array(z.string()),
})
const reloadSchema = z.looseObject({
  sellers: z.array(z.string()),
  added: z.array(z.string()),
  removed: z.array(z.string()),
  others: z.array(otherSchema).nullish(),
})

/** The result of another process, as one line. */
const formatOther = ({ process, roles, sellers, state, faults }: z.infer<typeof otherSchema>): string => {
  const serves = `${process} (${roles.join(', ')}) serves ${count(sellers.length, 'seller')}`
  if (state === 'reread') return serves
  return `${serves}, unchanged: ${state === 'faulty' ? faults.join('; ') : 'it has not answered yet'}`
}

/** `tallyman sellers reload`: every process reads the settings of its sellers again. */
export const reloadSellers = async ({ terminal, daemon }: CliContext): Promise<void> => {
  const { sellers, added, removed, others } = await daemon.post('/v1/sellers/reload', reloadSchema, {})
  if (terminal.json) return printJson(terminal, { sellers, added, removed, others })
  print(
    terminal,
    `${count(sellers.length, 'seller')}; added: ${added.join(', ') || 'none'}; removed: ${removed.join(', ') || 'none'}`,
  )
  for (const other of others ?? []) print(terminal, formatOther(other))
  if (others === null) throw new Failed('the other processes could not be reached; the log has the reason')
  if (others?.some(({ state }) => state !== 'reread')) throw new Failed('not every process has reloaded its settings')
}
