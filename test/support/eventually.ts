import { setTimeout as delay } from 'node:timers/promises'

/** Thrown by a check that can never succeed any more, however long one waits. */
export class Hopeless extends Error {
  override readonly name = 'Hopeless'
}

/** Repeats `check` until it no longer throws; throws what it threw last after `timeoutMs`, or at once if that is {@link Hopeless}. */
export const eventually = async <Result>(check: () => Result | Promise<Result>, timeoutMs = 30_000): Promise<Result> => {
  const deadline = performance.now() + timeoutMs
  for (;;) {
    try {
      return await check()
    } catch (error) {
      if (error instanceof Hopeless || performance.now() > deadline) throw error
    }
    await delay(25)
  }
}
