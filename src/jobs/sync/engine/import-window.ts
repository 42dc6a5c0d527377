import type { ImportPosition, SyncWindow } from '../../../store/sync/sync-states.ts'
import { discardPlanOnClockSkew } from '../windows/planning.ts'
import { finishWindow } from './progress.ts'
import type { ImportStep } from './stream.ts'
import type { ImportRun, Stop } from './stream-run.ts'

type DoneStep<T> = Exclude<ImportStep<T>, { readonly waitUntil: Date }>

/** Ends the run until a time on the marketplace's clock, converted to our own clock. */
const waitUntil = <T>({ context }: ImportRun<T>, at: Date): Stop => {
  const waitMs = at.getTime() - context.client.clock().now().getTime()
  return { finished: false, at: new Date(Date.now() + Math.max(waitMs, 0)), reason: 'throttled' }
}

const saveStep = <T>(run: ImportRun<T>, { isAnswer: _, next, ...content }: DoneStep<T>): Promise<void> =>
  run.savePage(content.records.length, (count) =>
    run.pages.save(content, (saved) => {
      const counted = count(saved)
      return next === null ? finishWindow(counted, null) : { ...counted, totals: { ...counted.totals, importAt: next } }
    }),
  )

/** Stores a step, and runs the next one, at the same time where it does not depend on the stored one. Null: the run ends here. */
const saveAndContinue = async <T>(
  run: ImportRun<T>,
  done: DoneStep<T>,
  runStep: (place: ImportPosition) => Promise<ImportStep<T>>,
): Promise<PromiseSettledResult<ImportStep<T>> | null> => {
  const { next } = done
  const continues = next !== null && !run.options.signal.aborted && !run.turnEndsAfter(run.record.pages + 1)
  if (!continues) {
    await saveStep(run, done)
    return null
  }
  const saving = saveStep(run, done)
  const [saved, following] = await Promise.allSettled([
    saving,
    run.stream.mayRunAhead(next) ? runStep(next) : saving.then(() => runStep(next)),
  ])
  if (saved.status === 'rejected') throw saved.reason
  return following
}

/**
 * Imports a window step by step from its stored place. Each step is stored together with the place of the next one. Null: continue with the next window.
 *
 * @throws the error of a step, unless it only postpones the run
 */
export const importWindow = async <T>(run: ImportRun<T>, window: SyncWindow): Promise<Stop | null> => {
  const { context, stream, calls } = run
  const runStep = (place: ImportPosition | null) => stream.step(context, window, place, calls)
  const [first] = await Promise.allSettled([runStep(run.progress.totals.importAt)])
  let result: PromiseSettledResult<ImportStep<T>> | null = first
  while (result !== null) {
    if (result.status === 'rejected') {
      const stop = run.findStop(result.reason)
      if (stop !== null) return stop
      throw result.reason
    }
    const step: ImportStep<T> = result.value
    if ('waitUntil' in step) return waitUntil(run, step.waitUntil)
    if (step.isAnswer) run.noteAnswer()
    if (run.progress.totals.importAt === null && discardPlanOnClockSkew(run, context.client.clock().now())) return null
    result = await saveAndContinue(run, step, runStep)
  }
  return null
}
