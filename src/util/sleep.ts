import { setTimeout as wait } from 'node:timers/promises'

/** Resolves after the delay, or as soon as the signal is aborted. Never rejects. */
export const pause = async (delayMs: number, signal: AbortSignal): Promise<void> => {
  try {
    await wait(delayMs, undefined, { signal })
  } catch (error) {
    if (!signal.aborted) throw error
  }
}
