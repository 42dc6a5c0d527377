/**
 * Why a text can be the id of no purchase order, as an end to "the id …"; null: it can. Ids stand in the paths of requests, where these
 * characters, or dots alone, would name another path to somebody on the way.
 */
export const noOrderId = (text: string): string | null => {
  if (/^\.{1,2}$/.test(text)) return 'is . or .., which is no id'
  const invisible = invisibleIn(text)
  if (invisible !== null) return `contains the invisible character ${invisible}`
  return /[/\\?#%\s\p{C}]/u.test(text) ? 'must not contain / \\ ? # %, white space or control characters' : null
}

/** Why Postgres cannot store a text, as an end to "the text …"; null: it can. Also such text cannot be looked for. */
export const unstorable = (text: string): string | null => {
  if (text.includes('\u0000')) return 'must not contain the character U+0000, which Postgres cannot store'
  return text.isWellFormed() ? null : 'must not contain half of a surrogate pair, which is no Unicode text'
}

/**
 * The one form of a SKU in which it is stored and compared: without outer white space, Unicode NFC. Orders, reports and the log spell the same SKU
 * in different ways; requests to the marketplace take its own spelling.
 */
export const normalSku = (sku: string): string => sku.trim().normalize('NFC')

/** Control and format characters, separators of lines, and characters that Unicode lets programs leave out when they show a text. */
const invisible = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/u

/**
 * The first character within a text that nobody sees and its position, such as `U+202A at position 1`; null: there is none. Outer white space
 * is left out: it is trimmed wherever it is allowed.
 */
export const invisibleIn = (text: string): string | null => {
  const trimmed = text.trim()
  const at = trimmed.search(invisible)
  if (at === -1) return null
  const code = (trimmed.codePointAt(at) ?? 0).toString(16).toUpperCase().padStart(4, '0')
  const position = [...text.slice(0, text.indexOf(trimmed) + at)].length + 1
  return `U+${code} at position ${position}`
}
