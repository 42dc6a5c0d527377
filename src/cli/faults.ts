import { duration } from './terminal.ts'

/** Exit codes of the command line. */
export const exitCodes = { done: 0, failed: 1, misused: 2 } as const

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

/** What the daemon was asked for, and no process with the role `worker` does. `look` says where it is seen that one does. */
export const notBegun = (what: string, waitMs: number, look: string): Failed =>
  new Failed(`no process has been at ${what} for ${duration(waitMs)}`, [
    'a daemon with the role `worker` does it: does one run, and is it ready?',
    `it stays asked for, and is done as soon as one does; ${look}`,
  ])

/** The message of whatever was thrown; for an error that only wraps others, that of the innermost cause. */
export const wordsOf = (error: unknown): string => {
  if (!(error instanceof Error)) return String(error)
  if (error instanceof AggregateError && error.errors.length > 0) return wordsOf(error.errors[0])
  if (error.cause instanceof Error && (error.message === '' || error.message === 'fetch failed')) return wordsOf(error.cause)
  return error.message === '' ? error.name : error.message
}
