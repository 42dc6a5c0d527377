import { Readable } from 'node:stream'
import { z } from 'zod'
import { type Change, ChangesGone } from '../../store/changes.ts'
import { type App, problems } from '../app.ts'
import type { ChangeFeed } from '../change-feed.ts'
import { limitSchema } from '../paging.ts'
import { Problem } from '../problems.ts'
import { changeSchema } from '../schemas.ts'
import type { RouteParts } from './parts.ts'

const maxWaitSeconds = 60
// Written without the serializer; in JSON Schema it is text.
const streamSchema = z
  .custom<Readable>()
  .meta({ type: 'string', description: 'Server-sent events: id, event and data of each change.' })
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

const streamed = (change: Change): string => {
  const data = JSON.stringify(change, (_name, value: unknown) => (typeof value === 'bigint' ? value.toString() : value))
  return `id: ${change.seq}\nevent: ${change.type.replace(/[\r\n]/g, ' ')}\ndata: ${data}\n\n`
}

/** Answers with 410 when requested changes have been removed, with the number to continue with. @throws Problem */
const refuseGone = (error: unknown): never => {
  if (!(error instanceof ChangesGone)) throw error
  throw new Problem('changes-gone', {
    detail: `${error.message} (RETAIN_CHANGES). Their effects are in the tables; read those, and continue with after=${error.removedUpTo}.`,
  })
}

/** The stream's text. Pulled by the socket: for a slow reader at most one page is read ahead. */
const stream = async function* (feed: ChangeFeed, from: bigint, gone: AbortSignal): AsyncGenerator<string, void, undefined> {
  let after = from
  yield `retry: ${reconnectMs}\n\n`
  while (!gone.aborted && !feed.ended.aborted) {
    const changes = await feed.next(after, streamPage, heartbeatMs, gone)
    if (changes.length === 0) {
      yield ': still here\n\n'
      continue
    }
    yield changes.map(streamed).join('')
    after = changes.at(-1)?.seq ?? after
  }
}

const wantsStream = (accept: string | undefined): boolean =>
  (accept ?? '').split(',').some((part) => part.split(';')[0]?.trim().toLowerCase() === streamType)

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
    schema: {
      tags: ['changes'],
      summary: 'Changes in commit order, without gaps',
      description:
        'Continues after `after` (or `cursor`, the `nextCursor` of the previous answer). With `wait` an empty answer is delayed until something ' +
        'changes. With `Accept: text/event-stream` the same as server-sent events; `Last-Event-ID` overrides `after`. 410 when the next ' +
        'change has been removed (`RETAIN_CHANGES`): none is skipped silently.',
      querystring: z
        .object({
          after: sequence
            .optional()
            .meta({ description: 'Sequence number of the last change that was seen; default: from the oldest that is kept.' }),
          cursor: sequence.optional().meta({ description: 'The same as `after`.' }),
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
            [streamType]: { schema: streamSchema },
          },
        },
        ...problems(410, 503),
      },
    },
    handler: async (request, reply) => {
      const { query } = request
      const after = query.after ?? query.cursor ?? (await changes.beginning())
      const gone = new AbortController()
      reply.raw.once('close', () => gone.abort())
      if (wantsStream(request.headers.accept)) {
        const last = sequence.safeParse(request.headers['last-event-id'] ?? after.toString())
        if (!last.success) {
          throw new Problem('invalid-request', {
            errors: [{ path: 'headers.last-event-id', message: 'must be a sequence number' }],
          })
        }
        admit(gone.signal)
        // After the stream has begun the status can no longer be changed.
        await changes.next(last.data, 1, 0, gone.signal).catch(refuseGone)
        return reply
          .type(streamType)
          .header('cache-control', 'no-store, no-transform')
          .header('x-accel-buffering', 'no')
          .send(Readable.from(stream(changes, last.data, gone.signal), { objectMode: false, highWaterMark: 65_536 }))
      }
      if (query.wait > 0) admit(gone.signal)
      const items = await changes.next(after, query.limit, query.wait * 1_000, gone.signal).catch(refuseGone)
      reply.type('application/json')
      return { items, nextCursor: (items.at(-1)?.seq ?? after).toString() }
    },
  })
}
