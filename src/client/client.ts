import createClient, { type Client } from 'openapi-fetch'
import type { Change, ErpEvent, EventReceipt, paths } from 'tallyman/types'
import { describeError } from '../api-client/errors.ts'
import { signBody } from '../api-client/events.ts'
import { buildRefused, Refused, Unreachable } from '../api-client/failures.ts'

export { Refused, Unreachable }

/** The running daemon, over HTTP: a client of `openapi-fetch` whose methods have the types of all routes. */
export type TallymanClient = Client<paths>

/** How to reach the daemon. */
export interface TallymanClientOptions {
  /** Address of the daemon, such as `http://127.0.0.1:8080`. */
  readonly url: string
  /** `API_KEY` of the daemon, or a key of `tallyman keys`. */
  readonly apiKey?: string | null | undefined
  /** `EVENTS_SECRET` of the daemon, which signs the events that are posted. */
  readonly eventsSecret?: string | null | undefined
  /** Longest wait for an answer, in milliseconds. The default is 90,000; the change feed waits for 60,000 at most. */
  readonly timeoutMs?: number | undefined
  /** Ends every request. */
  readonly signal?: AbortSignal | undefined
}

const defaultTimeoutMs = 90_000

/** A client of the daemon. Its requests throw {@link Unreachable} when there is no answer; {@link unwrap} throws {@link Refused}. */
export const createTallymanClient = (options: TallymanClientOptions): TallymanClient => {
  const { url, apiKey, eventsSecret, timeoutMs = defaultTimeoutMs } = options
  const client = createClient<paths>({
    baseUrl: url.replace(/\/+$/, ''),
    ...(apiKey ? { headers: { authorization: `Bearer ${apiKey}` } } : {}),
    fetch: async (request) => {
      const signals = [request.signal, ...(options.signal === undefined ? [] : [options.signal])]
      try {
        return await fetch(request, { signal: AbortSignal.any([...signals, AbortSignal.timeout(timeoutMs)]) })
      } catch (error) {
        for (const signal of signals) signal.throwIfAborted()
        throw new Unreachable(`the daemon cannot be reached at ${url} (${describeError(error)})`, [], { cause: error })
      }
    },
  })
  client.use({
    onRequest: async ({ request, schemaPath }) => {
      if (!eventsSecret || request.method !== 'POST' || schemaPath !== '/v1/events') return
      const body = await request.clone().text()
      for (const [name, value] of Object.entries(signBody(body, eventsSecret, new Date()))) request.headers.set(name, value)
    },
  })
  return client
}

/** An answer of the client: data or error. */
export type Answer<Data> =
  | { readonly data: Data; readonly error?: never; readonly response: Response }
  | { readonly data?: never; readonly error: NonNullable<unknown>; readonly response: Response }

/** The data of an answer. @throws Refused with the daemon's reason */
export const unwrap = <Data>(answer: Answer<Data>): Data => {
  const { response } = answer
  // A refusal without a body has neither data nor error.
  if (response.ok && answer.error === undefined) return answer.data
  const retryAfter = response.headers.get('retry-after') ?? undefined
  throw buildRefused(response.status, answer.error, retryAfter, new URL(response.url).pathname)
}

/** Posts one event or several, all or none. The receipts say which are new. @throws Refused with the reason of each event, Unreachable */
export const sendEvents = async (client: TallymanClient, events: ErpEvent | ErpEvent[]): Promise<readonly EventReceipt[]> =>
  unwrap(await client.POST('/v1/events', { body: events })).items.filter((item) => 'status' in item)

/** The position of a page in its list: the query member `cursor`, absent for the first page. */
export interface PagePosition {
  readonly cursor?: string
}

/**
 * All records of a list, page by page. `read` reads one page, for example
 * `(page) => client.GET('/v1/orders', { params: { query: { open: true, ...page } } })`. @throws Refused, Unreachable
 */
export const listAll = async function* <Item>(
  read: (page: PagePosition) => Promise<Answer<{ readonly items: readonly Item[]; readonly nextCursor: string | null }>>,
): AsyncGenerator<Item, void, undefined> {
  for (let page: PagePosition | null = {}; page !== null; ) {
    const { items, nextCursor }: { readonly items: readonly Item[]; readonly nextCursor: string | null } = unwrap(
      await read(page),
    )
    yield* items
    // A cursor that does not advance would loop for ever.
    page = nextCursor === null || nextCursor === page.cursor ? null : { cursor: nextCursor }
  }
}

/** Which changes to follow, and from where. */
export interface FollowOptions {
  /** `seq` of the last change that was handled, or `now`. Without it, all that are kept. */
  readonly after?: string | undefined
  /** Types separated by commas, such as `order.*,command.held`. */
  readonly types?: string | undefined
  readonly sellerId?: string | undefined
  /** Ends the iteration. */
  readonly signal?: AbortSignal | undefined
}

/** A long poll of the change feed, in seconds. */
const waitSeconds = 20

/**
 * The changes of the feed as they happen, in order and without gaps. Store `seq` of each change after it is handled, and continue with it after an
 * error or a restart. @throws Refused, Unreachable
 */
export const followChanges = async function* (
  client: TallymanClient,
  { signal, after, types, sellerId }: FollowOptions = {},
): AsyncGenerator<Change, void, undefined> {
  const filters = { ...(types === undefined ? {} : { types }), ...(sellerId === undefined ? {} : { sellerId }) }
  let position = after
  while (signal?.aborted !== true) {
    const query = { ...filters, wait: waitSeconds, ...(position === undefined ? {} : { after: position }) }
    const { items, nextCursor } = unwrap(
      await client.GET('/v1/changes', { params: { query }, ...(signal === undefined ? {} : { signal }) }),
    )
    yield* items
    position = nextCursor
  }
}
