/** Counts the calls in progress, so that a client can wait for their end before it closes. */
export class OpenCalls {
  #count = 0
  readonly #listeners = new Set<() => void>()

  /** Counts one call until the returned function is called. Calling it again has no effect. */
  begin(): () => void {
    let isEnded = false
    this.#count += 1
    return () => {
      if (isEnded) return
      isEnded = true
      this.#count -= 1
      if (this.#count === 0) for (const listener of this.#listeners) listener()
    }
  }

  /** Runs work that counts as a call in progress. */
  async run<Result>(work: () => Promise<Result>): Promise<Result> {
    const end = this.begin()
    try {
      return await work()
    } finally {
      end()
    }
  }

  /** Resolves when no call is in progress, after `maxMs`, or when `signal` is aborted. */
  async waitForEnd(maxMs: number, signal: AbortSignal): Promise<void> {
    if (this.#count === 0 || signal.aborted) return
    const { promise, resolve } = Promise.withResolvers<void>()
    const timer = setTimeout(resolve, maxMs)
    this.#listeners.add(resolve)
    signal.addEventListener('abort', () => resolve(), { once: true })
    await promise
    clearTimeout(timer)
    this.#listeners.delete(resolve)
  }
}
