import { STATUS_CODES } from 'node:http'

/** One fault in the marketplace's format (public facts, section 6.1). */
export interface ApiFault {
  readonly code: string
  readonly field: string
  readonly description: string
  readonly severity: 'INFO' | 'WARN' | 'ERROR'
  readonly category: 'DATA' | 'REQUEST' | 'APPLICATION' | 'SYSTEM'
}

/** The ways in which errors are wrapped (public facts, section 6.1). */
export const errorShapes = [
  'nested',
  'flat',
  'singular',
  'oauth',
  'wfs',
  'spring',
  'display',
  'display-text',
  'problem',
  'html',
  'empty',
] as const

/** What a gateway before the marketplace may answer besides: XML, and JSON without any code (public facts, section 13). */
export const gatewayShapes = ['xml', 'message'] as const
export type ErrorShape = (typeof errorShapes)[number] | (typeof gatewayShapes)[number]

/** The marketplace refuses a request: nothing of it takes effect. */
export class Refusal extends Error {
  override readonly name = 'Refusal'
  readonly status: number
  readonly faults: readonly ApiFault[]
  readonly shape: ErrorShape

  constructor(status: number, faults: readonly ApiFault[], shape: ErrorShape = 'nested') {
    super(faults.map((fault) => fault.description).join('; '))
    this.status = status
    this.faults = faults
    this.shape = shape
  }
}

/** 400 for the content of a body: the code is always the same, only the text differs (public facts, section 6.4). */
export const refuseContent = (description: string, field = 'data'): Refusal =>
  new Refusal(400, [{ code: 'INVALID_REQUEST_CONTENT.GMP_ORDER_API', field, description, severity: 'ERROR', category: 'DATA' }])

/** 400 for a query parameter. */
export const refuseParameter = (field: string, description: string): Refusal =>
  new Refusal(400, [{ code: 'INVALID_REQUEST.GMP_ORDER_API', field, description, severity: 'ERROR', category: 'DATA' }])

/** 404 that means "there is none", severity INFO (public facts, section 2.4). */
export const contentNotFound = (description: string, component = 'GMP_ORDER_API', shape: ErrorShape = 'nested'): Refusal => {
  const code = `CONTENT_NOT_FOUND.${component}`
  return new Refusal(404, [{ code, field: 'data', description, severity: 'INFO', category: 'DATA' }], shape)
}

/** A refusal by the gateway, before any operation is reached. */
export const gatewayRefusal = (status: number, code: string, field: string, description: string): Refusal =>
  new Refusal(status, [
    { code: `${code}.GMP_GATEWAY_API`, field, description, severity: 'ERROR', category: status >= 500 ? 'SYSTEM' : 'REQUEST' },
  ])

/** 400 for a header that must be there. */
export const missingHeader = (name: string): Refusal =>
  gatewayRefusal(400, 'MISSING_REQUEST_HEADER', name, `Required header ${name} is missing`)

/** 401: the token is missing, unknown, dead, or the cursor was tampered with. */
export const unauthorized = (description: string): Refusal => gatewayRefusal(401, 'UNAUTHORIZED', 'UNAUTHORIZED', description)

export interface RenderedBody {
  readonly contentType: string
  readonly text: string
}

const page = (title: string): string =>
  `<!DOCTYPE html>\n<html><head><title>${title}</title></head>\n<body><h1>${title} - Read</h1>\n` +
  '<p>The server is temporarily unable to service your request.</p><p>Reference&#32;&#35;11.4c645f68</p></body></html>\n'

const xml = (code: string, title: string): string =>
  '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n<ns2:errors xmlns:ns2="http://gateway.example/"><ns2:error>' +
  `<ns2:code>${code}</ns2:code><ns2:description>${title}</ns2:description></ns2:error></ns2:errors>\n`

/** Words of OAuth 2.0 (RFC 6749, sections 4.1.2.1 and 5.2). */
const oauthErrors: ReadonlyMap<number, string> = new Map([
  [400, 'invalid_client'],
  [401, 'invalid_client'],
  [403, 'access_denied'],
])

/** The code of a refusal of the token operation: a word of OAuth 2.0 if the fault has one, otherwise by the status. */
const findOauthError = (status: number, code: string | undefined): string =>
  code !== undefined && /^[a-z]+(_[a-z]+)+$/.test(code) ? code : (oauthErrors.get(status) ?? 'server_error')

/** The body of an error answer in one of the shapes. */
export const renderFaults = (
  status: number,
  faults: readonly ApiFault[],
  shape: ErrorShape,
  path: string,
  now: number,
): RenderedBody => {
  const full = faults.map((fault) => ({ ...fault, info: fault.description, causes: [], errorIdentifiers: {} }))
  const first = faults[0]?.description ?? 'unknown'
  const title = STATUS_CODES[status] ?? 'Error'
  const json = (value: unknown, contentType = 'application/json'): RenderedBody => ({ contentType, text: JSON.stringify(value) })
  switch (shape) {
    case 'nested':
      return json({ errors: { error: full.map((fault) => ({ ...fault, errorIdentifiers: { entry: [] } })) } })
    case 'flat':
      return json({ errors: full })
    case 'singular':
      return json({ error: full })
    case 'oauth':
      return json({ error: findOauthError(status, faults[0]?.code), error_description: first })
    case 'wfs':
      return json({
        status: status >= 500 ? 'INTERNAL_SERVER_ERROR' : 'FAIL',
        errors: full.map((fault) => ({ ...fault, code: `${status}.WFS.100` })),
      })
    case 'spring':
      return json({ timestamp: new Date(now).toISOString(), status, error: title, path })
    case 'display':
      return json({ code: 'failure', details: faults.map((fault) => fault.description) })
    case 'display-text':
      return json({ code: 'failure', details: first })
    case 'problem':
      return json(
        {
          status,
          errors: faults.map(({ code, description }) => ({ code, field: null, description, info: description, causes: [first] })),
        },
        'application/problem+json',
      )
    case 'html':
      return { contentType: 'text/html', text: page(title) }
    case 'xml':
      return { contentType: 'application/xml', text: xml(`GATEWAY.${status}`, title) }
    case 'message':
      return json({ message: title })
    case 'empty':
      return { contentType: 'application/json', text: '' }
  }
}
