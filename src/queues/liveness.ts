/** What is known of one queue's consumption by this process. Times in milliseconds of our clock; null: never. */
export interface ConsumptionMark {
  readonly queue: string
  /** The queue was last asked for work and answered. */
  readonly lastTurnAtMs: number | null
  /** A running job last began, ended, or said that it gets on. */
  readonly lastProgressAtMs: number | null
  /** Jobs that run now. */
  readonly active: number
  readonly concurrency: number
}

/** What the verdict is made of. */
export interface ConsumptionInput {
  readonly nowMs: number
  readonly startedAtMs: number | null
  /** Not consuming on purpose: paused, or on the way out. */
  readonly resting: boolean
  /** Since when the store is known to be away; null while it is there. */
  readonly storeAwaySinceMs: number | null
  readonly marks: readonly ConsumptionMark[]
  /** After the start nothing is held against us for so long. */
  readonly bootGraceMs: number
  /** A queue without a sign of life for so long is stuck. */
  readonly stuckAfterMs: number
}

/** Whether work is being consumed, and a sentence for a person. */
export interface ConsumptionVerdict {
  readonly alive: boolean
  readonly detail: string
}

/**
 * Alive means that work is being consumed: each queue was asked for work and answered, or its jobs get on. An idle queue answers too. A store that
 * is away is no reason to restart this process: readiness tells that. A store that seems to be there while nothing moves is.
 */
export const evaluateConsumption = (input: ConsumptionInput): ConsumptionVerdict => {
  const { nowMs, startedAtMs, marks, stuckAfterMs } = input
  if (input.resting) return { alive: true, detail: 'not consuming on purpose' }
  if (startedAtMs === null || marks.length === 0) return { alive: true, detail: 'this process consumes no queue' }
  if (nowMs - startedAtMs < input.bootGraceMs) return { alive: true, detail: 'just started' }
  if (input.storeAwaySinceMs !== null) return { alive: true, detail: 'waiting for the store of the queues' }
  const stuck = marks.flatMap((mark) => {
    const busy = mark.active >= mark.concurrency
    // While all places are taken the queue is not asked: then only the jobs themselves can give a sign.
    const lastSignMs = Math.max(mark.lastTurnAtMs ?? startedAtMs, busy ? (mark.lastProgressAtMs ?? startedAtMs) : 0)
    const silentMs = nowMs - lastSignMs
    return silentMs > stuckAfterMs ? [`${mark.queue} (${Math.round(silentMs / 1_000)} s${busy ? ', all places taken' : ''})`] : []
  })
  return stuck.length === 0
    ? { alive: true, detail: 'work is being consumed' }
    : { alive: false, detail: `no work is taken from ${stuck.join(', ')}` }
}
