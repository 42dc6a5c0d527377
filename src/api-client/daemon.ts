import http from 'node:http'
import https from 'node:https'
import got, { type PlainResponse, TimeoutError } from 'got'
import { z } from 'zod'
import { describeError, Failed } from './errors.ts'
import { buildRefused, Unreachable } from './failures.ts'

/** Default timeout of a request, in milliseconds. */
const defaultTimeoutMs = 30_000

/** The largest page that the daemon returns (docs/interface.md). */
const pageLimit = 1_000

/** An answer that is not from the daemon: another program listens at its address, or its version differs. */
export class Misunderstood extends Failed {
  override readonly name = 'Misunderstood'
}

const parseJson = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    // Not JSON: the caller reports an answer of another program.
    return undefined
  }
}

/** Options of one request. */
export interface RequestOptions {
  readonly query?: Readonly<Record<string, string | number | boolean | null | undefined>>
  readonly headers?: Readonly<Record<string, string>>
  /** Text is sent unchanged, any other value as JSON. */
  readonly body?: unknown
  /** Statuses other than 2xx whose body is a valid answer. */
  readonly acceptedStatuses?: readonly number[]
  readonly timeoutMs?: number
}

/** Options of a list: query, page size, and the maximum number of records. */
export interface ListOptions {
  readonly query?: RequestOptions['query']
  readonly pageSize?: number
  readonly max?: number
}

/** The running daemon, over HTTP. Every method throws Unreachable, Refused or Misunderstood. */
export interface Daemon {
  readonly url: string
  get<Schema extends z.ZodType>(path: string, schema: Schema, options?: RequestOptions): Promise<z.infer<Schema>>
  post<Schema extends z.ZodType>(path: string, schema: Schema, options?: RequestOptions): Promise<z.infer<Schema>>
  patch<Schema extends z.ZodType>(path: string, schema: Schema, options?: RequestOptions): Promise<z.infer<Schema>>
  delete<Schema extends z.ZodType>(path: string, schema: Schema, options?: RequestOptions): Promise<z.infer<Schema>>
  /** The records of a list, page by page, as they arrive. */
  list<Schema extends z.ZodType>(
    path: string,
    schema: Schema,
    options?: ListOptions,
  ): AsyncGenerator<z.infer<Schema>, void, undefined>
  /** One page of a list. */
  page<Schema extends z.ZodType>(
    path: string,
    schema: Schema,
    options?: RequestOptions,
  ): Promise<{ items: z.infer<Schema>[]; nextCursor: string | null }>
  /** Closes its connections. */
  close(): void
}

const buildAddress = (url: string, path: string, query: RequestOptions['query']): string => {
  const address = new URL(`${url}${path}`)
  for (const [name, value] of Object.entries(query ?? {})) {
    if (value !== null && value !== undefined) address.searchParams.set(name, String(value))
  }
  return address.href
}

/** A client of the daemon. It connects with the first request. `name` identifies the other side in errors. */
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
    { query, headers, body, acceptedStatuses = [], timeoutMs = defaultTimeoutMs }: RequestOptions = {},
  ): Promise<z.infer<Schema>> => {
    let response: PlainResponse
    try {
      response = await got(buildAddress(url, path, query), {
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
      const reason = error instanceof TimeoutError ? `no answer within ${timeoutMs / 1_000} s` : describeError(error)
      throw new Unreachable(`${name} cannot be reached at ${url} (${reason})`, [hint], { cause: error })
    }
    const { statusCode, headers: answered } = response
    const text = typeof response.body === 'string' ? response.body : ''
    if ((statusCode < 200 || statusCode > 299) && !acceptedStatuses.includes(statusCode)) {
      throw buildRefused(statusCode, parseJson(text), answered['retry-after'], `${method} ${path}`)
    }
    const parsed = schema.safeParse(parseJson(text))
    if (parsed.success) return parsed.data
    throw new Misunderstood(`${method} ${path}: this is not an answer of ${name}`, [
      `check that ${name} listens at ${url}`,
      ...z.prettifyError(parsed.error).split('\n').slice(0, 6),
    ])
  }

  const page: Daemon['page'] = (path, schema, options) =>
    request('GET', path, z.looseObject({ items: z.array(schema), nextCursor: z.string().nullable() }), options)

  return {
    url,
    get: (path, schema, options) => request('GET', path, schema, options),
    post: (path, schema, options) => request('POST', path, schema, options),
    patch: (path, schema, options) => request('PATCH', path, schema, options),
    delete: (path, schema, options) => request('DELETE', path, schema, options),
    page,
    async *list(path, schema, { query, pageSize = pageLimit, max = Number.POSITIVE_INFINITY } = {}) {
      let count = 0
      let cursor: string | null = null
      while (count < max) {
        const limit = Math.min(pageSize, max - count)
        const { items, nextCursor }: Awaited<ReturnType<typeof page<typeof schema>>> = await page(path, schema, {
          query: { ...query, limit, cursor },
        })
        count += items.length
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
