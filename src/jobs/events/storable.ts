import type { EventFault } from '../../domain/event-shape.ts'
import type { IncomingEvent } from '../../store/events.ts'

/** Longest `source` and `id`, in bytes of UTF-8: together they must fit into an index row of Postgres. */
export const maxKeyBytes = 1_000
/** Longest `type`, in characters. */
export const maxTypeLength = 256
/** Deepest nesting of `data`: far beyond any event, far below what a stack can take. */
const maxDepth = 32

const unstorable = (text: string): string | null => {
  if (text.includes('\u0000')) return 'must not contain the character U+0000, which Postgres cannot store'
  return text.isWellFormed() ? null : 'must not contain half of a surrogate pair, which is no Unicode text'
}

const dataFaults = (value: unknown, path: string, depth: number, faults: EventFault[]): void => {
  if (typeof value === 'string') {
    const message = unstorable(value)
    if (message !== null) faults.push({ path, message })
    return
  }
  if (typeof value !== 'object' || value === null) return
  if (depth >= maxDepth) {
    faults.push({ path, message: `is nested more than ${maxDepth} levels deep` })
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

/** What keeps an event from being stored at all: text that Postgres refuses, keys too long for an index, bottomless nesting. */
export const storableFaults = (event: IncomingEvent): readonly EventFault[] => {
  const faults: EventFault[] = []
  for (const name of ['source', 'id', 'type'] as const) {
    const message = unstorable(event[name])
    if (message !== null) faults.push({ path: name, message })
  }
  for (const name of ['source', 'id'] as const) {
    if (Buffer.byteLength(event[name]) > maxKeyBytes) faults.push({ path: name, message: `is longer than ${maxKeyBytes} bytes` })
  }
  if (event.type.length > maxTypeLength) faults.push({ path: 'type', message: `is longer than ${maxTypeLength} characters` })
  dataFaults(event.data, 'data', 0, faults)
  return faults
}
