import type { LineDecision } from '../../src/domain/commands/decision.ts'
import { buildCorrectionTruth, listWrongTracking, wasCorrectedBefore } from './corrections.ts'
import { type History, writes } from './history.ts'
import { knownBefore, lookedAtMs, maxLagMs } from './known.ts'
import type { TrueEffect, World } from './marketplace.ts'
import { type EndedCommand, ours, type Posted, parseAsked, type Record, sumAll } from './record.ts'
import { isReturnGoalReached, listDoubleReturns } from './two-ways.ts'

/** What must never be. */
export type RuleName =
  /** Units or money more often than asked. */
  | 'double'
  /** Money of ours, on top of what was given back long before, that is together more than the line cost. */
  | 'overpaid'
  /** Units of ours, on top of what was done long before, that are together more than were ordered. */
  | 'too many'
  /** A unit that was refunded through its return, and again through it or through its order. */
  | 'refunded both ways'
  /** A confirmed correction whose number the marketplace does not show in the end, or one that shipped units. */
  | 'wrong tracking'
  /** Refunds that ask for other money than their units cost. */
  | 'wrong money'
  /** Confirmed, but the effect is not there, or not whole, or another. */
  | 'false confirmation'
  /** Rejected, but the effect is there. */
  | 'lost'
  /** Refused for good on the word of a gateway. */
  | 'refused by a gateway'
  /** Neither confirmed, rejected nor held, and not behind one that is held. */
  | 'unfinished'
  /** An accepted event that came to nothing. */
  | 'event lost'
  /** Held or rejected without a reason or an alarm. */
  | 'silent'
  /** A request at the marketplace that no attempt names. */
  | 'untraceable'
  /** A step failed by itself. */
  | 'threw'

/** One breach. */
export interface Violation {
  readonly rule: RuleName
  readonly what: string
}

/** A held command. */
export interface Hold {
  readonly reason: string
  /** Nobody else touched the order and the marketplace did what it said: the truth was plain to see. */
  readonly needless: boolean
}

/** What the oracle says. */
export interface Verdict {
  readonly violations: readonly Violation[]
  readonly commands: readonly {
    readonly kind: string
    readonly state: string
    readonly reason: string | null
    readonly event: string | null
  }[]
  readonly holds: readonly Hold[]
}

/**
 * What a person who sees the truth says of each line that is still open: what was applied of it, and what was not. Null where that cannot
 * be said line by line: other money than was asked, or a part of the units that share it.
 */
export const linesDecided = (world: World, command: EndedCommand, unapplied: 'retry' | 'reject'): LineDecision[] | null => {
  // A correction moves no units.
  if (command.kind === 'correct-shipment') return null
  const open = parseAsked({ ...command, payload: command.open ?? command.payload })
  const whole = parseAsked(command)
  // Several entries of one line cannot be told apart by what happened to it.
  if (new Set(open.map(({ lineNumber }) => lineNumber)).size < open.length) return null
  const decisions: LineDecision[] = []
  for (const { lineNumber, units, cents } of open) {
    const before = whole.filter((line) => line.lineNumber === lineNumber).reduce((sum, line) => sum + line.units, 0) - units
    const sum = sumAll(ours(world, command), lineNumber)
    const applied = sum.units - before
    if (applied < 0 || applied > units || before > 0) return null
    if (command.kind === 'refund' && !(sum.cents === 0 && applied === 0) && !(sum.cents === cents && applied === units))
      return null
    if (command.kind === 'refund-return' && applied !== 0 && applied !== units) return null
    if (applied > 0) decisions.push({ lineNumber, verdict: 'applied', quantity: applied })
    const verdict = unapplied === 'retry' ? 'send-again' : 'not-applied'
    if (applied < units) decisions.push({ lineNumber, verdict, quantity: units - applied })
  }
  return decisions
}

