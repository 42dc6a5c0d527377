// Texts come from elsewhere (product names, errors, the marketplace's words): control characters move the cursor, retitle the window or paste
// into the shell of whoever reads them, and marks of direction show a text as another one. Joiners stay: scripts and emoji are made with them.
const harmful = /(?!\n|\t|\u200c|\u200d|\p{Cn}|\p{Co})\p{C}|\p{Zl}|\p{Zp}/gu

const escaped = (found: string): string =>
  Array.from({ length: found.length }, (_, at) => `\\u${found.charCodeAt(at).toString(16).padStart(4, '0')}`).join('')

/** A text with everything that a terminal would obey, and all that cannot be seen, written out as `\uXXXX`; so JSON stays the same JSON. */
export const harmless = (text: string): string => text.replace(harmful, escaped)

/** A line of JSON whose texts stay harmless when somebody parses it and shows them: what would be such a character is its escape instead. */
export const harmlessOnceParsed = (json: string): string =>
  json
    .replace(harmful, (found) => escaped(found).replaceAll('\\', '\\\\'))
    // What JSON has escaped already; a line may break still, as stacks do.
    .replace(/(?<!\\)((?:\\\\)*)(\\u00[01][0-9a-f]|\\[bfr])/g, '$1\\$2')
