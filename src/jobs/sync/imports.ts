import type { CallOptions } from '../../clients/call-options.ts'
import type { ImportPlace, SyncWindow } from '../../store/sync-states.ts'
import { everyPoll } from './intervals.ts'
import type { Alongside, AnyStream, ImportStep, ImportStream, PageContent, StreamContext } from './stream.ts'

/** A step by its name, and how far it has come, in words of its own. */
export interface StepPlace<Step extends string> {
  readonly step: Step
  readonly after: string
}

/** What beginning the import of a window has led to. */
export type Begun<Subject, Step extends string> =
  /** Something is here to be imported, from this step on. */
  | { readonly subject: Subject; readonly from: StepPlace<Step> }
  /** The marketplace may not be asked before, by its clock. */
  | { readonly waitUntil: Date }
  /** There is nothing to import. Where the marketplace was not asked for it, that proves no enrolment. */
  | { readonly nothing: 'answered' | 'not asked'; readonly alongside?: Alongside }

/** What a step brings. */
export interface Imported<T, Step extends string> extends Partial<PageContent<T>> {
  /** Null: the import is at its end. */
  readonly next: StepPlace<Step> | null
}

/** What an import states. */
export interface ImportParts<T, Subject, Step extends string> {
  /** As {@link AnyStream} has it: it fetches the file. */
  readonly operation: AnyStream['operation']
  readonly plan: AnyStream['plan']
  /** As {@link AnyStream} has it; nothing is out of reach by default. */
  readonly reach?: AnyStream['reach']
  /** Fetches what is to be imported, unless it is here already. */
  readonly begin: (context: StreamContext, window: SyncWindow, options: CallOptions) => Promise<Begun<Subject, Step>>
  /** What names a subject in the place of its import, and when what it says was true. */
  readonly identify: (subject: Subject) => { readonly id: string; readonly observedAt: Date }
  /** The subject that an import goes on with; null when that step of it is not to be done any more. */
  readonly find: (context: StreamContext, id: string, step: Step) => Promise<Subject | null>
  /** Steps that need nothing of what the step before them stores; none by default. */
  readonly ahead?: readonly Step[]
  /** The steps by their names. Each is repeated from its place after a crash. */
  readonly steps: Readonly<Record<Step, (context: StreamContext, subject: Subject, after: string) => Promise<Imported<T, Step>>>>
}

/** Something large that is fetched once for each window and then brought in step by step, each of which is stored with where the import stands. */
export const imports = <T, Subject, Step extends string>(parts: ImportParts<T, Subject, Step>): ImportStream<T> => {
  const { operation, begin, identify, find, steps, ahead = [] } = parts
  const isStep = (name: string): name is Step => Object.hasOwn(steps, name)

  const stepOf = async (context: StreamContext, subject: Subject, { step, after }: StepPlace<Step>): Promise<ImportStep<T>> => {
    const { id, observedAt } = identify(subject)
    const { next, ...content } = await steps[step](context, subject, after)
    return { records: [], observedAt, ...content, isAnswer: true, next: next === null ? null : { ...next, of: id } }
  }

  const nothing = ({ client }: StreamContext, isAnswer: boolean, alongside?: Alongside): ImportStep<T> => ({
    ...{ records: [], observedAt: client.clock().now(), alongside, isAnswer },
    next: null,
  })

  const goOn = async (context: StreamContext, { step, of, after }: ImportPlace): Promise<ImportStep<T>> => {
    const subject = isStep(step) ? await find(context, of, step) : null
    return subject === null || !isStep(step) ? nothing(context, false) : stepOf(context, subject, { step, after })
  }

  return {
    kind: 'import',
    operation,
    reads: 'a file, step by step',
    pace: everyPoll,
    plan: parts.plan,
    reach: parts.reach ?? ((_context, window) => window),
    mayGoAhead: ({ step }) => ahead.some((name) => name === step),
    step: async (context, window, place, options) => {
      if (place !== null) return goOn(context, place)
      const begun = await begin(context, window, options)
      if ('subject' in begun) return stepOf(context, begun.subject, begun.from)
      return 'nothing' in begun ? nothing(context, begun.nothing === 'answered', begun.alongside) : begun
    },
  }
}
