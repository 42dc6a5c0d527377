import type { VirtualClock } from '../core/clock.ts'
import { type Database, toInteger, toText } from '../core/database.ts'
import { type ErrorShape, errorShapes } from '../core/errors.ts'
import type { Meta } from '../core/meta.ts'
import type { Method } from '../core/methods.ts'
import { createRandom, type Random } from '../core/random.ts'
import { findRule, type RecordName } from './records.ts'
import {
  anchored,
  type Blemish,
  type Body,
  blemishNames,
  buildDetails,
  computeShare,
  type FaultDetails,
  type FaultName,
  type Faults,
  faultsSchema,
  furtherPageFaults,
  holds,
  type NextFault,
  type NotificationFault,
  type Outcome,
  outcomes,
  selectiveFaults,
} from './schema.ts'

/** The request that a fault may strike. */
interface Struck {
  readonly operation: string
  readonly method: Method
  readonly sellerId: string | null
  readonly purchaseOrderId: string | null
  /** The cursor by which it asks for a further page; `null` for anything else. */
  readonly cursor: string | null
  /** The selective faults that its operation knows. */
  readonly faults: readonly FaultName[]
  /** Whether it comes with a token, or for one, that can die. */
  readonly withToken: boolean
  /** How its operation wraps errors. */
  readonly errorShape: ErrorShape
}

/** Whether a fault means anything to this request; where not, it neither strikes nor is used up. */
const applies = (name: FaultName, request: Struck): boolean => {
  if (name === 'tokenDiesEarly' || name === 'tokenRefused') return request.withToken
  if (!selectiveFaults.has(name)) return true
  return request.faults.includes(name) && (request.cursor !== null || !furtherPageFaults.has(name))
}

/** Effect of a poisoned record on a page or a read that contains it. */
export type Poison =
  | { readonly kind: 'refused'; readonly status: number; readonly body: Body }
  | { readonly kind: 'swollen'; readonly bytes: number }

const poisonedStatus = 500

/** What will go wrong with one request. */
export interface FaultPlan {
  readonly outcome: { readonly name: Outcome; readonly details: FaultDetails } | null
  readonly blemishes: ReadonlyMap<Blemish, FaultDetails>
  readonly errorShape: ErrorShape
  /** Whether an empty list is answered with 200 and no rows instead of 404. */
  readonly emptyList: boolean
  /** How long new and changed orders are missing from the lists. */
  readonly listLagMs: number
  /** Whether this record makes its page fail; `alone`: a read of this record only. */
  readonly findPoison: (record: RecordName, alone: boolean) => Poison | null
  /** For further draws of the same request. */
  readonly random: Random
}

/** What will go wrong with one notification. */
export interface NotificationPlan {
  readonly dropped: boolean
  /** How many more times it is sent. */
  readonly copies: number
  /** Real milliseconds. */
  readonly delayMs: number
  readonly forged: boolean
}

export interface FaultControl {
  current(): Faults
  /** How often each fault struck since the settings were last replaced. */
  struck(): Readonly<Record<string, number>>
  replace(faults: Faults): void
  append(next: readonly NextFault[]): void
  reset(): void
  plan(request: Struck): FaultPlan
  /** The same for a notification, by its number. */
  planNotification(number: number): NotificationPlan
  /** How far the clock of the machine that answers is ahead of the virtual one. `asked` is what is asked for, where that is known. */
  nodeOffsetMs(asked: string): number
}

const defaultReorderMs = 1_000
const defaultDelayMs = 5_000

const none = faultsSchema.parse({})

