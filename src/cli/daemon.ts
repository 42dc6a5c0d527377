import http from 'node:http'
import https from 'node:https'
import got, { type PlainResponse, TimeoutError } from 'got'
import { z } from 'zod'
import { Failed, wordsOf } from './faults.ts'

/** Default time-out of a request, in milliseconds. */
const defaultTimeoutMs = 30_000

/** The largest page that the daemon returns (contract, "HTTP"). */
const pageLimit = 1_000

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
  /** What is wrong, each with the place that the daemon names. */
  readonly faults: readonly { readonly path: string; readonly message: string }[]
  /** When the daemon asks to retry later: after how many milliseconds. */
  readonly retryAfterMs: number | null
  constructor(told: {
    status: number
    message: string
    notes: readonly string[]
    faults: Refused['faults']
    code: string | null
    retryAfterMs: number | null
  }) {
    super(told.message, told.notes)
    this.status = told.status
    this.faults = told.faults
    this.code = told.code
    this.retryAfterMs = told.retryAfterMs
  }
}

/** An answer that does not come from the daemon: another program listens there, or its version differs. */
export class Misunderstood extends Failed {
  override readonly name = 'Misunderstood'
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

/** What is wrong, and where; of several events with the number of the event. */
const faultsOf = (problem: z.infer<typeof problemSchema>): Refused['faults'] =>
  (problem.errors ?? []).map((fault) => {
    const place = fault.path ?? fault.pointer ?? ''
    const inEvent =
      fault.index === undefined || /^\[\d+\]/.test(place) ? place : `[${fault.index}]${place === '' ? '' : `.${place}`}`
    return { path: inEvent, message: fault.message ?? fault.detail ?? 'is wrong' }
  })

const retryAfter = (header: string | undefined): number | null => {
  if (header === undefined) return null
  if (/^\d+$/.test(header)) return Number(header) * 1_000
  const at = Date.parse(header)
  return Number.isNaN(at) ? null : Math.max(0, at - Date.now())
}

const parseJson = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    // Not JSON: the caller treats it as an answer of another program.
    return undefined
  }
}

/** An unsuccessful answer as an error for the user; `retryAfterHeader` is its Retry-After. */
export const refusalOf = (status: number, body: string, retryAfterHeader: string | undefined, what: string): Refused => {
  const parsed = problemSchema.safeParse(parseJson(body))
  const problem = parsed.success ? parsed.data : {}
  const parts = [problem.title, problem.detail].filter((part): part is string => part !== undefined && part !== '')
  const [title, detail] = parts
  const said =
    title === undefined
      ? `HTTP ${status}`
      : detail === undefined || detail === title || detail === `${title}.`
        ? title
        : `${title}: ${detail}`
  const faults = faultsOf(problem)
  const notes = faults.map(({ path: place, message }) => (place === '' ? message : `${place}: ${message}`))
  if (problem.code === 'invalid-signature') {
    notes.push(
      'set EVENTS_SECRET to the value that the daemon was started with; if it is the same, compare the clocks of both machines',
    )
  } else if (status === 401) notes.push('set API_KEY to the key that the daemon was started with, or to a key of `tallyman keys`')
  return new Refused({
    status,
    message: `${what}: ${said}`,
    notes,
    faults,
    code: problem.code ?? null,
    retryAfterMs: retryAfter(retryAfterHeader),
  })
}

/** Options of one request. */
export interface RequestChoices {
  readonly query?: Readonly<Record<string, string | number | boolean | null | undefined>>
  readonly headers?: Readonly<Record<string, string>>
  /** Text is sent unchanged, any other value as JSON. */
  readonly body?: unknown
  /** Statuses other than 2xx whose body is a valid answer. */
  readonly alsoFine?: readonly number[]
  readonly timeoutMs?: number
}

/** Query of a list: page size, and the maximum number of records in total. */
export interface ListChoices {
  readonly query?: RequestChoices['query']
  readonly pageSize?: number
  readonly atMost?: number
}

