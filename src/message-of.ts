/** What was thrown, in words: the message of an error, anything else as text. */
export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))
