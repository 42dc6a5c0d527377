import type { FastifyReply, FastifyRequest } from 'fastify'
import { createQuietLog, type Logger } from '../observability/log.ts'
import { describeUnavailable, isDatabaseUnavailable } from '../store/db/errors.ts'
import { Problem, type ProblemCode, type ProblemDetails, problemDocument, problemKinds, problemMediaType } from './problems.ts'
import { InvalidRequest } from './schemas/serializers.ts'

/** Path of a request, without its query. */
export const requestPath = (request: FastifyRequest): string => request.url.split('?')[0] ?? request.url

const codesByFastifyCode: Readonly<Record<string, ProblemCode>> = {
  FST_ERR_CTP_BODY_TOO_LARGE: 'body-too-large',
  FST_ERR_CTP_INVALID_MEDIA_TYPE: 'unsupported-media-type',
  FST_ERR_CTP_EMPTY_TYPE: 'unsupported-media-type',
  FST_ERR_CTP_EMPTY_JSON_BODY: 'malformed-json',
  FST_ERR_CTP_INVALID_JSON_BODY: 'malformed-json',
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: 'malformed-request',
  FST_ERR_BAD_URL: 'malformed-request',
  FST_ERR_MAX_PARAM_LENGTH: 'uri-too-long',
}

const describeTooLarge = (maxBytes: number): string =>
  `The body has more than ${maxBytes} bytes (MAX_BODY_BYTES); send smaller requests.`

/** The problem that an error stands for; null: an internal error. */
const buildProblem = (
  error: unknown,
  bodyLimit: number,
): { readonly code: ProblemCode; readonly details: ProblemDetails } | null => {
  if (error instanceof Problem) return error
  if (error instanceof InvalidRequest) {
    return { code: error.part === 'body' ? 'invalid-body' : 'invalid-request', details: { errors: error.faults } }
  }
  if (isDatabaseUnavailable(error)) {
    const detail = 'The database is not available; nothing was done. Retry later.'
    return { code: 'unavailable', details: { detail, headers: { 'retry-after': '5' } } }
  }
  if (!(error instanceof Error) || !('code' in error)) return null
  const code = codesByFastifyCode[String(error.code)]
  if (code === 'body-too-large') return { code, details: { detail: describeTooLarge(bodyLimit) } }
  if (code !== undefined) return { code, details: { detail: error.message } }
  // Errors of the framework: those of the request have a status of 4xx, internal ones 500 or none.
  const statusCode = 'statusCode' in error ? error.statusCode : undefined
  return typeof statusCode === 'number' && statusCode >= 400 && statusCode < 500
    ? { code: 'malformed-request', details: { detail: error.message } }
    : null
}

/** Limits the listed errors, and notes how many there are. */
const limitErrors = (details: ProblemDetails, max: number): ProblemDetails => {
  const { errors, detail } = details
  if (errors === undefined || errors.length <= max) return details
  const note = `The first ${max} of ${errors.length} errors are listed.`
  return { ...details, errors: errors.slice(0, max), detail: detail === undefined ? note : `${detail} ${note}` }
}

/** Whether the work was aborted because the client disconnected. Nothing has failed. */
const isDisconnected = (error: unknown, request: FastifyRequest): boolean =>
  error instanceof Error && error.name === 'AbortError' && request.signal.aborted

/** Answers requests that failed. */
export interface ErrorAnswers {
  /** Answers an error with its problem document. An error that the request did not cause is logged and answered as `internal`. */
  readonly answer: (error: unknown, request: FastifyRequest, reply: FastifyReply) => FastifyReply
  /** Called for every request that the database served. */
  readonly succeeded: () => void
}

/** An outage is logged once in this interval and at its end, regardless of the number of affected requests. */
const outageIntervalMs = 3_600_000

/** One instance per server: it records whether an outage has been logged. `maxErrors` limits the errors listed in one answer. */
export const createErrorAnswers = (log: Pick<Logger, 'info' | 'warn' | 'error'>, maxErrors: number): ErrorAnswers => {
  const outages = createQuietLog(log, { intervalMs: outageIntervalMs })
  return {
    answer: (error, request, reply) => {
      const known = buildProblem(error, request.routeOptions.bodyLimit)
      const code = known?.code ?? 'internal'
      // The answer does not contain the internal cause: the log does, under the correlation id. During an outage a line per request would flood it.
      if (known === null && isDisconnected(error, request)) {
        request.log.debug(
          { method: request.method, route: request.routeOptions.url },
          'the client disconnected before the answer',
        )
      } else if (known === null) {
        request.log.error({ err: error, method: request.method, route: request.routeOptions.url }, 'a request failed')
      } else if (!(error instanceof Problem) && code === 'unavailable') {
        outages.warn(
          'database',
          { reason: describeUnavailable(error) },
          'the database is not available: requests that need it are answered with 503',
        )
      }
      const details: ProblemDetails = known?.details ?? { detail: 'The log has details under the correlation id.' }
      const document = problemDocument(code, limitErrors(details, maxErrors), {
        instance: requestPath(request),
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
