// Texts from outside (product names, errors, the marketplace's messages) may contain control characters that move the cursor, retitle the window
// or paste into the reader's shell, and direction marks that display a text as another one. Joiners are kept: scripts and emoji need them.
const harmful = /(?!\n|\t|\u200c|\u200d|\p{Cn}|\p{Co})\p{C}|\p{Zl}|\p{Zp}/gu

const escaped = (found: string): string =>
  Array.from({ length: found.length }, (_, at) => `\\u${found.charCodeAt(at).toString(16).padStart(4, '0')}`).join('')

/** A text with control sequences and invisible characters escaped as `\uXXXX`, which does not change the meaning of JSON. */
export const harmless = (text: string): string => text.replace(harmful, escaped)

/** A line of JSON whose texts stay harmless when they are parsed and displayed: each such character is replaced by its escape. */
export const harmlessOnceParsed = (json: string): string =>
  json
    .replace(harmful, (found) => escaped(found).replaceAll('\\', '\\\\'))
    // Characters that JSON has escaped already; line breaks are kept, as in stacks.
    .replace(/(?<!\\)((?:\\\\)*)(\\u00[01][0-9a-f]|\\[bfr])/g, '$1\\$2')
