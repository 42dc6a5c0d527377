import { isObject } from '../../domain/values/values.ts'
import type { BodyErrors, FaultRules } from '../http/classify.ts'
import type { Fault } from '../http/errors.ts'

const maxFaults = 50
const maxFaultText = 500
/** HTTP statuses of the marketplace's error codes, by prefix (public facts, section 6.2); for bodies that contradict their HTTP status. */
const statusByCode: readonly (readonly [RegExp, number])[] = [
  [/^REQUEST_THRESHOLD_VIOLATED/i, 429],
  [/^TOO_MANY_REQUESTS/i, 429],
  [/^UNAUTHORIZED/i, 401],
  [/^FORBIDDEN/i, 403],
  [/^RESOURCE_IS_LOCKED/i, 423],
  [/^(?:CONTENT_NOT_FOUND|URI_NOT_FOUND|NOT_FOUND)/i, 404],
  [/^(?:SYSTEM_ERROR|INVALID_SYSTEM_STATE|INTERNAL_SERVER_ERROR|SERVER_ERROR)/i, 500],
  [/^(?:DOWNSTREAM_SYSTEM_TIME_OUT|GATEWAY_TIMEOUT)/i, 504],
  [/^(?:SERVICE_UNAVAILABLE|TEMPORARILY_UNAVAILABLE)/i, 503],
  [/^(?:INVALID_|MISSING_|MALFORMED_|BAD_REQUEST|UNPROCESSABLE_ENTITY|METHOD_NOT_ALLOWED|UNSUPPORTED_MEDIA_TYPE)/i, 400],
]

/**
 * An error code of the marketplace: capitals, often followed by a dot and a component (public facts, section 6.2; specification, Errors); the fulfillment
 * service adds the status as a prefix. Reason phrases ("Not Found") and plain numbers of gateways and frameworks do not match.
 */
const ownCode = /^(?:[A-Z][A-Z\d]*(?:[_.][A-Z\d]+)*|[45]\d\d\.[A-Z]+\.\d+)$/

/** Errors of OAuth 2.0 (RFC 6749, sections 4.1.2.1 and 5.2). */
const oauthCodes: ReadonlySet<unknown> = new Set([
  'invalid_request',
  'invalid_client',
  'invalid_grant',
  'unauthorized_client',
  'unsupported_grant_type',
  'invalid_scope',
  'access_denied',
  'server_error',
  'temporarily_unavailable',
])

/** Texts of a refusal that mean "done before" (public facts, section 6.4). The pattern is loose, since only a few samples are known. */
const alreadyDone = /higher status|already|over\s*shipped|is in (?!created|acknowledged)\w+ status|enough quantity to/i

const faultText = (value: unknown): string | null => {
  if (typeof value === 'number') return String(value)
  return typeof value === 'string' && value.trim() !== '' ? value.slice(0, maxFaultText) : null
}

const readFault = (entry: unknown): Fault | null => {
  if (!isObject(entry)) {
    const text = faultText(entry)
    return text === null ? null : { code: text, field: null, description: null }
  }
  const causes: readonly unknown[] = [entry['causes'] ?? []].flat()
  const causeTexts = causes.map((cause) => (isObject(cause) ? cause['description'] : cause))
  const description = joinTexts([entry['description'], entry['message'], entry['info'], entry['detail'], ...causeTexts])
  return { code: faultText(entry['code']), field: faultText(entry['field']), description: faultText(description) }
}

const joinTexts = (values: readonly unknown[]): string =>
  [...new Set(values.slice(0, maxFaults).map(faultText))].filter((text) => text !== null).join('; ')

/** The entries under `errors` or `error`: a list, a single entry, or either of them below another `error`. Not recursive, since a body may have any depth. */
const listEntries = (value: unknown): readonly unknown[] => {
  const inner = isObject(value) && 'error' in value ? value['error'] : value
  if (inner === undefined || inner === null || inner === '') return []
  return Array.isArray(inner) ? inner : [inner]
}

/** The code of a failure of display advertising (specification, Errors). */
const isFailureCode = (code: unknown): boolean => typeof code === 'string' && /^failure$/i.test(code)

/** The `details` of a failure, a text or a list of texts. A text that is a code, such as `TOO_MANY_FILTERS_PROVIDED_IN_REQUEST`, is an entry of its own. */
const failureEntries = (details: unknown): readonly unknown[] => {
  const texts = [details].flat().slice(0, maxFaults)
  const codes = texts.filter((text) => typeof text === 'string' && /^[A-Z][A-Z\d]*(?:[_.][A-Z\d]+)+$/.test(text))
  const others = texts.filter((text) => !codes.includes(text))
  return codes.length > 0 && others.length === 0 ? codes : [...codes, { code: 'failure', description: joinTexts(others) }]
}

/** The text of a 401 for a seller that is not enrolled in the programme of an operation. */
const notEligible = /program eligibility is not enabled/i

