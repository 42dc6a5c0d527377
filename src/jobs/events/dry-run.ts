import type { ReadClient } from '../../clients/http/client.ts'
import { type CommandContent, listUnits } from '../../domain/commands/command.ts'
import { conflictMessage } from '../../domain/events/event-conflict.ts'
import type { EventFault } from '../../domain/events/event-shape.ts'
import { refundTotal } from '../../domain/refunds/refunds.ts'
import type { SqlRunner } from '../../store/db/database.ts'
import { runReadOnly } from '../../store/db/read-only-transaction.ts'
import {
  type EventForecast,
  type EventProblem,
  type ForecastCommand,
  type IncomingEvent,
  readWaitingEvents,
} from '../../store/events/events.ts'
import { buildRequest } from '../commands/engine/request.ts'
import { buildName, examineEvents, subjectName } from './accept.ts'
import { isOrder, type PlannedSubject, planWaiting, readForPlanning, type SubjectKey } from './decide.ts'
import { type AcceptParts, findRules } from './parts.ts'
import { eventProblem } from './reject.ts'
import { storableFaults } from './storable.ts'

/** Dependencies of a dry run: those of accepting events, without what acts, and the clients, which word the requests. */
export interface DryRunParts extends Pick<AcceptParts, 'database' | 'sellers' | 'only' | 'rules'> {
  readonly findClient: (sellerId: string) => ReadClient
}

const longestMs = 60_000

/**
 * The result of posting these events together now. The code that accepts events computes it, in a transaction in which Postgres refuses every
 * write; the marketplace is not asked. Events about one order are applied one after another, behind those that wait already. An event of a batch
 * that would be refused because of another one has the result that it would have without that other one.
 */
export const dryRunEvents = (parts: DryRunParts, events: readonly IncomingEvent[]): Promise<readonly EventForecast[]> =>
  runReadOnly(parts.database, (sql) => forecast(parts, sql, events), { timeoutMs: longestMs })

type Verdict = Pick<EventForecast, 'would' | 'commands' | 'problem'>

const rejected = (problem: EventProblem): Verdict => ({ would: 'rejected', commands: [], problem })

const forecast = async (
  parts: DryRunParts,
  sql: SqlRunner,
  events: readonly IncomingEvent[],
): Promise<readonly EventForecast[]> => {
  const verdicts = new Map<number, Verdict>()
  const storable: { readonly index: number; readonly event: IncomingEvent }[] = []
  for (const [index, event] of events.entries()) {
    const faults = storableFaults(event)
    if (faults.length === 0) storable.push({ index, event })
    else verdicts.set(index, rejected(eventProblem(faults)))
  }
  const reading = { ...parts, database: sql }
  const { stored, conflicts, candidates, faults } = await examineEvents(
    reading,
    storable.map(({ event }) => event),
  )
  const faultsByEvent = Map.groupBy(faults, ({ index }) => index)
  const subjects = await readSubjects(
    parts,
    sql,
    candidates.flatMap(({ addressed }) => (addressed.ok ? [addressed.key] : [])),
  )
  for (const { index: at, read, addressed } of candidates) {
    const index = storable[at]?.index
    if (index === undefined) continue
    const wrong = faultsByEvent.get(at)
    if (wrong !== undefined) verdicts.set(index, rejected(eventProblem(wrong)))
    else if (addressed.ok) verdicts.set(index, verdictOn(parts, addressed.key, subjects.get(subjectName(addressed.key)), read))
    else if (addressed.unsure !== null)
      verdicts.set(index, { would: 'accepted', commands: [], problem: buildUnsure(addressed.unsure) })
  }
  for (const [at, { index, event }] of storable.entries()) {
    if (conflicts.has(at)) verdicts.set(index, rejected(buildConflict(event)))
    else if (!verdicts.has(index))
      verdicts.set(index, { would: 'duplicate', commands: [], problem: stored.get(buildName(event))?.problem ?? null })
  }
  return buildForecasts(events, verdicts)
}

