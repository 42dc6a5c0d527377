/** SQL: a text as a person may type it: regardless of case, spaces and hyphens. There are indexes on this expression. */
export const typedText = (expression: string): string => `lower(translate(${expression}, ' -', ''))`

// These operators compare bytes, and no character is above U+10FFFF. LIKE cannot use an index in a plan that does not know the parameter.
/** SQL: the text of `column` begins with `value`, as a person may type it; also if it is equal to it. */
export const beginsWith = (column: string, value: string): string =>
  `${typedText(column)} ~>=~ ${typedText(value)} AND ${typedText(column)} ~<~ (${typedText(value)} || chr(1114111))`

/** Minimum number of characters, without spaces and hyphens, by which something is searched by its end. */
const minEnd = 4

/** SQL: the text of `column` from its end. There are indexes on this expression. */
export const reversedText = (column: string): string => `reverse(${typedText(column)})`

/** SQL: the text of `column` ends with `value`, of at least four characters, and does not begin with it. */
export const endsWith = (column: string, value: string): string =>
  `${reversedText(column)} ~>=~ ${reversedText(value)} AND ${reversedText(column)} ~<~ (${reversedText(value)} || chr(1114111))
   AND length(${typedText(value)}) >= ${minEnd} AND NOT (${beginsWith(column, value)})`
