import type { CallOptions } from '../../../clients/http/call-options.ts'
import { everyPoll } from '../../../domain/sync/intervals.ts'
import type { ImportPosition, SyncWindow } from '../../../store/sync/sync-states.ts'
import type { AnyStream, ImportStep, ImportStream, PageContent, StreamContext, TransactionHook } from './stream.ts'

/** A step, and its position within the step, in the step's own format. */
export interface StepPlace<Step extends string> {
  readonly step: Step
  readonly after: string
}

/** Result of beginning the import of a window. */
export type Begun<Subject, Step extends string> =
  /** There is something to import, from this step on. */
  | { readonly subject: Subject; readonly from: StepPlace<Step> }
  /** The marketplace accepts no request before this time, on its clock. */
  | { readonly waitUntil: Date }
  /** There is nothing to import. Without a request to the marketplace this proves no enrolment. */
  | { readonly nothing: 'answered' | 'not asked'; readonly inSameTransaction?: TransactionHook }

/** Result of a step. */
export interface Imported<T, Step extends string> extends Partial<PageContent<T>> {
  /** Null: the import is finished. */
  readonly next: StepPlace<Step> | null
}

/** Declaration of an import. */
export interface ImportParts<T, Subject, Step extends string> {
  /** The operation that fetches the file. */
  readonly operation: AnyStream['operation']
  readonly plan: AnyStream['plan']
  /** As in {@link AnyStream}; by default nothing is out of reach. */
  readonly reach?: AnyStream['reach']
  /** Fetches the subject of the import, unless it is stored already. */
  readonly begin: (context: StreamContext, window: SyncWindow, options: CallOptions) => Promise<Begun<Subject, Step>>
  /** The id of a subject, stored as the place of its import, and the time of the subject's data. */
  readonly identify: (subject: Subject) => { readonly id: string; readonly observedAt: Date }
  /** Finds the subject that an import continues with; null when this step of it is no longer needed. */
  readonly find: (context: StreamContext, id: string, step: Step) => Promise<Subject | null>
  /** Steps that do not depend on what the step before them stores; none by default. */
  readonly ahead?: readonly Step[]
  /** The steps by name. After a crash a step is repeated from its place. */
  readonly steps: Readonly<Record<Step, (context: StreamContext, subject: Subject, after: string) => Promise<Imported<T, Step>>>>
}

/** A stream that fetches something large once for each window and imports it step by step. Each step is stored with the place of the next one. */
export const imports = <T, Subject, Step extends string>(parts: ImportParts<T, Subject, Step>): ImportStream<T> => {
  const { operation, begin, identify, find, steps, ahead = [] } = parts
  const isStep = (name: string): name is Step => Object.hasOwn(steps, name)

  const readStep = async (context: StreamContext, subject: Subject, { step, after }: StepPlace<Step>): Promise<ImportStep<T>> => {
    const { id, observedAt } = identify(subject)
    const { next, ...content } = await steps[step](context, subject, after)
    return { records: [], observedAt, ...content, isAnswer: true, next: next === null ? null : { ...next, of: id } }
  }

  const nothing = ({ client }: StreamContext, isAnswer: boolean, inSameTransaction?: TransactionHook): ImportStep<T> => ({
    ...{ records: [], observedAt: client.clock().now(), inSameTransaction, isAnswer },
    next: null,
  })

  const resume = async (context: StreamContext, { step, of, after }: ImportPosition): Promise<ImportStep<T>> => {
    const subject = isStep(step) ? await find(context, of, step) : null
    return subject === null || !isStep(step) ? nothing(context, false) : readStep(context, subject, { step, after })
  }

  return {
    kind: 'import',
    operation,
    reads: 'a file, step by step',
    pace: everyPoll,
    plan: parts.plan,
    reach: parts.reach ?? ((_context, window) => window),
    mayRunAhead: ({ step }) => ahead.some((name) => name === step),
    step: async (context, window, place, options) => {
      if (place !== null) return resume(context, place)
      const begun = await begin(context, window, options)
      if ('subject' in begun) return readStep(context, begun.subject, begun.from)
      return 'nothing' in begun ? nothing(context, begun.nothing === 'answered', begun.inSameTransaction) : begun
    },
  }
}