/** How much of a command has truly happened; `coming`: a part is still to come. */
export const buildTruth = (world: World, command: EndedCommand): 'whole' | 'none' | 'part' | 'coming' => {
  if (world.countPending(command.id) > 0) return 'coming'
  if (command.kind === 'correct-shipment') return buildCorrectionTruth(world, command)
  const effects = ours(world, command)
  const asked = parseAsked(command)
  if (asked.length === 0) {
    const { lines } = world.orderExpression(command.purchaseOrderId)
    if (effects.length === 0) return 'none'
    return lines.some(({ statuses }) => statuses.some(({ status }) => status === 'Created')) ? 'part' : 'whole'
  }
  const sums = asked.map((line) => ({ line, sum: sumAll(effects, line.lineNumber) }))
  if (sums.every(({ line, sum }) => sum.units === line.units && (line.cents === null || sum.cents === line.cents))) return 'whole'
  return sums.every(({ sum }) => sum.units === 0 && sum.cents === 0) ? 'none' : 'part'
}

/** What the oracle goes by. */
export interface Evidence {
  readonly history: History
  readonly world: World
  readonly record: Record
  readonly posted: readonly Posted[]
  readonly thrown: readonly string[]
}

const describe = (command: EndedCommand, place: number): string =>
  `command ${place + 1} (${command.kind}, ${command.event ?? 'of our own'}, ${command.state}: ${command.reason ?? 'no reason'})`

/** Compares what is said with what truly happened. */
export const judge = (evidence: Evidence): Verdict => {
  const { history, world, record, posted, thrown } = evidence
  const violations: Violation[] = []
  const breach = (rule: RuleName, what: string): void => void violations.push({ rule, what })
  const holds: Hold[] = []

  for (const [place, command] of record.commands.entries()) {
    const name = describe(command, place)
    const effects = ours(world, command)
    const asked = parseAsked(command)
    // A correction names the units that the order shows when it is sent.
    for (const line of command.kind === 'correct-shipment' ? [] : asked) {
      const sum = sumAll(
        effects.filter(({ inflated }) => !inflated),
        line.lineNumber,
      )
      if (sum.units > line.units) breach('double', `${name}: ${sum.units} units of line ${line.lineNumber}, ${line.units} asked`)
      else if (line.cents !== null && sum.cents > line.cents)
        breach('double', `${name}: ${sum.cents} cents on line ${line.lineNumber}, ${line.cents} asked`)
    }
    const truth = buildTruth(world, command)
    if (command.state === 'confirmed') {
      // Of a command that was decided line by line a part may stand for ever as not applied.
      const partly = command.parted && truth === 'part'
      const reached =
        command.kind === 'acknowledge'
          ? goalReached(world, command)
          : truth === 'whole' || partly || isDoneByOthers(evidence, command)
      if (!reached && !violations.some(({ rule, what }) => rule === 'double' && what.startsWith(name)))
        breach('false confirmation', `${name}: applied ${truth}`)
    } else if (command.state === 'rejected') {
      if (truth !== 'none' && command.kind !== 'acknowledge') breach('lost', `${name}: applied ${truth}`)
      const last = command.attempts.at(-1)
      const request = world.requests.find(({ correlationId }) => correlationId === last?.correlationId)
      if (!command.decided && last?.outcome === 'refused' && request?.answered === 'gateway') breach('refused by a gateway', name)
    } else if (command.state === 'held') {
      holds.push({ reason: command.reason ?? 'no reason', needless: isPlain(history, world, command) })
    } else {
      const before = record.commands.slice(0, place)
      const waits = before.some((other) => other.subject === command.subject && other.state === 'held')
      if (!waits) breach('unfinished', name)
    }
    // An acknowledgement of our own that has become needless is nobody's decision: it needs a reason, and no alarm.
    const needless = /every unit of the order is cancelled/.test(command.reason ?? '') && command.event === null
    const told = command.reason !== null && (command.alarmed || command.decided || needless)
    if ((command.state === 'held' || command.state === 'rejected') && !told) {
      breach('silent', `${name}: ${command.reason === null ? 'no reason' : 'no alarm'}`)
    }
  }

  for (const event of record.events) {
    const name = `event ${event.id}`
    if (event.status === 'received') breach('unfinished', `${name} is still received`)
    if (event.status === 'accepted' && event.commands === 0 && !isNeedless(evidence, event.id))
      breach('event lost', `${name} has no command`)
    if (event.status !== 'rejected') continue
    if (!event.explained || !event.alarmed) breach('silent', `${name} is rejected without a reason or an alarm`)
    if (!event.orphaned) continue
    if (isThere(evidence, event.id))
      breach('event lost', `${name} is rejected for what is there, and the marketplace never said that it is not`)
  }
  for (const { id, accepted } of posted) {
    if (accepted && !record.events.some((event) => event.id === id))
      breach('event lost', `event ${id} was accepted and is not stored`)
  }

  const known = new Set(record.commands.flatMap(({ attempts }) => attempts.map(({ correlationId }) => correlationId)))
  for (const { operation, correlationId } of world.requests) {
    if (!writes.some((write) => write === operation)) continue
    if (correlationId === null || !known.has(correlationId)) breach('untraceable', `a request of ${operation}`)
  }
  for (const what of overpayments(history, world)) breach('overpaid', what)
  for (const what of excesses(history, world)) breach('too many', what)
  for (const what of listDoubleReturns(history, world, record)) breach('refunded both ways', what)
  for (const what of listWrongTracking(history, world, record)) breach('wrong tracking', what)
  for (const what of wrongMoney(history, world, record)) breach('wrong money', what)
  for (const what of thrown) breach('threw', what)
  return {
    violations,
    holds,
    commands: record.commands.map(({ kind, state, reason, event }) => ({ kind, state, reason, event })),
  }
}

