/** Longest `source` and `id` of an event, in bytes of UTF-8: together they must fit into an index row of Postgres. */
export const maxKeyBytes = 1_000
/** Longest `type` of an event, in characters. */
export const maxTypeLength = 256
/** Longest purchase order id and seller id that an event may name, in UTF-16 units; the first also stands in the index `erp_event_received_by_order`. */
export const maxIdLength = 255
/** Longest tracking number of a parcel, in UTF-16 units: far above those of any carrier. */
export const maxTrackingNumberLength = 255
/** Longest shipment id and SKU of an inbound shipment, in UTF-16 units: together they stand in an index. */
export const maxInboundLength = 255
/** Most units of one SKU in an inbound shipment: Postgres adds up integers of a shipment without overflow. */
export const maxInboundUnits = 100_000_000
/** Maximum nesting of `data`: far above any event, far below the limit of the stack. */
export const maxDataDepth = 32
/** Maximum bytes of `data` as text in Postgres: everything that fits into an HTTP request is far below. */
export const maxDataBytes = 4_194_304
/** Most parcels and lines of an event together: far beyond any order, and looked at within a moment. */
export const maxEntries = 2_000
/** So many faults are kept with a rejected event. */
export const maxFaultsKept = 50

const quote = 0x22
const backslash = 0x5c
const openings: ReadonlySet<number> = new Set([0x5b, 0x7b])
const closings: ReadonlySet<number> = new Set([0x5d, 0x7d])

/** Levels of arrays and objects in a JSON text, found without recursion: 0 for a plain value. */
export const measureNesting = (json: string): number => {
  let deepest = 0
  let level = 0
  let inText = false
  for (let at = 0; at < json.length; at += 1) {
    const unit = json.charCodeAt(at)
    if (inText) {
      if (unit === backslash) at += 1
      else if (unit === quote) inText = false
    } else if (unit === quote) inText = true
    else if (openings.has(unit)) {
      level += 1
      deepest = Math.max(deepest, level)
    } else if (closings.has(unit)) level -= 1
  }
  return deepest
}

/** Digits of a number as text in Postgres: all of them, however large or small it is. */
const countDigits = (value: number): number => {
  const written = JSON.stringify(value)
  const [mantissa = '', exponent] = written.split('e')
  if (exponent === undefined) return written.length
  const sign = mantissa.startsWith('-') ? 1 : 0
  const digits = mantissa.replace(/[-.]/g, '').length
  const places = Number(exponent)
  return sign + (places >= 0 ? Math.max(places + 1, digits) : 1 - places + digits)
}

/**
 * Bytes of a JSON value as Postgres writes it out (`data::text`), for {@link maxDataBytes}: with a space behind each comma and colon, and
 * with all digits of a number: 1e308 takes five bytes in a request and 309 here. Not for values that are nested without end.
 */
export const postgresTextBytes = (value: unknown): number => {
  if (typeof value === 'number') return countDigits(value)
  if (typeof value !== 'object' || value === null) return Buffer.byteLength(JSON.stringify(value) ?? 'null')
  const separators = (members: number) => 2 + Math.max(0, members - 1) * 2
  if (Array.isArray(value)) return value.reduce((sum: number, item) => sum + postgresTextBytes(item), separators(value.length))
  const members = Object.entries(value).filter(([, member]) => member !== undefined)
  return members.reduce(
    (sum, [name, member]) => sum + Buffer.byteLength(JSON.stringify(name)) + 2 + postgresTextBytes(member),
    separators(members.length),
  )
}