export const createFaultControl = (meta: Meta, database: Database, clock: VirtualClock): FaultControl => {
  let faults = meta.read('faults', faultsSchema)
  let counts: Record<string, number> = {}
  const keep = (): void => meta.keep('faults', faults)
  const count = (name: FaultName | `notifications.${NotificationFault}`): void => {
    counts[name] = (counts[name] ?? 0) + 1
  }
  return {
    current: () => faults,
    struck: () => ({ ...counts }),
    replace(given) {
      const now = clock.now()
      const inTime = <T extends Parameters<typeof anchored>[0]>(list: readonly T[]): T[] => list.map((one) => anchored(one, now))
      faults = { ...given, rules: inTime(given.rules), next: inTime(given.next), poisoned: inTime(given.poisoned) }
      counts = {}
      database.run('DELETE FROM fault_draws')
      database.run('DELETE FROM dead_cursors')
      keep()
    },
    append(next) {
      const now = clock.now()
      faults = { ...faults, next: [...faults.next, ...next.map((one) => anchored(one, now))] }
      keep()
    },
    reset() {
      faults = none
      counts = {}
    },
    plan(request) {
      const now = clock.now()
      const queued = takeQueued(faults.next, request, now)
      if (queued.taken) {
        faults = { ...faults, next: queued.rest }
        keep()
      }
      const rules = [faults, ...faults.rules.filter((rule) => fits(rule, request, now))]
      const anyShare = rules.some((rule) => [...outcomes, ...blemishNames].some((name) => computeShare(rule[name]) > 0))
      const random = anyShare ? drawsFor(database, faults.seed, request) : createRandom(faults.seed, request.operation)
      const blemishes = new Map(queued.blemishes)
      let outcome = queued.outcome ?? deadCursor(database, request)
      if (anyShare) {
        outcome ??= drawOutcome(rules, random, request)
        for (const name of blemishNames) {
          const rule = rules.findLast((candidate) => candidate[name] !== undefined)
          const struck = rule !== undefined && random.chance(computeShare(rule[name])) && applies(name, request)
          if (struck) blemishes.set(name, buildDetails(rule[name]))
        }
      }
      if (outcome?.name === 'cursorExpired' && outcome.details.lasting === true && request.cursor !== null) {
        const details = JSON.stringify(outcome.details)
        database.run('INSERT OR REPLACE INTO dead_cursors (cursor, details) VALUES (?, ?)', request.cursor, details)
      }
      if (outcome !== null) count(outcome.name)
      for (const name of blemishes.keys()) count(name)
      const emptyList = faults.emptyAnswer === 'emptyList' || blemishes.has('emptyListInsteadOf404')
      const errorShape = pickShape(faults, request, random)
      const { listLagMs } = faults
      return { outcome, blemishes, errorShape, emptyList, listLagMs, findPoison: poisonIn(faults, now), random }
    },
    planNotification(number) {
      const random = createRandom('notification', faults.seed, number)
      const strike = (name: NotificationFault): FaultDetails | null => {
        const given = faults.notifications[name]
        if (!random.chance(computeShare(given))) return null
        count(`notifications.${name}`)
        return buildDetails(given)
      }
      const dropped = strike('dropped') !== null
      if (dropped) return { dropped, copies: 0, delayMs: 0, forged: false }
      const copies = strike('duplicated') === null ? 0 : 1
      const reordered = strike('reordered')
      const delayed = strike('delayed')
      const reorderMs = reordered === null ? 0 : random.whole(0, reordered.delayMs ?? defaultReorderMs)
      const delayMs = delayed === null ? 0 : (delayed.delayMs ?? defaultDelayMs)
      return { dropped, copies, delayMs: reorderMs + delayMs, forged: strike('forged') !== null }
    },
    nodeOffsetMs(asked) {
      if (faults.nodes === null) return 0
      const { offsetsMs, choice } = faults.nodes
      // Drawn separately for each kind of request, so that a concurrent run can be reproduced; `turn` counts all requests.
      const drawn = nextDraw(database, choice === 'turn' ? 'node' : `node|${asked}`)
      const index =
        choice === 'turn'
          ? (drawn - 1) % offsetsMs.length
          : createRandom('node', faults.seed, asked, drawn).whole(0, offsetsMs.length - 1)
      return offsetsMs[index] ?? 0
    },
  }
}

/** A cursor that has died for good ends every request that comes with it. */
const deadCursor = (database: Database, { cursor }: Struck): FaultPlan['outcome'] => {
  if (cursor === null) return null
  const row = database.get('SELECT details FROM dead_cursors WHERE cursor = ?', cursor)
  return row === undefined ? null : { name: 'cursorExpired', details: JSON.parse(toText(row, 'details')) }
}

