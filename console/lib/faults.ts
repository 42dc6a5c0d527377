/** What went wrong, as a sentence for the person who must act. */
export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))
