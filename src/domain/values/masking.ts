/** What stands instead of a text about a buyer. */
export const mask = '•••'

/** Members whose texts are about a buyer, at any depth below them. */
const aboutBuyer = /^name$|^(customer|buyer|recipient|first|last)_?name$|e-?mail|phone|address|postal|^zip/i
/** Members of an address that name no one. */
const place = new Set(['city', 'state', 'country', 'addressType'])

const hidden = (value: unknown): unknown => {
  if (typeof value === 'string') return value === '' ? value : mask
  if (typeof value === 'number') return mask
  if (Array.isArray(value)) return value.map(hidden)
  if (typeof value !== 'object' || value === null) return value
  return maskedAddress({ ...value })
}

/** An address of which the place alone is left. */
export const maskedAddress = (address: Readonly<Record<string, unknown>>): Record<string, unknown> =>
  Object.fromEntries(Object.entries(address).map(([name, member]) => [name, place.has(name) ? member : hidden(member)]))

/** A record of any shape without the texts that are about a buyer: names, streets, phone numbers and the like. The shape stays. */
export const masked = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(masked)
  if (typeof value !== 'object' || value === null || value instanceof Date) return value
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [name, aboutBuyer.test(name) ? hidden(member) : masked(member)]),
  )
}

const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch (error) {
    if (error instanceof SyntaxError) return undefined
    throw error
  }
}

/**
 * A received record without its texts about a buyer; the same text if there are none. A text that is not JSON is hidden
 * completely, because its parts are unknown.
 */
export const maskedText = (text: string): string => {
  const record = parsed(text)
  if (typeof record !== 'object' || record === null) return mask
  const shown = JSON.stringify(masked(record))
  return shown === JSON.stringify(record) ? text : shown
}
