/**
 * Why a text can be the id of no purchase order, as an end to "the id …"; null: it can. Ids stand in the paths of requests, where these
 * characters, or dots alone, would name another path to somebody on the way.
 */
export const noOrderId = (text: string): string | null => {
  if (/^\.{1,2}$/.test(text)) return 'is . or .., which is no id'
  return /[/\\?#%\s\p{C}]/u.test(text) ? 'must not contain / \\ ? # %, white space or control characters' : null
}

/** Why Postgres cannot store a text, as an end to "the text …"; null: it can. Also such text cannot be looked for. */
export const unstorable = (text: string): string | null => {
  if (text.includes('\u0000')) return 'must not contain the character U+0000, which Postgres cannot store'
  return text.isWellFormed() ? null : 'must not contain half of a surrogate pair, which is no Unicode text'
}
