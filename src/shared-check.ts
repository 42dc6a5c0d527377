/** How a check is shared. */
export interface SharedCheckOptions<Result> {
  /** A result serves everybody who asks within so many milliseconds. */
  readonly freshMs: number
  /** Nobody waits longer than this. */
  readonly timeoutMs: number
  /** So many checks may hang at once; beyond that nobody is asked. */
  readonly mostHanging: number
  /** What is answered when a check takes too long. */
  readonly late: Result
}

/** Makes a check that anybody may ask for at any rate: one at a time does the work, and its result is shared for a while. */
export const shareCheck = <Result>(
  check: () => Promise<Result>,
  { freshMs, timeoutMs, mostHanging, late }: SharedCheckOptions<Result>,
): (() => Promise<Result>) => {
  let hanging = 0
  let last: { readonly result: Promise<Result>; endedMs: number | null } | null = null
  return () => {
    if (last !== null && (last.endedMs === null || performance.now() - last.endedMs < freshMs)) return last.result
    if (hanging >= mostHanging) return Promise.resolve(late)
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
