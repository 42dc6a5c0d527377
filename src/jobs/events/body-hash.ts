import { createHash } from 'node:crypto'
import type { StoredEvent } from '../../store/events.ts'

/** JSON with the members of every object in the order of their names: equal values, equal texts. */
const canonical = (value: unknown): string => {
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`
  if (typeof value === 'object' && value !== null) {
    const members = Object.entries(value)
      .filter(([, member]) => member !== undefined)
      .sort(([a], [b]) => (a < b ? -1 : 1))
    return `{${members.map(([name, member]) => `${JSON.stringify(name)}:${canonical(member)}`).join(',')}}`
  }
  return JSON.stringify(value) ?? 'null'
}

/**
 * SHA-256, hexadecimal, of an event's type and data, whatever the order of their members and their white space: the same event
 * posted again hashes alike, also when it has been through `jsonb` meanwhile.
 */
export const bodyHash = (event: { readonly type: string; readonly data: unknown }): string =>
  createHash('sha256')
    .update(canonical([event.type, event.data]))
    .digest('hex')

/** The hash of a stored event; null for one whose data cannot be read, or is kept no more, which no other event equals. */
export const storedHash = (event: StoredEvent): string | null =>
  event.bodyHash ?? (event.unreadable === null && event.dataRemovedAt === null ? bodyHash(event) : null)
