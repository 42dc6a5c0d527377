/** State of one queue's consumption by this process. Times in milliseconds of our clock; null: never. */
export interface ConsumptionMark {
  readonly queue: string
  /** When the queue was last polled and answered. */
  readonly lastPolledAtMs: number | null
  /** When a running job last began, ended, or reported progress. */
  readonly lastProgressAtMs: number | null
  /** Number of running jobs. */
  readonly active: number
  readonly concurrency: number
}

/** Input of the verdict. */
export interface ConsumptionInput {
  readonly nowMs: number
  readonly startedAtMs: number | null
  /** Consumption has ended on purpose: the process stops. */
  readonly isDraining: boolean
  /** Since when the store is unavailable; null while it is available. */
  readonly storeUnavailableSinceMs: number | null
  readonly marks: readonly ConsumptionMark[]
  /** Grace period after the start. */
  readonly bootGraceMs: number
  /** A queue without activity for this time is stuck. */
  readonly stuckAfterMs: number
}

/** Whether work is being consumed, and a sentence for the operator. */
export interface ConsumptionVerdict {
  readonly alive: boolean
  readonly detail: string
}

/**
 * Alive means that work is being consumed: each queue was polled and answered, or its jobs make progress. An idle queue answers too. An available
 * store without any progress is a reason to restart this process. An unavailable store is not: readiness reports it.
 */
export const evaluateConsumption = (input: ConsumptionInput): ConsumptionVerdict => {
  const { nowMs, startedAtMs, marks, stuckAfterMs } = input
  if (input.isDraining) return { alive: true, detail: 'consumption has ended for a stop' }
  if (startedAtMs === null || marks.length === 0) return { alive: true, detail: 'this process consumes no queue' }
  if (nowMs - startedAtMs < input.bootGraceMs) return { alive: true, detail: 'just started' }
  if (input.storeUnavailableSinceMs !== null) return { alive: true, detail: 'waiting for the store of the queues' }
  const stuck = marks.flatMap((mark) => {
    const busy = mark.active >= mark.concurrency
    // While all workers are busy the queue is not polled: then only the jobs themselves show activity.
    const lastActivityMs = Math.max(mark.lastPolledAtMs ?? startedAtMs, busy ? (mark.lastProgressAtMs ?? startedAtMs) : 0)
    const silentMs = nowMs - lastActivityMs
    return silentMs > stuckAfterMs ? [`${mark.queue} (${Math.round(silentMs / 1_000)} s${busy ? ', all workers busy' : ''})`] : []
  })
  return stuck.length === 0
    ? { alive: true, detail: 'work is being consumed' }
    : { alive: false, detail: `no work is consumed from ${stuck.join(', ')}` }
}