/** The subjects of the events, with what the events that wait for them take before. */
const readSubjects = async (
  parts: DryRunParts,
  sql: SqlRunner,
  keys: readonly SubjectKey[],
): Promise<ReadonlyMap<string, PlannedSubject>> => {
  const subjects = new Map<string, PlannedSubject>()
  for (const [name, key] of new Map(keys.map((key) => [subjectName(key), key]))) {
    const subject = await readForPlanning(sql, key, findRules({ ...parts, database: sql }, key.sellerId))
    if (subject === null) continue
    await planWaiting(sql, subject, await readWaitingEvents(sql, key.purchaseOrderId), parts)
    subjects.set(name, subject)
  }
  return subjects
}

const verdictOn = (
  { findClient }: DryRunParts,
  key: SubjectKey,
  subject: PlannedSubject | undefined,
  read: Parameters<PlannedSubject['plan']>[0],
): Verdict => {
  if (subject === undefined) return { would: 'accepted', commands: [], problem: notStored(key) }
  const { order, acknowledging, cancelling } = subject
  const plan = subject.plan(read)
  if (!plan.ok) return rejected(eventProblem(plan.faults))
  const client = findClient(key.sellerId)
  return {
    would: 'accepted',
    commands: plan.commands.map((content): ForecastCommand => {
      const { kind, payload } = content
      const request = buildRequest({ sellerId: key.sellerId, order, acknowledging, cancelling, content }, client)
      return { kind, lines: listUnits(payload), money: computeMoney(content), request }
    }),
    problem: null,
  }
}

const computeMoney = ({ kind, payload }: CommandContent): ForecastCommand['money'] => {
  if (kind !== 'refund' && kind !== 'refund-return') return null
  const charges = payload.lines.flatMap((line) => line.charges)
  const [currency, ...others] = new Set(charges.map((charge) => charge.currency))
  return currency === undefined || others.length > 0 ? null : { amount: refundTotal(charges), currency }
}

/** A batch is accepted wholly or not at all: valid events list the faults that keep the batch from being accepted. */
const buildForecasts = (events: readonly IncomingEvent[], verdicts: ReadonlyMap<number, Verdict>): EventForecast[] => {
  const refused = [...verdicts].filter(([, { would }]) => would === 'rejected').map(([index]) => index)
  const faults = refused.sort((a, b) => a - b).map((index) => ({ path: `[${index}]`, message: 'would be rejected' }))
  return events.flatMap(({ source, id }, index): EventForecast[] => {
    const verdict = verdicts.get(index)
    if (verdict === undefined) return []
    const problem = faults.length > 0 && verdict.would === 'accepted' ? batchRefused(faults) : verdict.problem
    return [{ id, source, ...verdict, problem }]
  })
}

const buildProblem = (
  code: string,
  status: number,
  title: string,
  detail: string,
  errors: readonly EventFault[] = [],
): EventProblem => ({ type: `urn:tallyman:problem:${code}`, title, status, detail, code, errors })

const buildConflict = (event: IncomingEvent): EventProblem =>
  buildProblem(
    'event-conflict',
    409,
    'Another event has this source and id',
    'The source and id were posted before with another body; nothing would be accepted.',
    [{ path: 'id', message: conflictMessage(event) }],
  )

const batchRefused = (faults: readonly EventFault[]): EventProblem => ({
  ...eventProblem(faults),
  type: 'urn:tallyman:problem:batch-refused',
  title: 'Another event of the batch is invalid',
  detail: 'A batch is accepted wholly or not at all. Posted without the events below, this one would come to these commands.',
  code: 'batch-refused',
})

const notStored = (key: SubjectKey): EventProblem =>
  buildProblem(
    'order-not-stored',
    202,
    'The order would be fetched first',
    isOrder(key)
      ? `Order ${key.purchaseOrderId} is not stored, so its lines and units are not known here. Posted now, the event would have it fetched: then it would be decided, wait while the marketplace cannot be asked, or be rejected if the marketplace does not know the order.`
      : 'Its subject is not stored.',
  )

const buildUnsure = (reason: string): EventProblem =>
  buildProblem('event-waits', 202, 'The event would wait', `It would be stored and decided later: ${reason}.`)
