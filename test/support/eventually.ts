import { setTimeout as delay } from 'node:timers/promises'

/** Thrown by a check that can never succeed any more, however long one waits. */
export class Hopeless extends Error {
  override readonly name = 'Hopeless'
}

/** Repeats `check` until it no longer throws; throws what it threw last after `timeoutMs`, or at once if that is {@link Hopeless}. */
export const eventually = async <Result>(check: () => Result | Promise<Result>, timeoutMs = 60_000): Promise<Result> => {
  const startedMs = performance.now()
  for (;;) {
    try {
      return await check()
    } catch (error) {
      if (error instanceof Hopeless || performance.now() - startedMs > timeoutMs) throw error
    }
    // Who has waited long need not look as often: each look costs time of the processor, also in the program that is looked at.
    await delay(Math.min(Math.max((performance.now() - startedMs) / 10, 25), 200))
  }
}
