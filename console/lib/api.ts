import createClient from 'openapi-fetch'
import type { components, paths } from '../../types/index.d.ts'
import { createState } from './state.ts'

/** Shapes of answers, as `npm run types` makes them. */
export type Schemas = components['schemas']

/** The interface of the daemon, with the types of its routes. Read answers with {@link answered}. */
export const api = createClient<paths, 'application/json'>({ baseUrl: '', credentials: 'same-origin' })

/** The daemon has refused a request, and says why. */
export class Refused extends Error {
  readonly status: number
  constructor(status: number, message: string) {
    super(message)
    this.status = status
  }
}

/** Nothing has answered. */
export class Away extends Error {}

/** Whether the daemon answers, and when it last did; null: not yet. */
export const contact = createState<{ readonly away: boolean; readonly lastAt: Date | null }>({ away: false, lastAt: null })

/** Who is signed in; null: not known yet. */
export const session = createState<Schemas['Session'] | null>(null)

/** How far the daemon's clock is ahead of the browser's, in milliseconds, and the marketplace's for each seller. */
export const clocks = createState<{ readonly aheadMs: number; readonly ofSellers: ReadonlyMap<string, number> }>({
  aheadMs: 0,
  ofSellers: new Map(),
})

const messageOf = (status: number, problem: unknown): string => {
  if (typeof problem !== 'object' || problem === null) return `The daemon answered with HTTP ${status}.`
  const detail = 'detail' in problem && typeof problem.detail === 'string' ? problem.detail : ''
  const faults = 'errors' in problem && Array.isArray(problem.errors) ? problem.errors : []
  const words = faults.map((fault: { path?: unknown; message?: unknown }) => `${fault.path} ${fault.message}`)
  return [detail, ...words].filter((text) => text !== '').join(' ') || `The daemon answered with HTTP ${status}.`
}

const noteAnswer = (response: Response): void => {
  contact.set({ away: false, lastAt: new Date() })
  if (response.status === 401) {
    const known = session.get()
    if (known?.signedIn === true) session.set({ ...known, signedIn: false })
  }
}

interface Answer<Data> {
  readonly data?: Data
  readonly error?: unknown
  readonly response: Response
}

/** The data of an answer. @throws Refused @throws Away */
export const answered = async <Data>(asked: Promise<Answer<Data>>): Promise<Data> => {
  const { data, error, response } = await asked.catch((cause: unknown) => {
    if (cause instanceof DOMException && cause.name === 'AbortError') throw cause
    if (cause instanceof TypeError) {
      contact.set({ away: true, lastAt: contact.get().lastAt })
      throw new Away('The daemon does not answer.')
    }
    throw cause
  })
  noteAnswer(response)
  if (!response.ok || data === undefined) throw new Refused(response.status, messageOf(response.status, error))
  return data
}

/** Asks who is signed in, and sets the clocks. @throws Away */
export const loadSession = async (): Promise<void> => {
  const answer = await answered(api.GET('/v1/session'))
  takeSession(answer)
}

const takeSession = (answer: Schemas['Session']): void => {
  const here = Date.now()
  clocks.set({
    aheadMs: Date.parse(answer.now) - here,
    ofSellers: new Map(answer.clocks.map(({ sellerId, now }) => [sellerId, Date.parse(now) - here])),
  })
  session.set(answer)
}

/** Signs in with a key. @throws Refused @throws Away */
export const signIn = async (key: string): Promise<void> =>
  takeSession(await answered(api.POST('/v1/session', { body: { key } })))

/** Signs out. @throws Refused @throws Away */
export const signOut = async (): Promise<void> => {
  await answered(api.DELETE('/v1/session'))
  await loadSession()
}
