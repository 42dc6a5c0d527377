/** Options of a shared check. */
export interface SharedCheckOptions<Result> {
  /** A result is shared by all calls within this time, in milliseconds. */
  readonly freshMs: number
  /** Timeout of each call, in milliseconds. */
  readonly timeoutMs: number
  /** Maximum number of hanging checks; at this number no further check is started. */
  readonly maxHanging: number
  /** Result of a check that takes too long. */
  readonly late: Result
}

/** Creates a check that may be called at any rate: one runs at a time, and its result is shared for `freshMs`. */
export const shareCheck = <Result>(
  check: () => Promise<Result>,
  { freshMs, timeoutMs, maxHanging, late }: SharedCheckOptions<Result>,
): (() => Promise<Result>) => {
  let hanging = 0
  let last: { readonly result: Promise<Result>; endedMs: number | null } | null = null
  return () => {
    if (last !== null && (last.endedMs === null || performance.now() - last.endedMs < freshMs)) return last.result
    if (hanging >= maxHanging) return Promise.resolve(late)
    hanging += 1
    const result = new Promise<Result>((resolve, reject) => {
      const timer = setTimeout(() => resolve(late), timeoutMs)
      check()
        .then(resolve, reject)
        .finally(() => {
          hanging -= 1
          clearTimeout(timer)
        })
    })
    const one: { readonly result: Promise<Result>; endedMs: number | null } = { result, endedMs: null }
    last = one
    const ended = (): void => {
      one.endedMs = performance.now()
    }
    result.then(ended, ended)
    return result
  }
}