/** The refund of a return is about its goal, whoever reached it; a correction may find its number there already. */
const isDoneByOthers = ({ history, world }: Evidence, command: EndedCommand): boolean =>
  command.kind === 'refund-return'
    ? isReturnGoalReached(history, world, command)
    : command.kind === 'correct-shipment' && ours(world, command).length === 0

/** A correction whose number the order shows already comes to nothing. */
const isNeedless = ({ world, record, posted }: Evidence, eventId: string): boolean => {
  const event = posted.find(({ id }) => id === eventId)
  if (event?.correction == null || event.purchaseOrderId === null) return false
  return wasCorrectedBefore(world, record, event.purchaseOrderId, event.correction)
}

/** What an event names is there since before the event, and no answer by a rule has denied it. */
const isThere = ({ world, posted }: Evidence, eventId: string): boolean => {
  const event = posted.find(({ id }) => id === eventId)
  const denied = world.requests.some(
    ({ operation, purchaseOrderId, returnOrderId, answered }) =>
      answered === 'coded' &&
      ((operation === 'get' && purchaseOrderId !== null && purchaseOrderId === event?.purchaseOrderId) ||
        (operation === 'get return' && returnOrderId !== null && returnOrderId === event?.returnOrderId)),
  )
  if (denied || event === undefined) return false
  if (event.returnOrderId === null) return true
  return world
    .returns()
    .some(({ returnOrderId, arrivedAtMs }) => returnOrderId === event.returnOrderId && arrivedAtMs <= event.atMs)
}

/** Acknowledge is about its goal: no unit stands in Created any more. */
const goalReached = (world: World, command: EndedCommand): boolean =>
  world
    .orderExpression(command.purchaseOrderId)
    .lines.every(({ statuses }) => statuses.every(({ status }) => status !== 'Created'))

/** After so many requests in vain a person may be asked, however plain the order is. */
const patientAttempts = 6

const isPlain = (history: History, world: World, command: EndedCommand): boolean => {
  const touched = world.effects.some(({ by, purchaseOrderId }) => by === 'others' && purchaseOrderId === command.purchaseOrderId)
  // What cannot be read for ever, a person must look at.
  const endless = history.rules.some(({ calls }) => calls >= 1_000)
  const lied = world.requests.some(
    ({ commandId, answered, did }) =>
      commandId === command.id &&
      ((did !== null && did !== 'all' && did !== 'nothing') ||
        (did === 'nothing' &&
          answered !== null &&
          ['true', 'stale', 'partial', 'errors', 'already done', 'unreadable', 'unstorable'].includes(answered)) ||
        (did === null && answered === 'already done')),
  )
  const truth = buildTruth(world, command)
  return (
    !touched &&
    !endless &&
    !lied &&
    command.attempts.filter(({ outcome }) => !['throttled', 'not-sent'].includes(outcome ?? '')).length < patientAttempts &&
    (truth === 'whole' || truth === 'none')
  )
}

