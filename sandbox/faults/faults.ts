import { type Database, wholeOf } from '../core/database.ts'
import { ERROR_SHAPES, type ErrorShape } from '../core/errors.ts'
import type { Meta } from '../core/meta.ts'
import { createRandom, type Random } from '../core/random.ts'
import type { OperationName } from './limits.ts'
import {
  BLEMISHES,
  type Blemish,
  detailsOf,
  type FaultDetails,
  type FaultName,
  type Faults,
  faultsSchema,
  type NextFault,
  OUTCOMES,
  type Outcome,
  SELECTIVE_FAULTS,
  shareOf,
} from './schema.ts'

/** The request that a fault may strike. */
interface Struck {
  readonly operation: OperationName
  readonly method: 'GET' | 'POST'
  readonly sellerId: string | null
  readonly purchaseOrderId: string | null
  /** Whether it asks for a further page by a cursor. */
  readonly onCursor: boolean
  /** The selective faults that its operation knows. */
  readonly faults: readonly FaultName[]
  /** Whether it comes with a token, or for one, that can die. */
  readonly withToken: boolean
  /** How its operation wraps errors. */
  readonly errorShape: ErrorShape
}

/** Whether a fault means anything to this request; where not, it neither strikes nor is used up. */
function applies(name: FaultName, request: Struck): boolean {
  if (name === 'tokenDiesEarly') return request.withToken
  if (!SELECTIVE_FAULTS.has(name)) return true
  const onFurtherPages = name === 'cursorExpired' || name === 'repeatCursor'
  return request.faults.includes(name) && (request.onCursor || !onFurtherPages)
}

/** What will go wrong with one request. */
export interface FaultPlan {
  readonly outcome: { readonly name: Outcome; readonly details: FaultDetails } | null
  readonly blemishes: ReadonlyMap<Blemish, FaultDetails>
  readonly errorShape: ErrorShape
  /** Whether an empty list is told as 200 with no rows instead of 404. */
  readonly emptyList: boolean
  /** How long new and changed orders stay out of the lists. */
  readonly listLagMs: number
  /** For further draws of the same request. */
  readonly random: Random
}

export interface FaultControl {
  current(): Faults
  /** How often each fault struck since the settings were last replaced. */
  struck(): Readonly<Record<string, number>>
  replace(faults: Faults): void
  append(next: readonly NextFault[]): void
  reset(): void
  plan(request: Struck): FaultPlan
}

const NONE = faultsSchema.parse({})

export function createFaultControl(meta: Meta, database: Database): FaultControl {
  let faults = meta.read('faults', faultsSchema)
  let counts: Record<string, number> = {}
  const keep = (): void => meta.keep('faults', faults)
  const count = (name: FaultName): void => {
    counts[name] = (counts[name] ?? 0) + 1
  }
  return {
    current: () => faults,
    struck: () => ({ ...counts }),
    replace(given) {
      faults = given
      counts = {}
      database.run('DELETE FROM fault_draws')
      keep()
    },
    append(next) {
      faults = { ...faults, next: [...faults.next, ...next] }
      keep()
    },
    reset() {
      faults = NONE
      counts = {}
    },
    plan(request) {
      const queued = takeQueued(faults.next, request)
      if (queued.taken) {
        faults = { ...faults, next: queued.rest }
        keep()
      }
      const rules = [faults, ...faults.rules.filter((rule) => fits(rule, request))]
      const anyShare = rules.some((rule) => [...OUTCOMES, ...BLEMISHES].some((name) => shareOf(rule[name]) > 0))
      const random = anyShare ? drawsFor(database, faults.seed, request) : createRandom(faults.seed, request.operation)
      const blemishes = new Map(queued.blemishes)
      let outcome = queued.outcome
      if (anyShare) {
        outcome ??= drawOutcome(rules, random, request)
        for (const name of BLEMISHES) {
          const rule = rules.findLast((candidate) => candidate[name] !== undefined)
          const struck = rule !== undefined && random.chance(shareOf(rule[name])) && applies(name, request)
          if (struck) blemishes.set(name, detailsOf(rule[name]))
        }
      }
      if (outcome !== null) count(outcome.name)
      for (const name of blemishes.keys()) count(name)
      const emptyList = faults.emptyAnswer === 'emptyList' || blemishes.has('emptyListInsteadOf404')
      const errorShape = shapeOf(faults, request, random)
      return { outcome, blemishes, errorShape, emptyList, listLagMs: faults.listLagMs, random }
    },
  }
}

/** The plan of a request that nothing can strike any more. */
export function quietPlan(): FaultPlan {
  const random = createRandom('quiet')
  return { outcome: null, blemishes: new Map(), errorShape: 'nested', emptyList: false, listLagMs: 0, random }
}

function shapeOf({ errorShape }: Faults, request: Struck, random: Random): ErrorShape {
  if (errorShape === 'mixed') return random.pick(ERROR_SHAPES)
  return errorShape === 'own' ? request.errorShape : errorShape
}

/**
 * Draws depend on the seed, the operation, the order and how often that was asked for: not on how requests of different
 * orders interleave, so that a concurrent run can be repeated.
 */
function drawsFor(database: Database, seed: string | number, request: Struck): Random {
  const key = `${request.operation}|${request.sellerId ?? ''}|${request.purchaseOrderId ?? ''}`
  const row = database.get(
    'INSERT INTO fault_draws (key, drawn) VALUES (?, 1) ON CONFLICT (key) DO UPDATE SET drawn = drawn + 1 RETURNING drawn',
    key,
  )
  return createRandom('fault', seed, key, row === undefined ? 1 : wholeOf(row, 'drawn'))
}

function drawOutcome(rules: readonly Partial<Faults>[], random: Random, request: Struck): FaultPlan['outcome'] {
  let left = random.next()
  for (const rule of rules) {
    for (const name of OUTCOMES) {
      left -= shareOf(rule[name])
      if (left < 0) return applies(name, request) ? { name, details: detailsOf(rule[name]) } : null
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

function takeQueued(next: readonly NextFault[], request: Struck): Queued {
  let outcome: FaultPlan['outcome'] = null
  const blemishes = new Map<Blemish, FaultDetails>()
  const rest: NextFault[] = []
  let taken = false
  for (const item of next) {
    const blemish = BLEMISHES.find((name) => name === item.fault)
    const named = OUTCOMES.find((name) => name === item.fault)
    const free = blemish === undefined ? outcome === null : !blemishes.has(blemish)
    if (!free || !fits(item, request) || !applies(item.fault, request)) {
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
}

function fits(target: Target, request: Struck): boolean {
  const same = (wanted: string | undefined, given: string | null): boolean => wanted === undefined || wanted === given
  return (
    matchesGlob(target.operation ?? '*', request.operation) &&
    same(target.method, request.method) &&
    same(target.sellerId, request.sellerId) &&
    same(target.purchaseOrderId, request.purchaseOrderId)
  )
}

function matchesGlob(glob: string, name: string): boolean {
  const pattern = glob
    .split('*')
    .map((part) => part.replace(/[.+?^${}()|[\]\\]/g, '\\$&'))
    .join('.*')
  return new RegExp(`^${pattern}$`).test(name)
}
