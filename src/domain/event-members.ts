import type { z } from 'zod'
import {
  acceptedSchema,
  creditLineSchema,
  creditSchema,
  dispatchedSchema,
  type EventFault,
  parcelSchema,
  settingsDefinedSchema,
  settingsEventType,
  shippedLineSchema,
  unfulfillableLineSchema,
  unfulfillableSchema,
} from './event-shape.ts'
import { nearestName } from './nearest.ts'
import { isObject } from './values.ts'

/** An object of `data` and the members that it may have. */
interface Level {
  readonly known: readonly string[]
  /** Its lists of objects, by the member that holds them. */
  readonly lists: Readonly<Record<string, Level>>
}

const levelOf = (schema: z.ZodObject, lists: Level['lists'] = {}): Level => ({ known: Object.keys(schema.shape), lists })

const levels: Readonly<Record<string, Level>> = {
  'erp.order.accepted': levelOf(acceptedSchema),
  'erp.shipment.dispatched': levelOf(dispatchedSchema, {
    parcels: levelOf(parcelSchema, { lines: levelOf(shippedLineSchema) }),
  }),
  'erp.lines.unfulfillable': levelOf(unfulfillableSchema, { lines: levelOf(unfulfillableLineSchema) }),
  'erp.credit.issued': levelOf(creditSchema, { lines: levelOf(creditLineSchema) }),
  [settingsEventType]: levelOf(settingsDefinedSchema),
}

/** More are not listed one by one, nor compared with what is known: thousands would hold up everything else. */
const mostTold = 50
const longestShown = 60

const shown = (name: string): string => (name.length > longestShown ? `${name.slice(0, longestShown).toWellFormed()}…` : name)

const commonStart = (one: string, other: string): number => {
  let length = 0
  while (length < one.length && one[length] === other[length]) length += 1
  return length
}

/** The name that is abbreviated or lengthened: the one that shares most of the beginning, if that is half of the given one. */
const sameStart = (name: string, known: readonly string[]): string | null => {
  const [best] = known
    .map((candidate) => ({ candidate, shared: commonStart(name.toLowerCase(), candidate.toLowerCase()) }))
    .sort((a, b) => b.shared - a.shared)
  return best !== undefined && best.shared * 2 >= name.length ? best.candidate : null
}

const meant = (name: string, known: readonly string[]): string => {
  const near = nearestName(name, known) ?? sameStart(name, known)
  return `is unknown${near === null ? '' : `, ${near} is near`}; accepted: ${known.join(', ')}`
}

/**
 * The members of an event's data that its type does not have. They are refused, since what is meant by a misspelt one would be missing
 * without a word: a parcel without its tracking address, a credit without its amount. What is within `simplifiedShippingSettings` is the
 * marketplace's own and is not looked at.
 */
export const unknownMemberFaults = (type: string, data: unknown): EventFault[] => {
  const level = Object.hasOwn(levels, type) ? levels[type] : undefined
  if (level === undefined) return []
  const faults: EventFault[] = []
  let untold = 0
  const look = (value: unknown, path: string, { known, lists }: Level): void => {
    if (!isObject(value)) return
    for (const [name, member] of Object.entries(value)) {
      if (!known.includes(name)) {
        if (faults.length < mostTold) faults.push({ path: `${path}.${shown(name)}`, message: meant(name, known) })
        else untold += 1
        continue
      }
      const within = Object.hasOwn(lists, name) ? lists[name] : undefined
      if (within === undefined || !Array.isArray(member)) continue
      for (const [index, item] of member.entries()) look(item, `${path}.${name}[${index}]`, within)
    }
  }
  look(data, 'data', level)
  if (untold > 0) faults.push({ path: 'data', message: `has ${untold} more unknown members` })
  return faults
}