const findLine = (world: World, { purchaseOrderId, lineNumber }: Pick<TrueEffect, 'purchaseOrderId' | 'lineNumber'>) =>
  world.orderExpression(purchaseOrderId).lines.find((line) => line.lineNumber === lineNumber)

const overpayments = (history: History, world: World): readonly string[] =>
  world.effects.flatMap((effect) => {
    if (effect.by !== 'us' || effect.kind !== 'refund' || effect.inflated) return []
    const line = findLine(world, effect)
    const shownMs = lookedAtMs(world, effect) - maxLagMs(history)
    const before = knownBefore(history, world, effect).filter(
      // The marketplace works out the money of a return, and shows it with the order: ours cannot be told from that of others before it shows.
      ({ kind, inflated, returned, atMs }) => kind === 'refund' && !inflated && (returned === null || atMs <= shownMs),
    )
    if (line === undefined) return []
    const given = before.reduce((sum, { cents }) => sum + cents, effect.cents)
    const cost = line.priceCents + line.taxCents
    return given > cost ? [`line ${effect.lineNumber}: ${given} cents given back of ${cost}`] : []
  })

/** What others did before ours counts where it was shown: a shipment is not preceded by a read, and not everybody shows refunded units. */
const excesses = (history: History, world: World): readonly string[] => {
  const shown: { readonly [Kind in TrueEffect['kind']]?: boolean } = { cancel: true, refund: history.nature.showsRefundedUnits }
  return world.effects.flatMap((effect) => {
    if (effect.by !== 'us' || effect.inflated || !['ship', 'cancel', 'refund'].includes(effect.kind)) return []
    const line = findLine(world, effect)
    const rivals = effect.kind === 'refund' ? ['refund'] : ['ship', 'cancel']
    const before = knownBefore(history, world, effect).filter(
      ({ kind, by, inflated }) => rivals.includes(kind) && !inflated && (by === 'us' || shown[effect.kind] === true),
    )
    const units = before.reduce((sum, each) => sum + each.units, effect.units)
    return line !== undefined && units > line.units
      ? [`line ${effect.lineNumber}: ${units} units of ${line.units} with ${effect.kind}`]
      : []
  })
}

/** Whole units cost their share of the line, to the cent where all of them are given back. */
const wrongMoney = (history: History, world: World, record: Record): readonly string[] => {
  const shares = record.commands.flatMap((command) => {
    const act = history.acts[Number(command.event?.replace('event-', ''))]
    if (command.kind !== 'refund' || act?.does !== 'post' || act.event.type !== 'credit') return []
    const named = act.event.lines.some(({ cents }) => cents !== null)
    return named
      ? []
      : parseAsked(command).map((asked) => ({
          ...asked,
          cents: asked.cents ?? 0,
          command,
          line: findLine(world, { ...command, ...asked }),
        }))
  })
  const odd = shares.flatMap(({ line, units, cents, lineNumber }) => {
    if (line === undefined) return []
    const cost = line.priceCents + line.taxCents
    // Less than a cent of price and one of tax for each unit is rounding.
    return Math.abs(cents * line.units - units * cost) < 2 * units * line.units
      ? []
      : [`line ${lineNumber}: ${cents} cents for ${units} of ${line.units} units that cost ${cost}`]
  })
  const byLine = Map.groupBy(
    shares.filter(({ command }) => command.state !== 'rejected' && !command.parted),
    ({ command, lineNumber }) => `${command.purchaseOrderId} ${lineNumber}`,
  )
  const sums = [...byLine].flatMap(([name, all]) => {
    const [{ line } = { line: undefined }] = all
    const units = all.reduce((sum, each) => sum + each.units, 0)
    const cents = all.reduce((sum, each) => sum + each.cents, 0)
    if (line === undefined || units !== line.units || cents === line.priceCents + line.taxCents) return []
    return [`line ${name}: ${cents} cents for all of its units, which cost ${line.priceCents + line.taxCents}`]
  })
  return [...odd, ...sums]
}
