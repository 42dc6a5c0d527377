import type { ImportPlace, SyncWindow } from '../../store/sync-states.ts'
import type { SavedPage } from './pages.ts'
import { clockSurprise } from './planning.ts'
import { windowDone } from './progress.ts'
import { countSaved, savingPage } from './saving.ts'
import type { ImportStep } from './stream.ts'
import type { ImportRun, Stop } from './stream-run.ts'

type DoneStep<T> = Exclude<ImportStep<T>, { readonly waitUntil: Date }>

/** Until when a run waits on our own clock, for a moment on the marketplace's. */
const waitFor = <T>({ context }: ImportRun<T>, at: Date): Stop => {
  const waitMs = at.getTime() - context.client.clock().now().getTime()
  return { finished: false, at: new Date(Date.now() + Math.max(waitMs, 0)), reason: 'throttled' }
}

const saveStep = <T>(run: ImportRun<T>, { isAnswer: _, next, ...content }: DoneStep<T>): Promise<void> => {
  const before = run.progress
  const progressAfter = (saved: SavedPage) => {
    const counted = countSaved(run, before, content.records.length, saved)
    return next === null ? windowDone(counted, null) : { ...counted, totals: { ...counted.totals, importAt: next } }
  }
  return savingPage(run, () => run.pages.save(content, progressAfter))
}

/** Stores a step, while the next one is done where that may go ahead of it. Null: the run goes no further in this window now. */
const saveAndGoOn = async <T>(
  run: ImportRun<T>,
  done: DoneStep<T>,
  go: (place: ImportPlace) => Promise<ImportStep<T>>,
): Promise<PromiseSettledResult<ImportStep<T>> | null> => {
  const { next } = done
  const goesOn = next !== null && !run.options.signal.aborted && !run.turnEndsWith(run.record.pages + 1)
  if (!goesOn) {
    await saveStep(run, done)
    return null
  }
  const saving = saveStep(run, done)
  const [saved, following] = await Promise.allSettled([
    saving,
    run.stream.mayGoAhead(next) ? go(next) : saving.then(() => go(next)),
  ])
  if (saved.status === 'rejected') throw saved.reason
  return following
}

/**
 * Imports a window, step by step from where it stands; each is stored with where the import goes on. Null: go on with the next window.
 *
 * @throws what a step fails with, unless that only means to go on later
 */
export const importWindow = async <T>(run: ImportRun<T>, window: SyncWindow): Promise<Stop | null> => {
  const { context, stream, calls } = run
  const go = (place: ImportPlace | null) => stream.step(context, window, place, calls)
  const [begun] = await Promise.allSettled([go(run.progress.totals.importAt)])
  let result: PromiseSettledResult<ImportStep<T>> | null = begun
  while (result !== null) {
    if (result.status === 'rejected') {
      const stop = run.stopBy(result.reason)
      if (stop !== null) return stop
      throw result.reason
    }
    const step: ImportStep<T> = result.value
    if ('waitUntil' in step) return waitFor(run, step.waitUntil)
    if (step.isAnswer) run.answered = true
    if (run.progress.totals.importAt === null && clockSurprise(run, context.client.clock().now())) return null
    result = await saveAndGoOn(run, step, go)
  }
  return null
}
