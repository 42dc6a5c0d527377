import type { IncomingHttpHeaders } from 'node:http'
import type { Operation } from '../calls/operation.ts'
import { sellerOfCredentials } from '../calls/token.ts'
import { gatewayRefusal, missingHeader, unauthorized } from '../core/errors.ts'
import { admitDisplay } from '../display/admission.ts'
import type { World } from '../world.ts'
import { findHeader } from './headers.ts'

const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

/** Who calls, after what the headers say (specification, Authentication). */
export interface Admitted {
  /** The consumer id in display advertising; `null` when a token request has no client. */
  readonly sellerId: string | null
  /** The seller's token; `null` where none is sent. */
  readonly token: string | null
  readonly correlationId: string
}

/** Checks the headers that the operation's admission and the operation itself ask for. Throws 400, 401 or 406. */
export const admit = (world: World, operation: Operation, headers: IncomingHttpHeaders, now: number): Admitted => {
  const correlationId = findCorrelationId(world, operation, headers)
  switch (operation.admission) {
    case 'credentials':
      return { sellerId: sellerOfCredentials(world, headers), token: null, correlationId: correlationId ?? '' }
    case 'display':
      return { sellerId: admitDisplay(world, headers, now), token: null, correlationId: correlationId ?? '' }
    default:
      return admitSeller(world, operation, headers, now)
  }
}

/** The correlation id of a request, whether or not it is let in; `null` when it has none. */
export const findCorrelationId = (world: World, operation: Operation, headers: IncomingHttpHeaders): string | null =>
  marketplaceHeader(world, operation, headers, 'QOS.CORRELATION_ID').value

/** A marketplace header by its name after the prefix: `XX_SVC.NAME`, for some operations also `XXSVC.NAME`. */
const marketplaceHeader = (
  { settings }: World,
  { admission }: Operation,
  headers: IncomingHttpHeaders,
  rest: string,
): { readonly name: string; readonly value: string | null } => {
  const prefix = settings.dialect.headerPrefix
  const name = `${prefix}_${rest}`
  const bare = admission === 'marketplace-either-spelling' ? findHeader(headers, `${prefix}${rest.replaceAll('_', '')}`) : null
  return { name, value: findHeader(headers, name) ?? bare }
}

const admitSeller = (world: World, operation: Operation, headers: IncomingHttpHeaders, now: number): Admitted => {
  const needed = (rest: string): string => {
    const { name, value } = marketplaceHeader(world, operation, headers, rest)
    if (value === null) throw missingHeader(name)
    return value
  }
  const { name, value: token } = marketplaceHeader(world, operation, headers, 'SEC.ACCESS_TOKEN')
  if (token === null) throw unauthorized(`Required header ${name} is missing`)
  const correlationId = needed('QOS.CORRELATION_ID')
  if (world.settings.dialect.correlationIdIsUuid && !uuid.test(correlationId)) {
    const header = marketplaceHeader(world, operation, headers, 'QOS.CORRELATION_ID').name
    throw gatewayRefusal(400, 'INVALID_REQUEST_HEADER', header, 'The correlation id must be a UUID')
  }
  needed('SVC.NAME')
  const accept = findHeader(headers, 'Accept')
  if (accept === null) throw missingHeader('Accept')
  checkAccept(accept)
  for (const header of operation.requiredHeaders?.(world.settings.dialect) ?? []) {
    if (findHeader(headers, header) === null) throw missingHeader(header)
  }
  const sellerId = world.sellers.sellerOfToken(token, now)
  if (sellerId === null) throw unauthorized('Unauthorized token or incorrect authorization header. Please verify correct format')
  return { sellerId, token, correlationId }
}

const checkAccept = (accept: string): void => {
  if (!accept.toLowerCase().includes('application/json')) {
    throw gatewayRefusal(406, 'INVALID_ACCEPT_TYPE', 'Accept', 'The accepted answer must be application/json')
  }
}

/** Format of a text that should have been JSON; `null` if it cannot be determined. */
const findKind = (text: string): 'XML' | 'a form' | null => {
  if (/^\s*</.test(text)) return 'XML'
  return /^[\w.%+[\]-]+=[^{}"\s]*(&|$)/.test(text.trim()) ? 'a form' : null
}

/** Format of a body that is not JSON, by its content type, or else by its text. */
const kindOfType = (type: string, text: string): string | null => {
  if (/^[\w.-]+\/([\w.-]+\+)?xml\b/i.test(type)) return 'XML'
  if (/^(application\/x-www-form-urlencoded|multipart\/form-data)\b/i.test(type)) return 'a form'
  return findKind(text)
}

/** Reads a JSON body. Throws 415 for another content type and 400 for text that is no JSON, and says what came instead. */
export const readJson = (headers: IncomingHttpHeaders, text: string): unknown => {
  const type = findHeader(headers, 'content-type') ?? ''
  if (!/^application\/json\b/i.test(type)) {
    const kind = kindOfType(type, text)
    const description = `The body must be application/json${kind === null ? '' : `; this one is ${kind}`}`
    throw gatewayRefusal(415, 'UNSUPPORTED_MEDIA_TYPE', 'Content-Type', description)
  }
  try {
    return JSON.parse(text)
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error
    const kind = findKind(text)
    throw gatewayRefusal(
      400,
      'MALFORMED_REQUEST_CONTENT',
      'data',
      `The body is ${kind === null ? 'no JSON' : `${kind}, not JSON`}`,
    )
  }
}
