import type { FastifyReply, FastifyRequest } from 'fastify'
import { createQuietLog, type Logger } from '../observability/log.ts'
import { describeAway, isDatabaseAway } from '../store/faults.ts'
import { Problem, type ProblemCode, type ProblemDetails, problemDocument, problemKinds, problemMediaType } from './problems.ts'
import { InvalidRequest } from './serializers.ts'

/** Path of a request, without its query. */
export const pathOf = (request: FastifyRequest): string => request.url.split('?')[0] ?? request.url

const codesOfFastify: Readonly<Record<string, ProblemCode>> = {
  FST_ERR_CTP_BODY_TOO_LARGE: 'body-too-large',
  FST_ERR_CTP_INVALID_MEDIA_TYPE: 'unsupported-media-type',
  FST_ERR_CTP_EMPTY_TYPE: 'unsupported-media-type',
  FST_ERR_CTP_EMPTY_JSON_BODY: 'malformed-json',
  FST_ERR_CTP_INVALID_JSON_BODY: 'malformed-json',
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: 'malformed-request',
  FST_ERR_BAD_URL: 'malformed-request',
  FST_ERR_MAX_PARAM_LENGTH: 'uri-too-long',
}

/** What a body may have, in the setting's own unit. */
const tooLarge = (bytes: number): string =>
  `The body has more than ${bytes} bytes, the most that is taken (MAX_BODY_BYTES); send less at once.`

const problemOf = (
  error: unknown,
  bodyLimit: number,
): { readonly code: ProblemCode; readonly details: ProblemDetails } | null => {
  if (error instanceof Problem) return error
  if (error instanceof InvalidRequest) {
    return { code: error.part === 'body' ? 'invalid-body' : 'invalid-request', details: { errors: error.faults } }
  }
  if (isDatabaseAway(error)) {
    const detail = 'The database is not available at the moment; nothing was done in part. Retry later.'
    return { code: 'unavailable', details: { detail, headers: { 'retry-after': '5' } } }
  }
  if (!(error instanceof Error) || !('code' in error)) return null
  const code = codesOfFastify[String(error.code)]
  if (code === 'body-too-large') return { code, details: { detail: tooLarge(bodyLimit) } }
  if (code !== undefined) return { code, details: { detail: error.message } }
  // Faults of a request that the framework itself finds; its internal faults have a status of 500 or none.
  const statusCode = 'statusCode' in error ? error.statusCode : undefined
  return typeof statusCode === 'number' && statusCode >= 400 && statusCode < 500
    ? { code: 'malformed-request', details: { detail: error.message } }
    : null
}

/** The first faults, and a note on the number of further ones. */
const bounded = (details: ProblemDetails, most: number): ProblemDetails => {
  const { errors, detail } = details
  if (errors === undefined || errors.length <= most) return details
  const more = `The first ${most} of ${errors.length} faults are listed.`
  return { ...details, errors: errors.slice(0, most), detail: detail === undefined ? more : `${detail} ${more}` }
}

/** Whether work was given up because whoever asked for it has gone: nobody reads the answer, and nothing has failed. */
const hasLeft = (error: unknown, request: FastifyRequest): boolean =>
  error instanceof Error && error.name === 'AbortError' && request.signal.aborted

/** Handling of errors. */
export interface ErrorAnswers {
  /** Answers any error with its problem document; errors that are not caused by the request are logged and answered as `internal`. */
  readonly answer: (error: unknown, request: FastifyRequest, reply: FastifyReply) => FastifyReply
  /** Called for every request that the database served. */
  readonly succeeded: () => void
}

/** An outage is logged once an hour, and at its end, regardless of the number of affected requests. */
const outageIntervalMs = 3_600_000

/** One instance per server: it records whether an outage has been logged. `most` limits the faults of one answer. */
export const createErrorAnswers = (log: Pick<Logger, 'info' | 'warn' | 'error'>, mostFaults: number): ErrorAnswers => {
  const outages = createQuietLog(log, { intervalMs: outageIntervalMs })
  return {
    answer: (error, request, reply) => {
      const known = problemOf(error, request.routeOptions.bodyLimit)
      const code = known?.code ?? 'internal'
      // Only the log has the internal cause; the correlation id connects the two. During an outage a line per request would flood it.
      if (known === null && hasLeft(error, request)) {
        request.log.debug({ method: request.method, route: request.routeOptions.url }, 'the client left before its answer')
      } else if (known === null) {
        request.log.error({ err: error, method: request.method, route: request.routeOptions.url }, 'a request failed')
      } else if (!(error instanceof Problem) && code === 'unavailable') {
        outages.warn(
          'database',
          { reason: describeAway(error) },
          'the database is not available: requests that need it are answered with 503',
        )
      }
      const details: ProblemDetails = known?.details ?? { detail: 'The log has details, with the correlation id.' }
      const document = problemDocument(code, bounded(details, mostFaults), {
        instance: pathOf(request),
        correlationId: request.id,
      })
      return reply
        .header('x-correlation-id', request.id)
        .status(problemKinds[code].status)
        .headers(details.headers ?? {})
        .type(problemMediaType)
        .serializer((payload: unknown) => JSON.stringify(payload))
        .send(document)
    },
    succeeded: () => outages.recovered('database', 'the database is available again'),
  }
}
