/** Why Postgres cannot store a text, as an end to "the text …"; null: it can. Also such text cannot be looked for. */
export const unstorable = (text: string): string | null => {
  if (text.includes('\u0000')) return 'must not contain the character U+0000, which Postgres cannot store'
  return text.isWellFormed() ? null : 'must not contain half of a surrogate pair, which is no Unicode text'
}
