const extendedName = /filename\*\s*=\s*(?:"([^"]*)"|([^;]*))/i
const plainName = /filename\s*=\s*(?:"((?:\\.|[^"\\])*)"|([^;]*))/i

/** Text of an extended value (`UTF-8''…`, RFC 8187); null if it is none, or has another character set. */
const decodeExtended = (value: string): string | null => {
  const [, text] = /^utf-8'[^']*'(.*)$/i.exec(value.trim()) ?? []
  if (text === undefined) return null
  try {
    return decodeURIComponent(text)
  } catch (error) {
    if (error instanceof URIError) return null
    throw error
  }
}

/**
 * The file name of a `Content-Disposition` header, without a path; null if there is none. Lenient: the marketplace has sent a colon after `attachment` (public
 * facts, section 7.2), which RFC 6266 does not allow.
 */
export const findFileName = (header: string | null): string | null => {
  if (header === null) return null
  const [, quotedExtended, bareExtended] = extendedName.exec(header) ?? []
  const [, quoted, bare] = plainName.exec(header.replace(extendedName, '')) ?? []
  const name = decodeExtended(quotedExtended ?? bareExtended ?? '') ?? quoted?.replace(/\\(.)/g, '$1') ?? bare ?? ''
  return name.split(/[/\\]/).at(-1)?.trim() || null
}

const stamp = /(\d{4})-(\d{2})-(\d{2})[T_ ](\d{2})[_:.-]?(\d{2})[_:.-]?(\d{2})(?:[._,](\d{1,9}))?(Z|[+-]\d{2}[_:]?\d{2})?/i

/**
 * The timestamp in a file name (`…_2021-07-15T06_42_13.766Z.csv`, public facts, section 7.2), in UTC unless it has another offset; null if there is none.
 */
export const parseStamp = (fileName: string | null): Date | null => {
  const [, year, month, day, hour, minute, second, fraction = '0', zone = 'Z'] = stamp.exec(fileName ?? '') ?? []
  if (year === undefined) return null
  const offset = zone.toUpperCase() === 'Z' ? 'Z' : zone.replace('_', ':').replace(/^(.\d{2})(\d{2})$/, '$1:$2')
  const date = new Date(`${year}-${month}-${day}T${hour}:${minute}:${second}.${fraction.slice(0, 3).padEnd(3, '0')}${offset}`)
  return Number.isNaN(date.getTime()) ? null : date
}
