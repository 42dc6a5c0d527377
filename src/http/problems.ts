import { STATUS_CODES } from 'node:http'
import { z } from 'zod'

/** Media type of problem documents (RFC 9457). */
export const problemMediaType = 'application/problem+json'

/** One error of a request; `path` is its position: `data.lines[0].quantity`, `query.limit`. */
export interface ProblemFault {
  readonly path: string
  readonly message: string
}

/** Codes of problems: stable, for programs. A code always has the same status and title. */
export const problemKinds = {
  'malformed-request': { status: 400, title: 'The request is malformed' },
  'malformed-json': { status: 400, title: 'The body is not JSON' },
  'invalid-request': { status: 400, title: 'The request has invalid parameters' },
  'unknown-parameter': { status: 400, title: 'The route does not know a parameter' },
  'position-beyond-end': { status: 400, title: 'The position is beyond the end of the feed' },
  'invalid-cursor': { status: 400, title: 'The cursor does not belong to this list' },
  unauthenticated: { status: 401, title: 'A key is required' },
  'invalid-signature': { status: 401, title: 'The signature does not prove the sender' },
  'host-refused': { status: 403, title: 'Not addressed by a loopback name' },
  'origin-refused': { status: 403, title: 'Pages of other origins may not change anything' },
  'scope-missing': { status: 403, title: 'The key may not do this' },
  'seller-refused': { status: 403, title: 'The key is bound to other sellers' },
  'not-found': { status: 404, title: 'Not found' },
  'not-yet-known': { status: 404, title: 'Not known at that time' },
  'method-not-allowed': { status: 405, title: 'The method is not allowed here' },
  'not-acceptable': { status: 406, title: 'No acceptable media type' },
  'event-conflict': { status: 409, title: 'Another event has this source and id' },
  'ambiguous-order': { status: 409, title: 'Several sellers have an order with this id' },
  'ambiguous-campaign': { status: 409, title: 'Several sellers have a campaign with this id' },
  'seller-stopped': { status: 409, title: 'The seller is stopped or paused' },
  'seller-served': { status: 409, title: 'The seller is still served' },
  'seller-unsettled': { status: 409, title: 'The seller has work that is not settled' },
  'shadow-differs': { status: 409, title: 'Orders differ from what was predicted' },
  'illegal-state': { status: 409, title: 'The state does not allow it' },
  'changes-gone': { status: 410, title: 'The next changes have been removed' },
  'version-not-kept': { status: 410, title: 'The version is not kept' },
  'body-too-large': { status: 413, title: 'The body is too large' },
  'uri-too-long': { status: 414, title: 'The address is too long' },
  'unsupported-media-type': { status: 415, title: 'The body is of an unknown type' },
  'invalid-body': { status: 422, title: 'The body is invalid' },
  'invalid-settings': { status: 422, title: 'The settings are invalid' },
  'invalid-event': { status: 422, title: 'The event is invalid' },
  'still-malformed': { status: 422, title: 'The record still cannot be parsed' },
  'too-many-attempts': { status: 429, title: 'Too many wrong keys' },
  'headers-too-large': { status: 431, title: 'The headers are too large' },
  internal: { status: 500, title: 'Internal error' },
  unavailable: { status: 503, title: 'Temporarily unavailable' },
} as const satisfies Record<string, { status: number; title: string }>

/** One of {@link problemKinds}. */
export type ProblemCode = keyof typeof problemKinds

/** Details of a problem. */
export interface ProblemDetails {
  readonly detail?: string
  readonly errors?: readonly ProblemFault[]
  /** Additional response headers. */
  readonly headers?: Readonly<Record<string, string>>
}

/** Thrown by a route to answer with a problem document. */
export class Problem extends Error {
  override readonly name = 'Problem'
  readonly code: ProblemCode
  readonly details: ProblemDetails
  constructor(code: ProblemCode, details: ProblemDetails = {}) {
    super(details.detail ?? problemKinds[code].title)
    this.code = code
    this.details = details
  }
}

/** A problem document. */
export const problemSchema = z
  .object({
    type: z.string().meta({ description: 'Kind of problem: urn:tallyman:problem:<code>.' }),
    title: z.string(),
    status: z.int(),
    detail: z.string(),
    instance: z.string().meta({ description: 'Path of the request.' }),
    code: z.string().meta({ description: 'Stable name of the kind of problem, for programs.' }),
    correlationId: z.string().meta({ description: 'Included in the log lines of this request.' }),
    errors: z
      .array(z.object({ path: z.string(), message: z.string() }))
      .optional()
      .meta({ description: 'All errors, each with its path.' }),
  })
  .meta({ id: 'Problem', description: 'Problem details (RFC 9457).' })

/** A problem document. */
export type ProblemDocument = z.infer<typeof problemSchema>

/** The document of a problem. */
export const problemDocument = (
  code: ProblemCode,
  { detail, errors }: ProblemDetails,
  request: { readonly instance: string; readonly correlationId: string },
): ProblemDocument => ({
  type: `urn:tallyman:problem:${code}`,
  title: problemKinds[code].title,
  status: problemKinds[code].status,
  detail: detail ?? `${problemKinds[code].title}.`,
  instance: request.instance,
  code,
  correlationId: request.correlationId,
  ...(errors === undefined ? {} : { errors: errors.map(({ path, message }) => ({ path, message })) }),
})

/** A whole HTTP/1.1 response with a problem, for requests that are too malformed to have a reply object. */
export const rawProblemResponse = (code: ProblemCode, correlationId: string): string => {
  const body = JSON.stringify(problemDocument(code, {}, { instance: '', correlationId }))
  const { status } = problemKinds[code]
  return [
    `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? 'Error'}`,
    `content-type: ${problemMediaType}`,
    `content-length: ${Buffer.byteLength(body)}`,
    'connection: close',
    '',
    body,
  ].join('\r\n')
}

/** Formats a path of keys as `lines[0].quantity`. */
export const pathText = (path: readonly PropertyKey[]): string =>
  path.reduce<string>(
    (all, key) => (typeof key === 'number' ? `${all}[${key}]` : all === '' ? String(key) : `${all}.${String(key)}`),
    '',
  )
