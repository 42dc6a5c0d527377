/** Runs work after all earlier work has ended, with or without an error. Returns the result or the error of the work. */
export type Mutex = <Result>(work: () => Promise<Result>) => Promise<Result>

/** Creates a mutex for one process. */
export const createMutex = (): Mutex => {
  let last: Promise<unknown> = Promise.resolve()
  return (work) => {
    const next = last.then(work)
    last = next.catch(() => undefined)
    return next
  }
}

/** Resolves when all work so far has ended. */
export const whenIdle = (mutex: Mutex): Promise<void> => mutex(async () => undefined)
