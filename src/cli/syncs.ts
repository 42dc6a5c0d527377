import { z } from 'zod'
import { createIdleTime, progressOf, type SyncStream, syncStreamSchema } from './backfill-progress.ts'
import type { CliContext } from './context.ts'
import type { Daemon } from './daemon.ts'
import { Failed, notBegun } from './faults.ts'
import { openProgress } from './progress.ts'
import { restOf, sellerSchema } from './sellers.ts'
import { count, pause, print, printJson, say } from './terminal.ts'

const compact = (instant: Date): string =>
  instant
    .toISOString()
    .replace(/\.\d+Z$/, 'Z')
    .replaceAll(/[-:]/g, '')

/** The end of a backfill's range, read from its stream's name; null when the name is not that of a backfill from this beginning. */
export const backfillEnd = (stream: string, from: Date): Date | null => {
  const [, start, year, month, day, hour, minute, second] =
    /^backfill:(\d{8}T\d{6}Z):(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/.exec(stream) ?? []
  return start === compact(from) ? new Date(`${year}-${month}-${day}T${hour}:${minute}:${second}Z`) : null
}

const runSchema = z.looseObject({
  jobs: z.array(z.string()),
  resting: z.array(z.string()).optional(),
  range: z.looseObject({ from: z.string(), to: z.string(), clamped: z.boolean() }).nullish(),
})

const start = (
  daemon: Daemon,
  { resource, sellerId, from, to }: { resource: string; sellerId: string | null; from: Date | null; to: Date | null },
) =>
  daemon.post(`/v1/syncs/${encodeURIComponent(resource)}/run`, runSchema, {
    body: {
      ...(sellerId === null ? {} : { sellerId }),
      ...(from === null ? {} : { from: from.toISOString() }),
      ...(to === null ? {} : { to: to.toISOString() }),
    },
  })

/** `tallyman sync`: runs a sync of the daemon now. @throws Failed when every seller that it is about is stopped or paused */
export const runSync = async (
  { terminal, daemon }: CliContext,
  { resource, sellerId }: { resource: string; sellerId: string | null },
): Promise<void> => {
  const answer = await start(daemon, { resource, sellerId, from: null, to: null })
  const { jobs, resting = [] } = answer
  if (terminal.json) printJson(terminal, answer)
  else if (jobs.length > 0) {
    print(terminal, `${resource}: ${count(jobs.length, 'run')} queued`)
    for (const job of jobs) print(terminal, `  ${job}`)
  }
  if (jobs.length > 0 || resting.length === 0) return tellResting(terminal, resting)
  const notes = resting.map((one) => `seller ${one} is stopped or paused; \`tallyman sellers resume ${one}\` resumes it`)
  throw new Failed(`${resource}: nothing was queued`, notes)
}

const tellResting = (terminal: CliContext['terminal'], resting: readonly string[] = []): void => {
  for (const sellerId of resting)
    say(terminal, `nothing for seller ${sellerId}: it is stopped or paused; \`tallyman sellers\` shows why`)
}

/** @throws Failed when one of these sellers is stopped or paused: its backfill makes no progress */
const refuseResting = async (daemon: Daemon, sellerIds: ReadonlySet<string>): Promise<void> => {
  for await (const seller of daemon.list('/v1/sellers', sellerSchema)) {
    if (!sellerIds.has(seller.sellerId) || seller.state === 'active') continue
    throw new Failed(restOf(seller), [
      `the backfill keeps its position and continues when the seller is resumed: \`tallyman sellers resume ${seller.sellerId}\``,
    ])
  }
}

/** What the daemon syncs, by name; nothing where it does not answer within a second: whoever waits for a completion wants no error. */
export const syncedResources = async (daemon: Daemon): Promise<readonly string[]> => {
  const query = { limit: 1_000 }
  try {
    const { items } = await daemon.page('/v1/syncs', syncStreamSchema, { query, timeoutMs: 1_000 })
    return [...new Set(items.map(({ resource }) => resource))]
  } catch (error) {
    if (error instanceof Failed) return []
    throw error
  }
}

/** The streams that this daemon knows, of one seller or all. */
const streamsOf = async (daemon: Daemon, sellerId: string | null): Promise<SyncStream[]> =>
  Array.fromAsync(daemon.list('/v1/syncs', syncStreamSchema, { query: { sellerId } }))

/** Interval of polling the state of a backfill, in milliseconds. */
const lookEveryMs = 500

/** Interval of checking that its sellers are still active, in milliseconds. */
const lookAtSellersEveryMs = 5_000

/** A JSON line identical to the previous one is repeated only after this time, in milliseconds. */
const sameLineEveryMs = 10_000

/**
 * `tallyman backfill`: starts a backfill, or finds the running one, and shows its progress until it is done. It belongs to
 * the daemon: interrupting this command does not stop it.
 *
 * @param waitMs so long it waits, in milliseconds, while no process is at it
 * @throws Failed when none has been at it for so long, or one of its sellers is stopped or paused
 */
export const runBackfill = async (
  context: CliContext,
  {
    resource,
    sellerId,
    from,
    to,
    waitMs,
  }: { resource: string; sellerId: string | null; from: Date; to: Date | null; waitMs: number },
): Promise<void> => {
  const { terminal, daemon, signal } = context
  // Without --to a second call refers to the backfill that the first one started, not to another one up to a later moment.
  const underWay = (await streamsOf(daemon, sellerId)).filter(
    (stream) => stream.resource === resource && stream.stream.startsWith('backfill:') && stream.windowsPending > 0,
  )
  const ends = underWay.map((stream) => backfillEnd(stream.stream, from)).filter((end) => end !== null)
  const { jobs, resting, range } = await start(daemon, { resource, sellerId, from, to: to ?? ends[0] ?? null }).catch(
    (error: unknown) => {
      // Its answer is not awaited any more, so nobody knows whether the daemon took the request.
      if (signal.aborted)
        say(terminal, 'the daemon may have started the backfill; run the same command again to see its progress')
      throw error
    },
  )
  tellResting(terminal, resting)
  const sellerIds = new Set(jobs.map((job) => job.slice(0, job.indexOf(`/${resource}/`))))
  const isOurs = ({ sellerId: seller, resource: of, stream }: SyncStream): boolean => jobs.includes(`${seller}/${of}/${stream}`)
  say(terminal, `${underWay.some(isOurs) ? 'continuing' : 'started'} the backfill of ${resource} from ${from.toISOString()}`)
  if (range?.clamped === true) say(terminal, `only ${range.from} to ${range.to} can be reached; the rest is skipped`)

  const bar = openProgress(terminal, resource)
  let said = { line: '', atMs: 0 }
  let sellersSeenAtMs = 0
  const idleTime = createIdleTime(performance.now())
  try {
    for (;;) {
      if (performance.now() - sellersSeenAtMs >= lookAtSellersEveryMs) {
        await refuseResting(daemon, sellerIds)
        sellersSeenAtMs = performance.now()
      }
      const all = await streamsOf(daemon, sellerId)
      const ours = all.filter(isOurs)
      const progress = progressOf(ours)
      bar.show(progress)
      if (terminal.json) {
        const line = JSON.stringify({ resource, from, ...progress })
        if (line !== said.line || Date.now() - said.atMs >= sameLineEveryMs) {
          print(terminal, line)
          said = { line, atMs: Date.now() }
        }
      }
      if (progress.finished) {
        bar.close()
        const { seen, changed, quarantined, skipped, outOfReachBefore } = progress
        if (!terminal.json) {
          print(terminal, `done: ${seen} seen, ${changed} stored, ${quarantined} quarantined`)
          if (outOfReachBefore !== null)
            print(terminal, `out of reach: the marketplace serves nothing before ${outOfReachBefore}; that time was not read`)
          if (skipped > 0)
            print(terminal, `${count(skipped, 'part')} could not be read and will be retried; \`tallyman quarantine\` lists them`)
        }
        return
      }
      if (idleTime(all, ours, performance.now()) > waitMs)
        throw notBegun(`the backfill of ${resource}`, waitMs, 'run the same command again to see its progress')
      await pause(lookEveryMs, signal)
    }
  } finally {
    bar.close()
    if (signal.aborted) say(terminal, 'the backfill continues in the daemon; run the same command again to see its progress')
  }
}
