import {
  maxDataBytes,
  maxDataDepth,
  maxIdLength,
  maxKeyBytes,
  maxTypeLength,
  postgresTextBytes,
} from '../../domain/events/event-bounds.ts'
import type { ReadEvent } from '../../domain/events/event-reading.ts'
import type { EventFault } from '../../domain/events/event-shape.ts'
import { unstorable } from '../../domain/values/text.ts'
import type { IncomingEvent, StoredEvent } from '../../store/events/events.ts'

const dataFaults = (value: unknown, path: string, depth: number, faults: EventFault[]): void => {
  if (typeof value === 'string') {
    const message = unstorable(value)
    if (message !== null) faults.push({ path, message })
    return
  }
  if (typeof value !== 'object' || value === null) return
  if (depth >= maxDataDepth) {
    faults.push({ path, message: `is nested more than ${maxDataDepth} levels deep` })
    return
  }
  if (Array.isArray(value)) {
    for (const [index, item] of value.entries()) dataFaults(item, `${path}[${index}]`, depth + 1, faults)
    return
  }
  for (const [name, member] of Object.entries(value)) {
    const message = unstorable(name)
    if (message === null) dataFaults(member, `${path}.${name}`, depth + 1, faults)
    else faults.push({ path, message: `has a member whose name ${message}` })
  }
}

/** Faults of the source, id and type of an event. */
const keyFaults = (event: IncomingEvent): EventFault[] => {
  const faults: EventFault[] = []
  for (const name of ['source', 'id', 'type'] as const) {
    const message = unstorable(event[name])
    if (message !== null) faults.push({ path: name, message })
  }
  for (const name of ['source', 'id'] as const) {
    if (event[name] === '') faults.push({ path: name, message: 'must not be empty' })
    if (Buffer.byteLength(event[name]) > maxKeyBytes) faults.push({ path: name, message: `is longer than ${maxKeyBytes} bytes` })
    // Every client takes them out of an address, encoded or not (WHATWG URL, "double-dot URL path segment").
    if (event[name] === '.' || event[name] === '..')
      faults.push({ path: name, message: 'must not be . or .., which no address can hold' })
  }
  if (event.type.length > maxTypeLength) faults.push({ path: 'type', message: `is longer than ${maxTypeLength} characters` })
  return faults
}

/** What keeps an event from being stored at all: text that Postgres refuses, keys too long for an index, bottomless nesting, too much of it. */
export const storableFaults = (event: IncomingEvent): readonly EventFault[] => {
  const faults = keyFaults(event)
  dataFaults(event.data, 'data', 0, faults)
  if (faults.length > 0) return faults
  const bytes = postgresTextBytes(event.data)
  if (bytes > maxDataBytes)
    faults.push({ path: 'data', message: `is too large: ${bytes} bytes as Postgres writes it, at most ${maxDataBytes}` })
  return faults
}

/**
 * Faults that keep any stored event from being decided: a row of the SQL inbox may contain anything that Postgres accepts. An event
 * with such a fault must not be hashed or planned.
 */
export const undecidableFaults = (event: StoredEvent, { address }: Pick<ReadEvent, 'address'>): readonly EventFault[] => {
  const faults = keyFaults(event)
  if (event.unreadable !== null) return [...faults, { path: 'data', message: event.unreadable }]
  const returnOrderId = address?.returnOrderId ?? null
  if (returnOrderId !== null && returnOrderId.length <= maxIdLength && returnOrderId !== event.returnOrderId)
    faults.push({ path: 'data.returnOrderId', message: 'is a number that would not stay exact; send it as text' })
  const purchaseOrderId = address?.purchaseOrderId ?? null
  if (purchaseOrderId !== null && purchaseOrderId.length <= maxIdLength && purchaseOrderId !== event.purchaseOrderId) {
    faults.push({ path: 'data.purchaseOrderId', message: 'is a number that would not stay exact; send it as text' })
  }
  return faults
}
