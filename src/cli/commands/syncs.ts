import { z } from 'zod'
import type { Daemon } from '../../api-client/daemon.ts'
import { Failed } from '../../api-client/errors.ts'
import type { CliContext } from '../context.ts'
import { buildNoWorkerError } from '../exit-codes.ts'
import { computeProgress, createIdleTime, type SyncStream, syncStreamSchema } from '../output/backfill-progress.ts'
import { openProgress } from '../output/progress.ts'
import { count, pause, print, printJson, printMessage } from '../output/terminal.ts'
import { describeInactive, sellerSchema } from './sellers.ts'

const compact = (time: Date): string =>
  time
    .toISOString()
    .replace(/\.\d+Z$/, 'Z')
    .replaceAll(/[-:]/g, '')

/** The end of a backfill's range by the name of its stream; null: the stream is not a backfill from this time. */
export const parseBackfillEnd = (stream: string, from: Date): Date | null => {
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

/** `tallyman sync`: runs a sync of the daemon now. @throws Failed when all its sellers are stopped or paused, or none has this resource */
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
  if (jobs.length > 0) return reportResting(terminal, resting)
  const notes = resting.map((one) => `seller ${one} is stopped or paused; \`tallyman sellers resume ${one}\` resumes it`)
  if (notes.length === 0)
    notes.push('no seller has this resource: its marketplace does not have it, or display advertising is off')
  throw new Failed(`${resource}: nothing was queued`, notes)
}

const reportResting = (terminal: CliContext['terminal'], resting: readonly string[] = []): void => {
  for (const sellerId of resting)
    printMessage(terminal, `nothing for seller ${sellerId}: it is stopped or paused; \`tallyman sellers\` shows why`)
}

/** @throws Failed when one of these sellers is stopped or paused, because its backfill makes no progress */
const requireActive = async (daemon: Daemon, sellerIds: ReadonlySet<string>): Promise<void> => {
  for await (const seller of daemon.list('/v1/sellers', sellerSchema)) {
    if (!sellerIds.has(seller.sellerId) || seller.state === 'active') continue
    throw new Failed(describeInactive(seller), [
      `the backfill keeps its position and continues when the seller is resumed: \`tallyman sellers resume ${seller.sellerId}\``,
    ])
  }
}

/** Names of the synced resources, for completions; empty if the daemon does not answer within a second. */
export const listResources = async (daemon: Daemon): Promise<readonly string[]> => {
  const query = { limit: 1_000 }
  try {
    const { items } = await daemon.page('/v1/syncs', syncStreamSchema, { query, timeoutMs: 1_000 })
    return [...new Set(items.map(({ resource }) => resource))]
  } catch (error) {
    if (error instanceof Failed) return []
    throw error
  }
}

/** The streams of one seller or all. */
const readStreams = async (daemon: Daemon, sellerId: string | null): Promise<SyncStream[]> =>
  Array.fromAsync(daemon.list('/v1/syncs', syncStreamSchema, { query: { sellerId } }))

/** Interval of polling the state of a backfill, in milliseconds. */
const pollMs = 500

/** Interval of checking that its sellers are still active, in milliseconds. */
const sellersPollMs = 5_000

/** A JSON line identical to the previous one is repeated only after this time, in milliseconds. */
const repeatLineMs = 10_000

/**
 * `tallyman backfill`: starts a backfill, or finds the running one, and shows its progress until it is done. The daemon
 * runs it: interrupting this command does not stop it.
 *
 * @param maxIdleMs how long it waits while no process works on it, in milliseconds
 * @throws Failed when no process has worked on it for this time, or one of its sellers is stopped or paused
 */
export const runBackfill = async (
  context: CliContext,
  {
    resource,
    sellerId,
    from,
    to,
    maxIdleMs,
  }: { resource: string; sellerId: string | null; from: Date; to: Date | null; maxIdleMs: number },
): Promise<void> => {
  const { terminal, daemon, signal } = context
  // Without --to, a second call continues the backfill of the first call instead of starting one up to a later time.
  const unfinished = (await readStreams(daemon, sellerId)).filter(
    (stream) => stream.resource === resource && stream.stream.startsWith('backfill:') && stream.windowsPending > 0,
  )
  const ends = unfinished.map((stream) => parseBackfillEnd(stream.stream, from)).filter((end) => end !== null)
  const { jobs, resting, range } = await start(daemon, { resource, sellerId, from, to: to ?? ends[0] ?? null }).catch(
    (error: unknown) => {
      // Interrupted before the answer: it is unknown whether the daemon accepted the request.
      if (signal.aborted)
        printMessage(terminal, 'the daemon may have started the backfill; run the same command again to see its progress')
      throw error
    },
  )
  reportResting(terminal, resting)
  const sellerIds = new Set(jobs.map((job) => job.slice(0, job.indexOf(`/${resource}/`))))
  const isOurs = ({ sellerId: seller, resource: of, stream }: SyncStream): boolean => jobs.includes(`${seller}/${of}/${stream}`)
  printMessage(
    terminal,
    `${unfinished.some(isOurs) ? 'continuing' : 'started'} the backfill of ${resource} from ${from.toISOString()}`,
  )
  if (range?.clamped === true) printMessage(terminal, `only ${range.from} to ${range.to} can be read; the rest is skipped`)

  const bar = openProgress(terminal, resource)
  let lastLine = { line: '', atMs: 0 }
  let sellersReadAtMs = 0
  const idleTime = createIdleTime(performance.now())
  try {
    for (;;) {
      if (performance.now() - sellersReadAtMs >= sellersPollMs) {
        await requireActive(daemon, sellerIds)
        sellersReadAtMs = performance.now()
      }
      const all = await readStreams(daemon, sellerId)
      const ours = all.filter(isOurs)
      const progress = computeProgress(ours)
      bar.show(progress)
      if (terminal.json) {
        const line = JSON.stringify({ resource, from, ...progress })
        if (line !== lastLine.line || Date.now() - lastLine.atMs >= repeatLineMs) {
          print(terminal, line)
          lastLine = { line, atMs: Date.now() }
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
      if (idleTime(all, ours, performance.now()) > maxIdleMs)
        throw buildNoWorkerError(`the backfill of ${resource}`, maxIdleMs, 'run the same command again to see its progress')
      await pause(pollMs, signal)
    }
  } finally {
    bar.close()
    if (signal.aborted)
      printMessage(terminal, 'the backfill continues in the daemon; run the same command again to see its progress')
  }
}
