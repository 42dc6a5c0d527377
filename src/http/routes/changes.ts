import { Readable } from 'node:stream'
import { z } from 'zod'
import type { Change } from '../../domain/changes/change.ts'
import { changeEventOf } from '../../domain/changes/cloud-event.ts'
import { typePatternSchema, typesOf } from '../../domain/changes/filter.ts'
import { type ChangeFilter, ChangesGone, PositionBeyondEnd } from '../../store/changes.ts'
import { type App, problems } from '../app.ts'
import { type Caller, sellersAsked } from '../caller.ts'
import type { ChangeFeed } from '../change-feed.ts'
import { eventMediaTypes } from '../cloud-events.ts'
import { csvOf, csvSchema, csvType } from '../csv.ts'
import { changeFor } from '../masked.ts'
import { limitSchema, maxLimit } from '../paging.ts'
import { Problem } from '../problems.ts'
import { changeEventSchema, changeSchema } from '../schemas.ts'
import type { RouteParts } from './parts.ts'

const maxWaitSeconds = 60
// Written without the serializer; in JSON Schema it is text.
const streamSchema = z.custom<Readable>().meta({
  type: 'string',
  description: 'Server-sent events without a name: `id` is the sequence number, `data` the change as JSON.',
})
/** Interval of comments that keep proxies from closing a silent stream, in milliseconds. */
const heartbeatMs = 15_000
const streamPage = 500
const streamType = 'text/event-stream'
/** Reconnection delay for clients, in milliseconds. */
const reconnectMs = 2_000

const sequence = z
  .string()
  .regex(/^\d{1,18}$/, 'must be a sequence number')
  .transform(BigInt)
const position = z.union([z.literal('now'), sequence], 'must be a sequence number, or now')

const revoked = (): Problem => new Problem('unauthenticated', { detail: 'The key was revoked meanwhile.' })

const typesSchema = z
  .string()
  .transform((text) => text.split(',').map((part) => part.trim()))
  .pipe(z.array(typePatternSchema))
  .transform(typesOf)

/** Changes and where the reader stands behind them, without an event name: `onmessage` of any client gets them. */
const streamed = (change: Change): string => {
  const data = JSON.stringify(change, (_name, value: unknown) => (typeof value === 'bigint' ? value.toString() : value))
  return `id: ${change.seq}\ndata: ${data}\n\n`
}

/** Answers where changes cannot be read from a position, with the number to continue with. @throws Problem */
const refusePosition = (error: unknown): never => {
  if (error instanceof ChangesGone) {
    throw new Problem('changes-gone', {
      detail: `${error.message} (RETAIN_CHANGES). Their effects are in the tables; read those, and continue with after=${error.removedUpTo}.`,
    })
  }
  if (error instanceof PositionBeyondEnd) {
    throw new Problem('position-beyond-end', {
      detail: `${error.message}: it is of another database, or of a later state of this one. Read the tables, and continue with after=${error.end} (or after=now).`,
    })
  }
  throw error
}

/** The stream's text. Pulled by the socket: for a slow reader at most one page is read ahead. */
const stream = async function* (
  feed: ChangeFeed,
  caller: Caller,
  from: bigint,
  filter: ChangeFilter,
  gone: AbortSignal,
): AsyncGenerator<string, void, undefined> {
  let after = from
  yield `retry: ${reconnectMs}\n\n`
  while (!gone.aborted && !feed.closed.aborted) {
    const { changes, position: reached } = await feed.next(after, filter, streamPage, heartbeatMs, gone)
    // A key that has been revoked meanwhile gets nothing more.
    if (!(await caller.isStillAccepted())) return
    // An id without data is no message; it moves the position from which a client resumes past what does not fit.
    const moved = reached === after ? '' : `id: ${reached}\n`
    yield changes.length === 0
      ? `${moved}: still here\n\n`
      : changes.map((change) => streamed(changeFor(caller, change))).join('')
    after = reached
  }
}

/** Which of the forms of the feed a client asks for; JSON by default. */
const wantedForm = (accept: string | undefined): 'stream' | 'events' | 'csv' | 'page' => {
  const types = (accept ?? '').split(',').map((part) => part.split(';')[0]?.trim().toLowerCase())
  if (types.includes(streamType)) return 'stream'
  if (types.includes(eventMediaTypes.batch)) return 'events'
  return types.includes(csvType) ? 'csv' : 'page'
}

