import { setTimeout as delay } from 'node:timers/promises'

/** Repeats `check` until it no longer throws; after `timeoutMs` throws what it threw last. */
export const eventually = async <Result>(check: () => Result | Promise<Result>, timeoutMs = 30_000): Promise<Result> => {
  const deadline = performance.now() + timeoutMs
  for (;;) {
    try {
      return await check()
    } catch (error) {
      if (performance.now() > deadline) throw error
    }
    await delay(25)
  }
}
