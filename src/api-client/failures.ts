import { z } from 'zod'
import { Failed } from './errors.ts'

/** No answer at the daemon's address, or the connection broke before the answer was complete. */
export class Unreachable extends Failed {
  override readonly name = 'Unreachable'
}

/** The daemon answered with a problem document (RFC 9457), or with another unsuccessful answer. */
export class Refused extends Failed {
  override readonly name = 'Refused'
  readonly status: number
  /** The `code` member of the problem document, if it has one. */
  readonly code: string | null
  /** The errors, each with the position that the daemon reports. */
  readonly faults: readonly { readonly path: string; readonly message: string }[]
  /** Delay after which the daemon requests a retry, in milliseconds; null: it requests none. */
  readonly retryAfterMs: number | null
  constructor(problem: {
    status: number
    message: string
    notes: readonly string[]
    faults: Refused['faults']
    code: string | null
    retryAfterMs: number | null
  }) {
    super(problem.message, problem.notes)
    this.status = problem.status
    this.faults = problem.faults
    this.code = problem.code
    this.retryAfterMs = problem.retryAfterMs
  }
}

const problemSchema = z.looseObject({
  title: z.string().optional(),
  detail: z.string().optional(),
  code: z.string().optional(),
  errors: z
    .array(
      z.looseObject({
        path: z.string().optional(),
        message: z.string().optional(),
        detail: z.string().optional(),
        pointer: z.string().optional(),
        index: z.number().optional(),
      }),
    )
    .optional(),
})

/** The errors with their positions; of a batch of events, with the index of the event. */
const listFaults = (problem: z.infer<typeof problemSchema>): Refused['faults'] =>
  (problem.errors ?? []).map((fault) => {
    const path = fault.path ?? fault.pointer ?? ''
    const isComplete = fault.index === undefined || /^\[\d+\]/.test(path)
    return {
      path: isComplete ? path : `[${fault.index}]${path === '' ? '' : `.${path}`}`,
      message: fault.message ?? fault.detail ?? 'is wrong',
    }
  })

const parseRetryAfter = (header: string | undefined): number | null => {
  if (header === undefined) return null
  if (/^\d+$/.test(header)) return Number(header) * 1_000
  const at = Date.parse(header)
  return Number.isNaN(at) ? null : Math.max(0, at - Date.now())
}

/** The error of an unsuccessful answer, parsed from JSON, to `request`, such as `GET /v1/orders`. */
export const buildRefused = (status: number, answer: unknown, retryAfterHeader: string | undefined, request: string): Refused => {
  const parsed = problemSchema.safeParse(answer)
  const problem = parsed.success ? parsed.data : {}
  const parts = [problem.title, problem.detail].filter((part): part is string => part !== undefined && part !== '')
  const [title, detail] = parts
  const summary =
    title === undefined
      ? `HTTP ${status}`
      : detail === undefined || detail === title || detail === `${title}.`
        ? title
        : `${title}: ${detail}`
  const faults = listFaults(problem)
  const notes = faults.map(({ path, message }) => (path === '' ? message : `${path}: ${message}`))
  if (problem.code === 'invalid-signature') {
    notes.push('set EVENTS_SECRET to the value of the daemon; if it is the same, compare the clocks of both machines')
  } else if (status === 401) notes.push('set API_KEY to the API_KEY of the daemon, or to a key of `tallyman keys`')
  return new Refused({
    status,
    message: `${request}: ${summary}`,
    notes,
    faults,
    code: problem.code ?? null,
    retryAfterMs: parseRetryAfter(retryAfterHeader),
  })
}