/** The change feed: pages, long poll, server-sent events. */
export const changeRoutes = (app: App, { changes, services }: RouteParts): void => {
  const { streams } = services.limits
  let waiting = 0
  /** Counts a reader that waits, until its connection ends. @throws Problem when there are too many */
  const admit = (gone: AbortSignal): void => {
    if (waiting >= streams) {
      throw new Problem('unavailable', {
        detail: `${streams} readers of the change feed are waiting (MAX_STREAMS). Retry later, or without \`wait\`.`,
        headers: { 'retry-after': '5' },
      })
    }
    waiting += 1
    const leave = (): void => {
      waiting -= 1
    }
    if (gone.aborted) leave()
    else gone.addEventListener('abort', leave, { once: true })
  }

  app.route({
    method: 'GET',
    url: '/v1/changes',
    config: { needs: ['read', 'own'] },
    schema: {
      tags: ['changes'],
      summary: 'Changes in commit order, without gaps',
      description:
        'Continues after `after` (or `cursor`, the `nextCursor` of the previous answer). With `wait` an empty answer is delayed until something ' +
        'changes. With `Accept: text/event-stream` the same as server-sent events without a name; `Last-Event-ID` overrides `after`. With ' +
        '`Accept: application/cloudevents-batch+json` as CloudEvents, and the position in the header `link` (`rel="next"`); with `Accept: text/csv` all of them up to now. 410 when the next ' +
        'change has been removed (`RETAIN_CHANGES`), 400 `position-beyond-end` where there has never been one: none is skipped silently. ' +
        'Filters advance the position past what does not fit.',
      querystring: z
        .object({
          after: position.optional().meta({
            description:
              'Sequence number of the last change that was seen, or `now`: only what comes; default: from the oldest that is kept.',
          }),
          cursor: sequence.optional().meta({ description: 'The same as `after`.' }),
          types: typesSchema.optional().meta({
            description: 'Types of changes, separated by commas; `order.*` means all that begin with `order.`.',
            examples: ['order.*,command.confirmed'],
          }),
          sellerId: z.string().optional(),
          purchaseOrderId: z.string().optional(),
          limit: limitSchema,
          wait: z.coerce
            .number('must be a number of seconds')
            .min(0, 'must not be negative')
            .max(maxWaitSeconds, `must be at most ${maxWaitSeconds}`)
            .default(0)
            .meta({ description: `Longest wait in seconds, up to ${maxWaitSeconds}.` }),
        })
        .refine(({ after, cursor }) => after === undefined || cursor === undefined || after === cursor, {
          message: 'is sent together with another cursor',
          path: ['after'],
        }),
      response: {
        200: {
          description: 'Changes; `nextCursor` is the position to continue with, even when there are none.',
          content: {
            'application/json': { schema: z.object({ items: z.array(changeSchema).readonly(), nextCursor: z.string() }) },
            [csvType]: { schema: csvSchema },
            [eventMediaTypes.batch]: { schema: z.array(changeEventSchema).readonly() },
            [streamType]: { schema: streamSchema },
          },
        },
        ...problems(410, 503),
      },
    },
    handler: async (request, reply) => {
      const { query, caller } = request
      const named = query.after ?? query.cursor
      const start = named === undefined ? await changes.beginning() : named === 'now' ? await changes.end() : named
      const filter: ChangeFilter = {
        types: query.types ?? null,
        sellerId: sellersAsked(caller, query.sellerId),
        purchaseOrderId: query.purchaseOrderId ?? null,
      }
      const gone = new AbortController()
      reply.raw.once('close', () => gone.abort())
      const form = wantedForm(request.headers.accept)
      if (form === 'stream') {
        const last = sequence.safeParse(request.headers['last-event-id'] ?? start.toString())
        if (!last.success) {
          throw new Problem('invalid-request', {
            errors: [{ path: 'headers.last-event-id', message: 'must be a sequence number' }],
          })
        }
        admit(gone.signal)
        // After the stream has begun the status can no longer be changed.
        await changes.next(last.data, filter, 1, 0, gone.signal).catch(refusePosition)
        return reply
          .type(streamType)
          .header('cache-control', 'no-store, no-transform')
          .header('x-accel-buffering', 'no')
          .send(
            Readable.from(stream(changes, caller, last.data, filter, gone.signal), { objectMode: false, highWaterMark: 65_536 }),
          )
      }
      if (form === 'csv') {
        const first = await changes.next(start, filter, maxLimit, 0, gone.signal).catch(refusePosition)
        let last = first
        reply.type(`${csvType}; charset=utf-8; header=present`)
        return csvOf(changeSchema, {
          first: first.changes.map((change) => changeFor(caller, change)),
          next: async () => {
            if (last.changes.length < maxLimit) return null
            if (!(await caller.isStillAccepted())) throw revoked()
            last = await changes.next(last.position, filter, maxLimit, 0, gone.signal)
            return last.changes.map((change) => changeFor(caller, change))
          },
        })
      }
      if (query.wait > 0) admit(gone.signal)
      const read = await changes.next(start, filter, query.limit, query.wait * 1_000, gone.signal).catch(refusePosition)
      if (!(await caller.isStillAccepted())) throw revoked()
      const nextCursor = read.position.toString()
      if (form === 'events') {
        const next = new URL(request.url, 'http://localhost')
        next.searchParams.delete('cursor')
        next.searchParams.set('after', nextCursor)
        return reply
          .header('link', `<${next.pathname}${next.search}>; rel="next"`)
          .type(eventMediaTypes.batch)
          .send(read.changes.map((change) => changeEventOf(changeFor(caller, change))))
      }
      reply.type('application/json')
      return { items: read.changes.map((change) => changeFor(caller, change)), nextCursor }
    },
  })
}
