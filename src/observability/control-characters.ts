// Texts from outside (product names, errors, the marketplace's messages) may contain control characters that move the cursor, retitle the window or
// paste into the reader's shell, and direction marks that display a text as another one. Joiners are kept: scripts and emoji need them.
const harmful = /(?!\n|\t|\u200c|\u200d|\p{Cn}|\p{Co})\p{C}|\p{Zl}|\p{Zp}/gu

const escapeCharacters = (found: string): string =>
  Array.from({ length: found.length }, (_, at) => `\\u${found.charCodeAt(at).toString(16).padStart(4, '0')}`).join('')

/** Escapes control sequences and invisible characters as `\uXXXX`, which does not change the meaning of JSON. */
export const escapeControlCharacters = (text: string): string => text.replace(harmful, escapeCharacters)

/** Escapes them so that they stay escaped when the line of JSON is parsed and its texts are displayed. */
export const escapeControlCharactersInJson = (json: string): string =>
  json
    .replace(harmful, (found) => escapeCharacters(found).replaceAll('\\', '\\\\'))
    // Characters that are already escaped in JSON; line breaks are kept, for stacks.
    .replace(/(?<!\\)((?:\\\\)*)(\\u00[01][0-9a-f]|\\[bfr])/g, '$1\\$2')
