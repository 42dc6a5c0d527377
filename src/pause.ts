import { setTimeout as wait } from 'node:timers/promises'

/** Resolves after so many milliseconds, or at once when the signal fires. Never rejects. */
export const pause = async (delayMs: number, signal: AbortSignal): Promise<void> => {
  try {
    await wait(delayMs, undefined, { signal })
  } catch (error) {
    if (!signal.aborted) throw error
  }
}
