/** Exit codes of the command line. */
export const exitCodes = { done: 0, failed: 1, misused: 2 } as const

/** The command was called wrongly, or a setting that it needs is wrong or missing: exit code 2. */
export class Misused extends Error {
  override readonly name = 'Misused'
}

/** What was asked could not be done: exit code 1. `notes` are further lines for a person. */
export class Failed extends Error {
  override readonly name: string = 'Failed'
  readonly notes: readonly string[]
  constructor(message: string, notes: readonly string[] = [], options?: ErrorOptions) {
    super(message, options)
    this.notes = notes
  }
}

/** The words of an error, whatever was thrown; an error that only wraps others is told by the innermost cause. */
export const wordsOf = (error: unknown): string => {
  if (!(error instanceof Error)) return String(error)
  if (error instanceof AggregateError && error.errors.length > 0) return wordsOf(error.errors[0])
  if (error.cause instanceof Error && (error.message === '' || error.message === 'fetch failed')) return wordsOf(error.cause)
  return error.message === '' ? error.name : error.message
}
