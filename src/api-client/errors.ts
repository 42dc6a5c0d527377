/** Invalid arguments, or a required setting that is invalid or missing: exit code 2. */
export class Misused extends Error {
  override readonly name = 'Misused'
}

/** The command failed: exit code 1. `notes` are further lines for the user. */
export class Failed extends Error {
  override readonly name: string = 'Failed'
  readonly notes: readonly string[]
  constructor(message: string, notes: readonly string[] = [], options?: ErrorOptions) {
    super(message, options)
    this.notes = notes
  }
}

/** The message of a thrown value. For an error that only wraps others: the message of the innermost cause. */
export const describeError = (error: unknown): string => {
  if (!(error instanceof Error)) return String(error)
  if (error instanceof AggregateError && error.errors.length > 0) return describeError(error.errors[0])
  if (error.cause instanceof Error && (error.message === '' || error.message === 'fetch failed'))
    return describeError(error.cause)
  return error.message === '' ? error.name : error.message
}