/** The running daemon, over HTTP. Every method throws Unreachable, Refused or Misunderstood. */
export interface Daemon {
  readonly url: string
  get<Schema extends z.ZodType>(path: string, schema: Schema, choices?: RequestChoices): Promise<z.infer<Schema>>
  post<Schema extends z.ZodType>(path: string, schema: Schema, choices?: RequestChoices): Promise<z.infer<Schema>>
  patch<Schema extends z.ZodType>(path: string, schema: Schema, choices?: RequestChoices): Promise<z.infer<Schema>>
  delete<Schema extends z.ZodType>(path: string, schema: Schema, choices?: RequestChoices): Promise<z.infer<Schema>>
  /** The records of a list, page by page, as they arrive. */
  list<Schema extends z.ZodType>(
    path: string,
    schema: Schema,
    choices?: ListChoices,
  ): AsyncGenerator<z.infer<Schema>, void, undefined>
  /** One page of a list. */
  page<Schema extends z.ZodType>(
    path: string,
    schema: Schema,
    choices?: RequestChoices,
  ): Promise<{ items: z.infer<Schema>[]; nextCursor: string | null }>
  /** Closes its connections. */
  close(): void
}

const addressOf = (url: string, path: string, query: RequestChoices['query']): string => {
  const address = new URL(`${url}${path}`)
  for (const [name, value] of Object.entries(query ?? {})) {
    if (value !== null && value !== undefined) address.searchParams.set(name, String(value))
  }
  return address.href
}

/** Does not connect yet; every request is independent. `name` identifies the other side in errors. */
export const connectDaemon = (connection: {
  readonly url: string
  readonly apiKey: string | null
  readonly signal: AbortSignal
  readonly name?: string
  /** Advice when there is no answer. */
  readonly hint?: string
}): Daemon => {
  const { url, apiKey, signal, name = 'the daemon' } = connection
  const hint = connection.hint ?? 'start it with `npm start`, or set TALLYMAN_URL to its address'

  const agent = { http: new http.Agent({ keepAlive: true }), https: new https.Agent({ keepAlive: true }) }

  const request = async <Schema extends z.ZodType>(
    method: 'GET' | 'POST' | 'PATCH' | 'DELETE',
    path: string,
    schema: Schema,
    { query, headers, body, alsoFine = [], timeoutMs = defaultTimeoutMs }: RequestChoices = {},
  ): Promise<z.infer<Schema>> => {
    let response: PlainResponse
    try {
      response = await got(addressOf(url, path, query), {
        method,
        headers: {
          accept: 'application/json, application/problem+json',
          ...(apiKey === null ? {} : { authorization: `Bearer ${apiKey}` }),
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
          ...headers,
        },
        ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
        agent,
        responseType: 'text',
        followRedirect: false,
        throwHttpErrors: false,
        retry: { limit: 0 },
        timeout: { request: timeoutMs },
        signal,
      })
    } catch (error) {
      signal.throwIfAborted()
      const why = error instanceof TimeoutError ? `no answer within ${timeoutMs / 1_000} s` : wordsOf(error)
      throw new Unreachable(`${name} cannot be reached at ${url} (${why})`, [hint], { cause: error })
    }
    const { statusCode, headers: answered } = response
    const text = typeof response.body === 'string' ? response.body : ''
    if ((statusCode < 200 || statusCode > 299) && !alsoFine.includes(statusCode)) {
      throw refusalOf(statusCode, text, answered['retry-after'], `${method} ${path}`)
    }
    const parsed = schema.safeParse(parseJson(text))
    if (parsed.success) return parsed.data
    throw new Misunderstood(`${method} ${path}: this is not an answer of ${name}`, [
      `is it really ${name} that listens at ${url}?`,
      ...z.prettifyError(parsed.error).split('\n').slice(0, 6),
    ])
  }

  const page: Daemon['page'] = (path, schema, choices) =>
    request('GET', path, z.looseObject({ items: z.array(schema), nextCursor: z.string().nullable() }), choices)

  return {
    url,
    get: (path, schema, choices) => request('GET', path, schema, choices),
    post: (path, schema, choices) => request('POST', path, schema, choices),
    patch: (path, schema, choices) => request('PATCH', path, schema, choices),
    delete: (path, schema, choices) => request('DELETE', path, schema, choices),
    page,
    async *list(path, schema, { query, pageSize = pageLimit, atMost = Number.POSITIVE_INFINITY } = {}) {
      let given = 0
      let cursor: string | null = null
      while (given < atMost) {
        const limit = Math.min(pageSize, atMost - given)
        const { items, nextCursor }: Awaited<ReturnType<typeof page<typeof schema>>> = await page(path, schema, {
          query: { ...query, limit, cursor },
        })
        given += items.length
        yield* items
        // A cursor that does not advance would loop for ever.
        if (nextCursor === null || nextCursor === cursor) return
        cursor = nextCursor
      }
    },
    close: () => {
      agent.http.destroy()
      agent.https.destroy()
    },
  }
}
