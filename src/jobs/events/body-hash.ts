import { createHash } from 'node:crypto'
import { canonicalJson } from '../../domain/values/values.ts'
import type { StoredEvent } from '../../store/events/events.ts'

/**
 * SHA-256, hexadecimal, of an event's type and data, independent of the order of members and of white space: the same event
 * posted again has the same hash, also after it was stored as `jsonb`.
 */
export const bodyHash = (event: { readonly type: string; readonly data: unknown }): string =>
  createHash('sha256')
    .update(canonicalJson([event.type, event.data]))
    .digest('hex')

/** The hash of a stored event; null for one whose data cannot be read, or is kept no more, which no other event equals. */
export const storedHash = (event: StoredEvent): string | null =>
  event.bodyHash ?? (event.unreadable === null && event.dataRemovedAt === null ? bodyHash(event) : null)

/** Whether a waiting event came by the SQL inbox: the daemon has hashed what it took itself. */
export const isFromInbox = ({ bodyHash }: Pick<StoredEvent, 'bodyHash'>): boolean => bodyHash === null
