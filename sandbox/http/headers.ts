import type { IncomingHttpHeaders } from 'node:http'
import type { Dialect } from '../settings.ts'

/** One header as text, `null` when it is missing or empty. */
export const findHeader = (headers: IncomingHttpHeaders, name: string): string | null => {
  const value = headers[name.toLowerCase()]
  const first = Array.isArray(value) ? value[0] : value
  return first === undefined || first.trim() === '' ? null : first.trim()
}

/** What global operations need besides; the specification shows the values `3.1` and `us` and refuses no others. */
export const globalHeaders = ({ headerPrefix }: Dialect): readonly string[] => [
  `${headerPrefix}_GLOBAL_VERSION`,
  `${headerPrefix}_MARKET`,
]
