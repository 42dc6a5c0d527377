import type { IncomingHttpHeaders } from 'node:http'

/** One header as text, `null` when it is missing or empty. */
export function headerOf(headers: IncomingHttpHeaders, name: string): string | null {
  const value = headers[name.toLowerCase()]
  const first = Array.isArray(value) ? value[0] : value
  return first === undefined || first.trim() === '' ? null : first.trim()
}
