import { Readable } from 'node:stream'
import { z } from 'zod'
import type { Change } from '../../domain/changes/change.ts'
import { buildChangeEvent } from '../../domain/changes/cloud-event.ts'
import { findTypes, typePatternSchema } from '../../domain/changes/filter.ts'
import { type ChangeFilter, ChangesRemoved, PositionBeyondEnd } from '../../store/changes/changes.ts'
import { type App, problems } from '../app.ts'
import { type Caller, resolveSellerFilter } from '../auth/caller.ts'
import type { ChangeFeed } from '../change-feed.ts'
import { eventMediaTypes } from '../cloud-events.ts'
import { buildCsv, csvSchema, csvType } from '../csv.ts'
import { maskChange } from '../masking.ts'
import { Problem } from '../problems.ts'
import { limitSchema, maxLimit } from '../schemas/paging.ts'
import { changeEventSchema, changeSchema } from '../schemas/schemas.ts'
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

const buildRevoked = (): Problem => new Problem('unauthenticated', { detail: 'The key was revoked during the request.' })

const typesSchema = z
  .string()
  .transform((text) => text.split(',').map((part) => part.trim()))
  .pipe(z.array(typePatternSchema))
  .transform(findTypes)

/** A change as a server-sent event with its position as id. It has no event name, so `onmessage` of every client receives it. */
const formatEvent = (change: Change): string => {
  const data = JSON.stringify(change, (_name, value: unknown) => (typeof value === 'bigint' ? value.toString() : value))
  return `id: ${change.seq}\ndata: ${data}\n\n`
}

/** Reports that changes cannot be read from a position, with the position to continue from. @throws Problem */
const throwPositionProblem = (error: unknown): never => {
  if (error instanceof ChangesRemoved) {
    throw new Problem('changes-gone', {
      detail: `${error.message} (RETAIN_CHANGES). Their effects are in the tables; read those, and continue with after=${error.removedUpTo}.`,
    })
  }
  if (error instanceof PositionBeyondEnd) {
    throw new Problem('position-beyond-end', {
      detail: `${error.message}: it belongs to another database, or to a later state of this one. Read the tables, and continue with after=${error.end} (or after=now).`,
    })
  }
  throw error
}

/** The text of a stream. The socket pulls it: for a slow reader at most one page is read ahead. */
const streamChanges = async function* (
  feed: ChangeFeed,
  caller: Caller,
  from: bigint,
  filter: ChangeFilter,
  disconnected: AbortSignal,
): AsyncGenerator<string, void, undefined> {
  let after = from
  yield `retry: ${reconnectMs}\n\n`
  while (!disconnected.aborted && !feed.closed.aborted) {
    const { changes, position: reached } = await feed.next(after, filter, streamPage, heartbeatMs, disconnected)
    // A revoked key receives nothing more.
    if (!(await caller.isStillAccepted())) return
    // An id without data is not a message. It moves the position from which the client resumes past changes that do not match.
    const moved = reached === after ? '' : `id: ${reached}\n`
    yield changes.length === 0
      ? `${moved}: still here\n\n`
      : changes.map((change) => formatEvent(maskChange(caller, change))).join('')
    after = reached
  }
}

/** The requested form of the feed, by the Accept header; JSON by default. */
const findForm = (accept: string | undefined): 'stream' | 'events' | 'csv' | 'page' => {
  const types = (accept ?? '').split(',').map((part) => part.split(';')[0]?.trim().toLowerCase())
  if (types.includes(streamType)) return 'stream'
  if (types.includes(eventMediaTypes.batch)) return 'events'
  return types.includes(csvType) ? 'csv' : 'page'
}

