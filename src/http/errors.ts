import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify'
import { isDatabaseAway } from '../store/faults.ts'
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

const problemOf = (error: unknown): { readonly code: ProblemCode; readonly details: ProblemDetails } | null => {
  if (error instanceof Problem) return error
  if (error instanceof InvalidRequest) {
    return { code: error.part === 'body' ? 'invalid-body' : 'invalid-request', details: { errors: error.faults } }
  }
  // Readiness tells it, once and for all; a line for each request would be a flood.
  if (isDatabaseAway(error)) {
    return { code: 'unavailable', details: { detail: 'The database cannot be reached now.', headers: { 'retry-after': '5' } } }
  }
  if (!(error instanceof Error) || !('code' in error)) return null
  const code = codesOfFastify[String(error.code)]
  if (code !== undefined) return { code, details: { detail: error.message } }
  // What the framework itself finds wrong with a request; its own faults have a status of 500 or none.
  const { statusCode } = error as FastifyError
  return statusCode !== undefined && statusCode >= 400 && statusCode < 500
    ? { code: 'malformed-request', details: { detail: error.message } }
    : null
}

/** Answers any error with its problem document; what is no fault of the request is logged and told as `internal`. */
export const answerError = (error: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply => {
  const known = problemOf(error)
  const code = known?.code ?? 'internal'
  // Only the log says what went wrong inside; the correlation id connects the two.
  if (known === null) {
    request.log.error({ err: error, method: request.method, route: request.routeOptions.url }, 'a request failed')
  }
  const details: ProblemDetails = known?.details ?? { detail: 'The log says more, under the correlation id.' }
  const document = problemDocument(code, details, { instance: pathOf(request), correlationId: request.id })
  return reply
    .header('x-correlation-id', request.id)
    .status(problemKinds[code].status)
    .headers(details.headers ?? {})
    .type(problemMediaType)
    .serializer((payload: unknown) => JSON.stringify(payload))
    .send(document)
}