/** The errors in a body, in any of the known shapes (public facts, section 6.1). Never throws; empty if there are none. */
export const readFaults = (body: unknown): readonly Fault[] => {
  if (!isObject(body)) return []
  const list = body['list']
  const entries = [...listEntries(body['errors']), ...(isObject(list) ? listEntries(list['errors']) : [])]
  const error = body['error']
  if (isObject(error) || Array.isArray(error)) entries.push(...listEntries(error))
  else if (faultText(error) !== null) {
    entries.push({ code: error, description: body['error_description'] ?? body['message'] })
  }
  if (isFailureCode(body['code'])) entries.push(...failureEntries(body['details']))
  if (entries.length === 0 && faultText(body['title']) !== null)
    entries.push({ code: body['title'], description: body['detail'] })
  return entries
    .slice(0, maxFaults)
    .map(readFault)
    .filter((fault) => fault !== null)
}

/** Whether one of these entries has a code that matches the pattern. */
const someCoded = (entries: readonly unknown[], pattern: RegExp): boolean =>
  entries.slice(0, maxFaults).some((entry) => {
    const code = isObject(entry) ? entry['code'] : undefined
    return typeof code === 'string' && pattern.test(code)
  })

/**
 * Whether the marketplace itself has answered, and not a gateway: an error with a code in one of its shapes (public facts, section 6.1). Only the marketplace uses
 * `errors.error[]`, so any code is accepted there. The other shapes are common, so the code must have its form. The default body of Spring, `{"message":…}` and
 * similar bodies are JSON too, but may be those of a gateway.
 */
const isFromMarketplace = (body: unknown, speaksOAuth: boolean): boolean => {
  if (!isObject(body)) return false
  const { errors, error, list, code, details } = body
  for (const found of [errors, isObject(list) ? list['errors'] : undefined]) {
    if (someCoded(listEntries(found), isObject(found) && 'error' in found ? /\S/ : ownCode)) return true
  }
  if (typeof error !== 'string' && someCoded(listEntries(error), ownCode)) return true
  if (isFailureCode(code) && details !== undefined) return true
  return speaksOAuth && oauthCodes.has(error)
}

const isWarning = (entry: unknown): boolean =>
  isObject(entry) && typeof entry['severity'] === 'string' && /^(?:INFO|WARN)/i.test(entry['severity'])

const hasError = (body: unknown): boolean =>
  isObject(body) && listEntries(body['errors']).some((entry) => isObject(entry) && !isWarning(entry))

const statusOfCode = (code: string | null): number | null => {
  if (code === null) return null
  // The fulfillment service adds the status as a prefix: `400.WFS.100`.
  const leading = /^([45]\d\d)(?:\D|$)/.exec(code)?.[1]
  if (leading !== undefined) return Number(leading)
  return statusByCode.find(([pattern]) => pattern.test(code))?.[1] ?? null
}

/** The HTTP statuses in a body, by its codes and its `status`. */
const namedStatuses = (body: unknown, faults: readonly Fault[], statusIsData: boolean): readonly number[] => {
  const status = isObject(body) && !statusIsData ? body['status'] : null
  const named = typeof status === 'string' || typeof status === 'number' ? String(status) : null
  return [...faults.map((fault) => statusOfCode(fault.code)), statusOfCode(named)].filter((found) => found !== null)
}

/** The 400 of a read during outages: only the field `data` and "Invalid Request" (public facts, section 6.3). */
const isOutageRefusal = (faults: readonly Fault[]): boolean => {
  const [fault] = faults
  return (
    fault !== undefined &&
    faults.length === 1 &&
    /^INVALID_REQUEST\./i.test(fault.code ?? '') &&
    fault.field === 'data' &&
    /^invalid request\.?$/i.test(fault.description ?? '')
  )
}

const isNotFound = (faults: readonly Fault[]): boolean =>
  faults.length > 0 && faults.every(({ code }) => /^CONTENT_NOT_FOUND(?:\.|$)/i.test(code ?? ''))

/** Reads the errors of a body, in any of the known shapes. */
const read = (body: unknown, how: Parameters<FaultRules['read']>[1]): BodyErrors => {
  const statusIsData = how.statusIsData ?? false
  const faults = readFaults(body)
  const document = isObject(body) ? body : {}
  const status = statusIsData ? null : document['status']
  const named = typeof status === 'string' ? status : typeof status === 'number' ? String(status) : ''
  return {
    faults,
    fromMarketplace: isFromMarketplace(body, how.speaksOAuth ?? false),
    statuses: namedStatuses(body, faults, statusIsData),
    isFailure: /^(?:FAIL|ERROR)/i.test(named) || statusOfCode(named) !== null || isFailureCode(document['code']),
    hasError: hasError(body),
    notEnrolled: notEligible.test(
      joinTexts([...faults.map(({ description }) => description), document['message'], document['detail']]),
    ),
    onlyWarnings: [...listEntries(document['errors']), ...listEntries(document['error'])].every(isWarning),
  }
}

/** How errors of this marketplace are read. */
export const faultRules: FaultRules = {
  read,
  isOutage: isOutageRefusal,
  isNotFound: isNotFound,
  isAlreadyDone: (faults) => alreadyDone.test(faults.map((fault) => fault.description ?? '').join('\n')),
}