/** The change feed: pages, long poll, server-sent events. */
export const changeRoutes = (app: App, { changes, services }: RouteParts): void => {
  const { streams } = services.limits
  let waiting = 0
  /** Counts a waiting reader until it disconnects. @throws Problem when there are too many */
  const addWaiting = (disconnected: AbortSignal): void => {
    if (waiting >= streams) {
      throw new Problem('unavailable', {
        detail: `${streams} readers of the change feed are waiting (MAX_STREAMS). Retry later, or without \`wait\`.`,
        headers: { 'retry-after': '5' },
      })
    }
    waiting += 1
    const remove = (): void => {
      waiting -= 1
    }
    if (disconnected.aborted) remove()
    else disconnected.addEventListener('abort', remove, { once: true })
  }

  app.route({
    method: 'GET',
    url: '/v1/changes',
    config: { needs: ['read', 'own'] },
    schema: {
      tags: ['changes'],
      summary: 'Changes in ascending order, without gaps',
      description:
        'Continues after `after` (or `cursor`, the `nextCursor` of the previous answer). With `wait` an empty answer is delayed until something ' +
        'changes. With `Accept: text/event-stream` the same as server-sent events without a name; `Last-Event-ID` overrides `after`. With ' +
        '`Accept: application/cloudevents-batch+json` as CloudEvents, and the position in the header `link` (`rel="next"`); with `Accept: text/csv` all of them up to now. 410 when the next ' +
        'change has been removed (`RETAIN_CHANGES`), 400 `position-beyond-end` when the position is beyond the last change: none is skipped silently. ' +
        'Filters advance the position past changes that do not match.',
      querystring: z
        .object({
          after: position.optional().meta({
            description:
              'Sequence number of the last change that was read, or `now`: only future changes; default: from the oldest that is kept.',
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
      const requested = query.after ?? query.cursor
      const start = requested === undefined ? await changes.beginning() : requested === 'now' ? await changes.end() : requested
      const filter: ChangeFilter = {
        types: query.types ?? null,
        sellerId: resolveSellerFilter(caller, query.sellerId),
        purchaseOrderId: query.purchaseOrderId ?? null,
      }
      const disconnected = new AbortController()
      reply.raw.once('close', () => disconnected.abort())
      const form = findForm(request.headers.accept)
      if (form === 'stream') {
        const last = sequence.safeParse(request.headers['last-event-id'] ?? start.toString())
        if (!last.success) {
          throw new Problem('invalid-request', {
            errors: [{ path: 'headers.last-event-id', message: 'must be a sequence number' }],
          })
        }
        addWaiting(disconnected.signal)
        // The position is checked first: when the stream has begun, the status can no longer change.
        await changes.next(last.data, filter, 1, 0, disconnected.signal).catch(throwPositionProblem)
        return reply
          .type(streamType)
          .header('cache-control', 'no-store, no-transform')
          .header('x-accel-buffering', 'no')
          .send(
            Readable.from(streamChanges(changes, caller, last.data, filter, disconnected.signal), {
              objectMode: false,
              highWaterMark: 65_536,
            }),
          )
      }
      if (form === 'csv') {
        const first = await changes.next(start, filter, maxLimit, 0, disconnected.signal).catch(throwPositionProblem)
        let last = first
        reply.type(`${csvType}; charset=utf-8; header=present`)
        return buildCsv(changeSchema, {
          first: first.changes.map((change) => maskChange(caller, change)),
          next: async () => {
            if (last.changes.length < maxLimit) return null
            if (!(await caller.isStillAccepted())) throw buildRevoked()
            last = await changes.next(last.position, filter, maxLimit, 0, disconnected.signal)
            return last.changes.map((change) => maskChange(caller, change))
          },
        })
      }
      if (query.wait > 0) addWaiting(disconnected.signal)
      const read = await changes
        .next(start, filter, query.limit, query.wait * 1_000, disconnected.signal)
        .catch(throwPositionProblem)
      if (!(await caller.isStillAccepted())) throw buildRevoked()
      const nextCursor = read.position.toString()
      if (form === 'events') {
        const next = new URL(request.url, 'http://localhost')
        next.searchParams.delete('cursor')
        next.searchParams.set('after', nextCursor)
        return reply
          .header('link', `<${next.pathname}${next.search}>; rel="next"`)
          .type(eventMediaTypes.batch)
          .send(read.changes.map((change) => buildChangeEvent(maskChange(caller, change))))
      }
      reply.type('application/json')
      return { items: read.changes.map((change) => maskChange(caller, change)), nextCursor }
    },
  })
}
