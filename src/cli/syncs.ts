import { z } from 'zod'
import { progressOf, type SyncStream, syncStreamSchema } from './backfill-progress.ts'
import type { CliContext } from './context.ts'
import type { Daemon } from './daemon.ts'
import { Failed } from './faults.ts'
import { openProgress } from './progress.ts'
import { restOf, sellerSchema } from './sellers.ts'
import { count, pause, print, printJson, say } from './terminal.ts'

const compact = (instant: Date): string =>
  instant
    .toISOString()
    .replace(/\.\d+Z$/, 'Z')
    .replaceAll(/[-:]/g, '')

/** The end of a backfill's range, read from its stream's name; null when the name tells of no backfill that began there. */
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

/** `tallyman sync`: asks the daemon to run a sync now. */
export const runSync = async (
  { terminal, daemon }: CliContext,
  { resource, sellerId }: { resource: string; sellerId: string | null },
): Promise<void> => {
  const answer = await start(daemon, { resource, sellerId, from: null, to: null })
  if (terminal.json) return printJson(terminal, answer)
  print(terminal, `${resource}: ${count(answer.jobs.length, 'run')} queued`)
  for (const job of answer.jobs) print(terminal, `  ${job}`)
  tellResting(terminal, answer.resting)
}

const tellResting = (terminal: CliContext['terminal'], resting: readonly string[] = []): void => {
  for (const sellerId of resting)
    say(terminal, `nothing for seller ${sellerId}: it is stopped or paused; \`tallyman sellers\` tells why`)
}

/** @throws Failed when one of these sellers is stopped or paused: its backfill does not get on */
const refuseResting = async (daemon: Daemon, sellerIds: ReadonlySet<string>): Promise<void> => {
  for await (const seller of daemon.list('/v1/sellers', sellerSchema)) {
    if (!sellerIds.has(seller.sellerId) || seller.state === 'active') continue
    throw new Failed(restOf(seller), [
      `the backfill stays where it is, and goes on when the seller does: \`tallyman sellers resume ${seller.sellerId}\``,
    ])
  }
}

/** The backfills that this daemon knows of, of a resource and of one seller or all. */
const backfillsOf = async (daemon: Daemon, resource: string, sellerId: string | null): Promise<SyncStream[]> => {
  const streams: SyncStream[] = []
  for await (const stream of daemon.list('/v1/syncs', syncStreamSchema, { query: { sellerId } })) {
    if (stream.resource === resource && stream.stream.startsWith('backfill:')) streams.push(stream)
  }
  return streams
}

/** How often the state of a backfill is asked for, in milliseconds. */
const lookEveryMs = 500

/** How often it is asked whether its sellers are still at work, in milliseconds. */
const lookAtSellersEveryMs = 5_000

/** A JSON line that says the same as the one before comes only after so many milliseconds. */
const sameLineEveryMs = 10_000

/**
 * `tallyman backfill`: starts a backfill, or finds the one under way, and shows how far it is until it is done. It belongs to
 * the daemon: interrupting this command does not stop it.
 */
export const runBackfill = async (
  context: CliContext,
  { resource, sellerId, from, to }: { resource: string; sellerId: string | null; from: Date; to: Date | null },
): Promise<void> => {
  const { terminal, daemon, signal } = context
  // Without --to a second call means the backfill that the first one began, not another one up to a later now.
  const underWay = (await backfillsOf(daemon, resource, sellerId)).filter((stream) => stream.windowsPending > 0)
  const ends = underWay.map((stream) => backfillEnd(stream.stream, from)).filter((end) => end !== null)
  const { jobs, resting, range } = await start(daemon, { resource, sellerId, from, to: to ?? ends[0] ?? null })
  tellResting(terminal, resting)
  const sellerIds = new Set(jobs.map((job) => job.slice(0, job.indexOf(`/${resource}/`))))
  const isOurs = ({ sellerId: seller, stream }: SyncStream): boolean => jobs.includes(`${seller}/${resource}/${stream}`)
  say(terminal, `${underWay.some(isOurs) ? 'going on with' : 'began'} the backfill of ${resource} from ${from.toISOString()}`)
  if (range?.clamped === true) say(terminal, `only ${range.from} to ${range.to} can be reached; the rest of it is left out`)

  const bar = openProgress(terminal, resource)
  let said = { line: '', atMs: 0 }
  let sellersSeenAtMs = 0
  try {
    for (;;) {
      if (performance.now() - sellersSeenAtMs >= lookAtSellersEveryMs) {
        await refuseResting(daemon, sellerIds)
        sellersSeenAtMs = performance.now()
      }
      const progress = progressOf((await backfillsOf(daemon, resource, sellerId)).filter(isOurs))
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
            print(terminal, `out of reach: the marketplace answers for nothing before ${outOfReachBefore}; that was not read`)
          if (skipped > 0)
            print(
              terminal,
              `${count(skipped, 'part')} could not be read and will be tried again; \`tallyman quarantine\` names them`,
            )
        }
        return
      }
      await pause(lookEveryMs, signal)
    }
  } finally {
    bar.close()
    if (signal.aborted) say(terminal, 'the backfill goes on in the daemon; run the same command again to see it')
  }
}
