/** The message of an error; any other thrown value as text. */
export const errorMessage = (error: unknown): string => (error instanceof Error ? error.message : String(error))
