import type { z } from 'zod'
import { nearestName } from '../values/nearest.ts'
import { invisibleIn } from '../values/text.ts'
import { isObject } from '../values/values.ts'
import {
  acceptedSchema,
  correctedSchema,
  creditLineSchema,
  creditSchema,
  dispatchedSchema,
  type EventFault,
  inboundEventType,
  inboundLineSchema,
  inboundShippedSchema,
  parcelSchema,
  replacementSchema,
  returnEventType,
  returnLineSchema,
  returnRefundedSchema,
  settingsDefinedSchema,
  settingsEventType,
  shippedLineSchema,
  unfulfillableLineSchema,
  unfulfillableSchema,
} from './event-shape.ts'

/** An object of `data` and the members that it may have. */
interface Level {
  readonly known: readonly string[]
  /** Its lists of objects, by the member that holds them. */
  readonly lists: Readonly<Record<string, Level>>
  /** Its objects, by the member that holds them. */
  readonly objects: Readonly<Record<string, Level>>
}

const buildLevel = (schema: z.ZodObject, lists: Level['lists'] = {}, objects: Level['objects'] = {}): Level => ({
  known: Object.keys(schema.shape),
  lists,
  objects,
})

const levels: Readonly<Record<string, Level>> = {
  'erp.order.accepted': buildLevel(acceptedSchema),
  'erp.shipment.dispatched': buildLevel(dispatchedSchema, {
    parcels: buildLevel(parcelSchema, { lines: buildLevel(shippedLineSchema) }),
  }),
  'erp.lines.unfulfillable': buildLevel(unfulfillableSchema, { lines: buildLevel(unfulfillableLineSchema) }),
  'erp.credit.issued': buildLevel(creditSchema, { lines: buildLevel(creditLineSchema) }),
  'erp.shipment.corrected': buildLevel(correctedSchema, {}, { replacement: buildLevel(replacementSchema) }),
  [returnEventType]: buildLevel(returnRefundedSchema, { lines: buildLevel(returnLineSchema) }),
  [settingsEventType]: buildLevel(settingsDefinedSchema),
  [inboundEventType]: buildLevel(inboundShippedSchema, { lines: buildLevel(inboundLineSchema) }),
}

/** More are not listed one by one, nor compared with what is known: thousands would hold up everything else. */
const maxReported = 50
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
  return `is unknown${near === null ? '' : ` (did you mean ${near}?)`}; accepted: ${known.join(', ')}`
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
  const look = (value: unknown, path: string, { known, lists, objects }: Level): void => {
    if (!isObject(value)) return
    for (const [name, member] of Object.entries(value)) {
      if (!known.includes(name)) {
        if (faults.length < maxReported) faults.push({ path: `${path}.${shown(name)}`, message: meant(name, known) })
        else untold += 1
        continue
      }
      const object = Object.hasOwn(objects, name) ? objects[name] : undefined
      if (object !== undefined) look(member, `${path}.${name}`, object)
      const within = Object.hasOwn(lists, name) ? lists[name] : undefined
      if (within === undefined || !Array.isArray(member)) continue
      for (const [index, item] of member.entries()) look(item, `${path}.${name}[${index}]`, within)
    }
  }
  look(data, 'data', level)
  if (untold > 0) faults.push({ path: 'data', message: `has ${untold} more unknown members` })
  return faults
}

/** Members that are compared only, and never sent: an order may have such a SKU. The ids of orders and returns are checked with their other characters. */
const comparedOnly: ReadonlySet<string> = new Set(['sku', 'purchaseOrderId', 'returnOrderId'])

/**
 * Texts of an event's data with an invisible character, at any depth. They come with copied text, and the marketplace would store them: few of
 * them can be corrected there. Data has no free text, where such characters may have a meaning.
 */
export const invisibleCharacterFaults = (data: unknown): EventFault[] => {
  const faults: EventFault[] = []
  // Without recursion: data of the SQL inbox may be nested without end.
  const pending: (readonly [path: string, value: unknown])[] = [['data', data]]
  for (const [path, value] of pending) {
    const found = typeof value === 'string' ? invisibleIn(value) : null
    if (found !== null && faults.length === maxReported) {
      faults.push({ path: 'data', message: 'has more texts with invisible characters' })
      return faults
    }
    if (found !== null) faults.push({ path, message: `contains the invisible character ${found}` })
    if (Array.isArray(value)) for (const [index, item] of value.entries()) pending.push([`${path}[${index}]`, item])
    else if (isObject(value))
      for (const [name, member] of Object.entries(value))
        if (!comparedOnly.has(name)) pending.push([`${path}.${shown(name)}`, member])
  }
  return faults
}
