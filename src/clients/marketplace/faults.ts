import { isObject } from '../../domain/values.ts'
import type { Fault } from '../errors.ts'
import type { FaultRules, Said } from '../judge.ts'

const maxFaults = 50
const maxFaultText = 500
/** Statuses that the marketplace's codes stand for (public facts, section 6.2), by prefix; for bodies that contradict their HTTP status. */
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
 * A code as the marketplace writes it: capitals, often with a component behind a dot (public facts, section 6.2; specification, Errors);
 * the fulfillment service puts the status in front. Reason phrases ("Not Found") and bare numbers, as gateways and frameworks have them, are none.
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

/** Texts of a refusal that mean "done before" (public facts, section 6.4). Loose, since only these samples are known. */
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
  const causes = Array.isArray(entry['causes']) ? entry['causes'] : []
  const words = causes.map((cause) => (isObject(cause) ? cause['description'] : cause))
  const description = joinTexts([entry['description'], entry['message'], entry['info'], entry['detail'], ...words])
  return { code: faultText(entry['code']), field: faultText(entry['field']), description: faultText(description) }
}

const joinTexts = (values: readonly unknown[]): string =>
  [...new Set(values.slice(0, maxFaults).map(faultText))].filter((text) => text !== null).join('; ')

/** The entries under `errors` or `error`: a list, a single one, or either below a further `error`. Not recursive: a body may be as deep as it likes. */
const entriesOf = (value: unknown): readonly unknown[] => {
  const inner = isObject(value) && 'error' in value ? value['error'] : value
  if (inner === undefined || inner === null || inner === '') return []
  return Array.isArray(inner) ? inner : [inner]
}

/** Of display advertising (specification, Errors). */
const isFailureCode = (code: unknown): boolean => typeof code === 'string' && /^failure$/i.test(code)

/** The `details` of a failure, a text or a list of them; one that is a code, such as `TOO_MANY_FILTERS_PROVIDED_IN_REQUEST`, counts as one. */
const failureEntries = (details: unknown): readonly unknown[] => {
  const texts = [details].flat().slice(0, maxFaults)
  const codes = texts.filter((text) => typeof text === 'string' && /^[A-Z][A-Z\d]*(?:[_.][A-Z\d]+)+$/.test(text))
  const others = texts.filter((text) => !codes.includes(text))
  return codes.length > 0 && others.length === 0 ? codes : [...codes, { code: 'failure', description: joinTexts(others) }]
}

/** The faults that a body names, in whichever of the known shapes (public facts, section 6.1). Never throws; empty when there are none. */
export const readFaults = (body: unknown): readonly Fault[] => {
  if (!isObject(body)) return []
  const list = body['list']
  const entries = [...entriesOf(body['errors']), ...(isObject(list) ? entriesOf(list['errors']) : [])]
  const error = body['error']
  if (isObject(error) || Array.isArray(error)) entries.push(...entriesOf(error))
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

/** Whether one of these entries is a fault with a code, one that fits the pattern where there is one. */
const someCoded = (entries: readonly unknown[], pattern: RegExp): boolean =>
  entries.slice(0, maxFaults).some((entry) => {
    const code = isObject(entry) ? entry['code'] : undefined
    return typeof code === 'string' && pattern.test(code)
  })

/**
 * Whether the marketplace itself speaks, and not something on the way: a fault with a code in one of its shapes (public facts, section
 * 6.1). `errors.error[]` is its alone, so any code will do there; the others are common, so the code must be one of its kind. Spring's
 * default body, `{"message":…}` and the like are JSON too, but come from whoever happens to stand there.
 */
const isOwnWord = (body: unknown, speaksOAuth: boolean): boolean => {
  if (!isObject(body)) return false
  const { errors, error, list, code, details } = body
  for (const found of [errors, isObject(list) ? list['errors'] : undefined]) {
    if (someCoded(entriesOf(found), isObject(found) && 'error' in found ? /\S/ : ownCode)) return true
  }
  if (typeof error !== 'string' && someCoded(entriesOf(error), ownCode)) return true
  if (isFailureCode(code) && details !== undefined) return true
  return speaksOAuth && oauthCodes.has(error)
}

const isRemark = (entry: unknown): boolean =>
  isObject(entry) && typeof entry['severity'] === 'string' && /^(?:INFO|WARN)/i.test(entry['severity'])

const hasError = (body: unknown): boolean =>
  isObject(body) && entriesOf(body['errors']).some((entry) => isObject(entry) && !isRemark(entry))

const statusOfCode = (code: string | null): number | null => {
  if (code === null) return null
  // The fulfillment service puts the status in front: `400.WFS.100`.
  const leading = /^([45]\d\d)(?:\D|$)/.exec(code)?.[1]
  if (leading !== undefined) return Number(leading)
  return statusByCode.find(([pattern]) => pattern.test(code))?.[1] ?? null
}

/** The statuses that a body names, by its codes and by a `status` of its own. */
const namedStatuses = (body: unknown, faults: readonly Fault[], statusIsData: boolean): readonly number[] => {
  const status = isObject(body) && !statusIsData ? body['status'] : null
  const named = typeof status === 'string' || typeof status === 'number' ? String(status) : null
  return [...faults.map((fault) => statusOfCode(fault.code)), statusOfCode(named)].filter((found) => found !== null)
}

/** A 400 that a read gets during outages: field `data`, "Invalid Request", nothing more (public facts, section 6.3). */
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

const saysNone = (faults: readonly Fault[]): boolean =>
  faults.length > 0 && faults.every(({ code }) => /^CONTENT_NOT_FOUND(?:\.|$)/i.test(code ?? ''))

/** What a body says, in any of the known shapes. */
const read = (body: unknown, how: Parameters<FaultRules['read']>[1]): Said => {
  const statusIsData = how.statusIsData ?? false
  const faults = readFaults(body)
  const document = isObject(body) ? body : {}
  const status = statusIsData ? null : document['status']
  const named = typeof status === 'string' ? status : typeof status === 'number' ? String(status) : ''
  return {
    faults,
    ownWord: isOwnWord(body, how.speaksOAuth ?? false),
    statuses: namedStatuses(body, faults, statusIsData),
    fails: /^(?:FAIL|ERROR)/i.test(named) || statusOfCode(named) !== null || isFailureCode(document['code']),
    namesError: hasError(body),
    onlyRemarks: [...entriesOf(document['errors']), ...entriesOf(document['error'])].every(isRemark),
  }
}

/** How this marketplace words its faults. */
export const faultRules: FaultRules = {
  read,
  isOutage: isOutageRefusal,
  saysNone,
  saysDone: (faults) => alreadyDone.test(faults.map((fault) => fault.description ?? '').join('\n')),
}
