import { setTimeout as pause } from 'node:timers/promises'
import { type RetainedData, type RetentionSettings, retainedData } from '../../domain/sync/retention.ts'
import type { Database } from '../../store/db/database.ts'
import { acquirePass, endPass, type RetentionPass, releasePass, removeOldData, renewPass } from '../../store/privacy/retention.ts'

/** Maximum pause between two steps, in milliseconds. */
const longestRestMs = 250

/** Dependencies of removing old data. */
export interface RetentionParts {
  readonly database: Database
  /** Names this process among those that share the database. */
  readonly owner: string
  readonly keep: RetentionSettings
}

/** Progress of one turn. */
export interface RetentionTurn {
  /** Rows that went or lost their bulk, of each kind that was gone through. */
  readonly removed: Readonly<Partial<Record<RetainedData, number>>>
  /** False: the time was over, or the process was stopped, before the due passes had ended. */
  readonly finished: boolean
}

/**
 * Removes what is older than the settings say, of every kind whose pass is due: once a day, in one process. In small steps, each followed by a rest
 * as long as it took, so that Postgres has the time for others. A turn ends after `turnMs`, or between two steps when the signal aborts; the
 * next turn continues at the same position.
 */
export const runRetention = async (
  { database, owner, keep }: RetentionParts,
  { signal, turnMs }: { readonly signal: AbortSignal; readonly turnMs: number },
): Promise<RetentionTurn> => {
  const endsAtMs = performance.now() + turnMs
  const removed: Partial<Record<RetainedData, number>> = {}
  const isOver = (): boolean => signal.aborted || performance.now() >= endsAtMs
  // A pass may be requested while it is in progress: it is repeated until none is due.
  for (let taken = true; taken; ) {
    taken = false
    for (const data of retainedData) {
      const keepMs = keep[data]
      if (keepMs === 'forever') continue
      if (isOver()) return { removed, finished: false }
      const pass = await acquirePass(database, data, owner, keepMs)
      if (pass === null) continue
      taken = true
      const { count, ended } = await goOn(database, pass, isOver)
      removed[data] = (removed[data] ?? 0) + count
      if (!ended) return { removed, finished: false }
    }
  }
  return { removed, finished: true }
}

const goOn = async (
  database: Database,
  pass: RetentionPass,
  isOver: () => boolean,
): Promise<{ readonly count: number; readonly ended: boolean }> => {
  let { nextPage } = pass
  let count = 0
  for (;;) {
    const beganMs = performance.now()
    const step = await removeOldData(database, pass.data, pass.cutoff, nextPage)
    count += step.removed
    if (!(await renewPass(database, pass, step))) return { count, ended: true }
    if (step.nextPage === null) {
      await endPass(database, pass)
      return { count, ended: true }
    }
    nextPage = step.nextPage
    if (isOver()) {
      await releasePass(database, pass)
      return { count, ended: false }
    }
    await pause(Math.min(performance.now() - beganMs, longestRestMs))
  }
}
