import { type Drift, describeValue } from '../../domain/drift/shape.ts'
import type { ResponseHeaders } from './classify.ts'

/** The names of headers that announce the end of an operation are not published: any with one of these words is taken for one. */
const announcing = /deprecat|sunset/i
/** Names and values of such headers that can have no personal data. */
const plainName = /^[a-z0-9._-]{1,60}$/
const plainValue = /^[A-Za-z0-9 ,:;@+_-]{1,60}$/

/** Statuses that the marketplace publishes, or that a gateway before it has. */
const knownStatuses: ReadonlySet<number> = new Set([
  ...[200, 201, 202, 204, 206, 400, 401, 403, 404, 405, 406, 408, 409, 413, 415, 422, 423, 425, 429],
  ...[500, 502, 503, 504, 520, 521],
])

/** Headers of an answer that announce the end of its operation. Another value, such as another date, is another place. */
export const listAnnouncements = (headers: ResponseHeaders): readonly Drift[] =>
  Object.keys(headers)
    .filter((name) => announcing.test(name) && plainName.test(name))
    .map((name) => {
      const text = [headers[name] ?? ''].flat().join(', ').trim()
      const isPlain = plainValue.test(text)
      return { kind: 'header', path: name, value: isPlain ? text : '', example: isPlain ? text : describeValue(text) }
    })

/** The status of an answer if it is not known; null without an answer. */
export const findUnknownStatus = (status: number | null): Drift | null =>
  status === null || knownStatuses.has(status)
    ? null
    : { kind: 'status', path: String(status), value: '', example: `HTTP ${status}` }
