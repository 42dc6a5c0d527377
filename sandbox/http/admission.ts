import type { IncomingHttpHeaders } from 'node:http'
import { gatewayRefusal, unauthorized } from '../core/errors.ts'
import type { World } from '../world.ts'

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

/** What the headers of a business call say (specification, Authentication). */
export interface Admitted {
  readonly sellerId: string
  readonly token: string
  readonly correlationId: string
}

/** One header as text, `null` when it is missing or empty. */
export function headerOf(headers: IncomingHttpHeaders, name: string): string | null {
  const value = headers[name.toLowerCase()]
  const first = Array.isArray(value) ? value[0] : value
  return first === undefined || first.trim() === '' ? null : first.trim()
}

/** Checks the required headers and the token. Throws 400, 401 or 406. */
export function admit(world: World, headers: IncomingHttpHeaders, now: number): Admitted {
  const prefix = world.settings.dialect.headerPrefix
  const needed = (name: string): string => {
    const value = headerOf(headers, name)
    if (value === null) throw gatewayRefusal(400, 'MISSING_REQUEST_HEADER', name, `Required header ${name} is missing`)
    return value
  }
  const token = headerOf(headers, `${prefix}_SEC.ACCESS_TOKEN`)
  if (token === null) throw unauthorized(`Required header ${prefix}_SEC.ACCESS_TOKEN is missing`)
  const correlationId = needed(`${prefix}_QOS.CORRELATION_ID`)
  if (!UUID.test(correlationId)) {
    throw gatewayRefusal(400, 'INVALID_REQUEST_HEADER', `${prefix}_QOS.CORRELATION_ID`, 'The correlation id must be a UUID')
  }
  needed(`${prefix}_SVC.NAME`)
  checkAccept(needed('Accept'))
  const sellerId = world.sellers.sellerOfToken(token, now)
  if (sellerId === null) throw unauthorized('Unauthorized token or incorrect authorization header. Please verify correct format')
  return { sellerId, token, correlationId }
}

function checkAccept(accept: string): void {
  if (!accept.toLowerCase().includes('application/json')) {
    throw gatewayRefusal(406, 'INVALID_ACCEPT_TYPE', 'Accept', 'The accepted answer must be application/json')
  }
}

/** Reads a JSON body. Throws 415 for another content type and 400 for text that is no JSON. */
export function readJson(headers: IncomingHttpHeaders, text: string): unknown {
  if (!/^application\/json\b/i.test(headerOf(headers, 'content-type') ?? '')) {
    throw gatewayRefusal(415, 'UNSUPPORTED_MEDIA_TYPE', 'Content-Type', 'The body must be application/json')
  }
  try {
    return JSON.parse(text)
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error
    throw gatewayRefusal(400, 'MALFORMED_REQUEST_CONTENT', 'data', 'The body is no JSON')
  }
}
