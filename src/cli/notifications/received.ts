import type { CliContext } from '../context.ts'

/** Notifications that a process of the daemon has counted since its start. */
export interface ReceivedCounts {
  readonly total: number
  /** Of these, those whose proof was wrong. */
  readonly refused: number
}

const timeoutMs = 5_000
const sample = /^tallyman_notifications_total\{outcome="([a-z-]+)"\} (\d+)$/gm

/** The counts of a text of metrics. */
export const parseReceived = (metrics: string): ReceivedCounts => {
  const counts = { total: 0, refused: 0 }
  for (const [, outcome, number] of metrics.matchAll(sample)) {
    counts.total += Number(number)
    if (outcome === 'refused') counts.refused += Number(number)
  }
  return counts
}

/** The counts of the process at the daemon's address; null: it does not show them. */
export const readReceived = async ({ settings, signal }: CliContext): Promise<ReceivedCounts | null> => {
  try {
    const answer = await fetch(`${settings.daemonUrl}/metrics`, {
      headers: settings.apiKey === null ? {} : { authorization: `Bearer ${settings.apiKey}` },
      signal: AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]),
    })
    const text = await answer.text()
    return answer.ok ? parseReceived(text) : null
  } catch (error) {
    if (signal.aborted) throw error
    // The test goes on without them, and its result says so.
    return null
  }
}
