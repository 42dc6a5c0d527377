import type { CommandState } from '../../src/domain/commands/command.ts'
import {
  type Act,
  type History,
  history,
  type LineUnits,
  type Nature,
  type PlannedEvent,
  type PlannedLine,
  type PlannedOrder,
  type PlannedParcel,
  type PlannedReturn,
  rule,
} from './history.ts'

/** A history that is kept, by name. */
export interface Story {
  readonly name: string
  readonly history: History
  /** States in which its commands may end, in their order, where the oracle alone would allow more. */
  readonly ends?: readonly (readonly CommandState[])[]
}

type Parts = Partial<Omit<History, 'nature'>> & { readonly nature?: Partial<Nature> }

/** Names a history. */
export const story = (name: string, parts: Parts, ends?: Story['ends']): Story => ({
  name,
  history: history(parts),
  ...(ends === undefined ? {} : { ends }),
})

/** A line of so many units, 10.00 and 0.80 of tax each. */
export const line = (units: number): PlannedLine => ({ units, priceCents: units * 1_000, taxCents: units * 80 })

/** An order of lines with so many units each. */
export const order = (state: PlannedOrder['state'], ...units: readonly number[]): PlannedOrder => ({
  state,
  lines: units.map(line),
})

/** The ERP posts an event once, by HTTP. */
export const post = (atMs: number, event: PlannedEvent): Act => ({ atMs, does: 'post', event, copies: 1, inbox: false })

/** Units of the lines 0, 1, …; none of a line is 0. */
const readLines = (units: readonly number[]): LineUnits[] =>
  units.flatMap((each, place) => (each === 0 ? [] : [{ line: place, units: each }]))

/** The order was accepted by the seller. */
export const accepted = (): PlannedEvent => ({ type: 'accepted', order: 0 })

/** One parcel left, with so many units of the lines 0, 1, …. */
export const dispatched = (tracking: number, ...units: readonly number[]): PlannedEvent => {
  const parcels: PlannedParcel[] = [{ tracking, lines: readLines(units) }]
  return { type: 'dispatched', order: 0, parcels }
}

/** So many units of the lines 0, 1, … cannot be had. */
export const unfulfillable = (...units: readonly number[]): PlannedEvent => ({
  type: 'unfulfillable',
  order: 0,
  lines: readLines(units).map((each) => ({ ...each, reason: 0 })),
})

/** So many units of the lines 0, 1, … are given back. */
export const credit = (...units: readonly number[]): PlannedEvent => ({
  type: 'credit',
  order: 0,
  lines: readLines(units).map((each) => ({ ...each, reason: 0, cents: null })),
})

/** Units of the lines 0, 1, … of the first return are refunded through it. */
export const returnRefunded = (...units: readonly number[]): PlannedEvent => ({
  type: 'return refunded',
  order: 0,
  return: 0,
  lines: readLines(units).map((each) => ({ ...each, bySku: false })),
})

/** The number of a parcel is another one; 0: that of the units that were shipped before. */
export const corrected = (tracking: number, to: number): PlannedEvent => ({ type: 'corrected', order: 0, tracking, to })

/** A return of the first order that is there from the beginning, of units of its lines. */
export const sentBack = (...lines: PlannedReturn['lines']): PlannedReturn => ({ order: 0, atMs: 0, lines })

const differing = <Whole extends object>(whole: Whole, base: object): Partial<Whole> => {
  const given = new Map(Object.entries(base).map(([name, value]) => [name, JSON.stringify(value)]))
  const parts: Partial<Whole> = {}
  for (const name in whole) if (given.get(name) !== JSON.stringify(whole[name])) parts[name] = whole[name]
  return parts
}

/** A history as the code of a story, without what is as calm as can be. */
export const errorCode = (told: History): string => {
  const calm = history({})
  const short = {
    ...differing(told, calm),
    nature: differing(told.nature, calm.nature),
    rules: told.rules.map(({ operation, answer, ...parts }) => {
      const { operation: _operation, answer: _answer, ...base } = rule({ operation, answer })
      return { operation, answer, ...differing(parts, base) }
    }),
  }
  const text = JSON.stringify(short, null, 2)
    .replaceAll(/"(\w+)":/g, '$1:')
    .replaceAll('"', "'")
  return `story('name it', ${text.replaceAll(/\{\n\s*operation/g, '{ operation')}), // wrap each rule in rule(…)`
}