const poisonIn =
  ({ poisoned, seed }: Faults, now: number): FaultPlan['findPoison'] =>
  (record, alone) => {
    const rule = poisoned.length === 0 ? null : findRule(poisoned, record, 'poisoned', seed)
    if (rule === null || !holds(rule, now) || (alone && !rule.reads)) return null
    if (rule.bytes !== undefined) return { kind: 'swollen', bytes: rule.bytes }
    return { kind: 'refused', status: rule.status ?? poisonedStatus, body: rule.body ?? 'coded' }
  }

const nextDraw = (database: Database, key: string): number => {
  const row = database.get(
    'INSERT INTO fault_draws (key, drawn) VALUES (?, 1) ON CONFLICT (key) DO UPDATE SET drawn = drawn + 1 RETURNING drawn',
    key,
  )
  return row === undefined ? 1 : toInteger(row, 'drawn')
}

/** The plan of a request that nothing can strike any more. */
export const quietPlan = (): FaultPlan => {
  const random = createRandom('quiet')
  const shape = { errorShape: 'nested', emptyList: false, listLagMs: 0 } as const
  return { outcome: null, blemishes: new Map(), ...shape, findPoison: () => null, random }
}

const pickShape = ({ errorShape }: Faults, request: Struck, random: Random): ErrorShape => {
  if (errorShape === 'mixed') return random.pick(errorShapes)
  return errorShape === 'own' ? request.errorShape : errorShape
}

/**
 * Draws depend on the seed, the operation, the order and how often that was asked for: not on how requests of different
 * orders interleave, so that a concurrent run can be repeated.
 */
const drawsFor = (database: Database, seed: string | number, request: Struck): Random => {
  const key = `${request.operation}|${request.sellerId ?? ''}|${request.purchaseOrderId ?? ''}`
  return createRandom('fault', seed, key, nextDraw(database, key))
}

const drawOutcome = (rules: readonly Partial<Faults>[], random: Random, request: Struck): FaultPlan['outcome'] => {
  let left = random.next()
  for (const rule of rules) {
    for (const name of outcomes) {
      left -= computeShare(rule[name])
      if (left < 0) return applies(name, request) ? { name, details: buildDetails(rule[name]) } : null
    }
  }
  return null
}

interface Queued {
  readonly taken: boolean
  readonly rest: NextFault[]
  readonly outcome: FaultPlan['outcome']
  readonly blemishes: ReadonlyMap<Blemish, FaultDetails>
}

const takeQueued = (next: readonly NextFault[], request: Struck, now: number): Queued => {
  let outcome: FaultPlan['outcome'] = null
  const blemishes = new Map<Blemish, FaultDetails>()
  const rest: NextFault[] = []
  let taken = false
  for (const item of next) {
    const blemish = blemishNames.find((name) => name === item.fault)
    const named = outcomes.find((name) => name === item.fault)
    const free = blemish === undefined ? outcome === null : !blemishes.has(blemish)
    if (!free || !fits(item, request, now) || !applies(item.fault, request)) {
      rest.push(item)
      continue
    }
    taken = true
    if (blemish !== undefined) blemishes.set(blemish, item)
    if (named !== undefined) outcome = { name: named, details: item }
    if (item.times > 1) rest.push({ ...item, times: item.times - 1 })
  }
  return { taken, rest, outcome, blemishes }
}

interface Target {
  readonly operation?: string | undefined
  readonly method?: string | undefined
  readonly sellerId?: string | undefined
  readonly purchaseOrderId?: string | undefined
  readonly from?: string | undefined
  readonly until?: string | undefined
}

const fits = (target: Target, request: Struck, now: number): boolean => {
  const same = (wanted: string | undefined, given: string | null): boolean => wanted === undefined || wanted === given
  return (
    matchesGlob(target.operation ?? '*', request.operation) &&
    same(target.method, request.method) &&
    same(target.sellerId, request.sellerId) &&
    same(target.purchaseOrderId, request.purchaseOrderId) &&
    holds(target, now)
  )
}

const matchesGlob = (glob: string, name: string): boolean => {
  const pattern = glob
    .split('*')
    .map((part) => part.replace(/[.+?^${}()|[\]\\]/g, '\\$&'))
    .join('.*')
  return new RegExp(`^${pattern}$`).test(name)
}
