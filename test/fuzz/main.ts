import { monitorEventLoopDelay } from 'node:perf_hooks'
import { setTimeout } from 'node:timers/promises'
import { Command } from 'commander'
import { fuzz } from './fuzz.ts'
import { openStage } from './stage.ts'

const positive = (text: string): number => {
  const value = Number(text)
  if (!(value > 0)) throw new Error(`${text} is no number above zero`)
  return value
}

const { minutes, seed } = new Command('fuzz')
  .description(
    'Attacks a daemon of its own over HTTP and by SQL. Ends with 1 when it breaks, stands still for more than 200 ms, or keeps memory.',
  )
  .option('--minutes <number>', 'how long', positive, 1)
  .option('--seed <number>', 'of the attack', positive, Math.ceil(Math.random() * 1_000_000))
  .parse()
  .opts<{ minutes: number; seed: number }>()

/** The event loop of the daemon never stands still for longer. */
const longestPauseMs = 200

/** Memory comes back to where it was: so many bytes more may stay in use, such as code that was compiled. */
const maxKept = 16 * 1_048_576

const stage = await openStage()
const heapBefore = await stage.heapInUse()
const own = monitorEventLoopDelay({ resolution: 10 })
own.enable()
const endsAt = performance.now() + minutes * 60_000
let pauseMs = 0
let askedAt = performance.now()
const watch = setInterval(() => {
  stage.metric('nodejs_eventloop_lag_max_seconds').then(
    (seconds) => {
      pauseMs = Math.max(pauseMs, seconds * 1_000)
      askedAt = performance.now()
    },
    (error: unknown) => console.log(`no metrics: ${String(error)}`),
  )
}, 1_000)
const { broken, requests, rows, refusedRows, statuses } = await fuzz(stage.target, seed, () => performance.now() < endsAt)
clearInterval(watch)
const heapAtOnce = await stage.metric('nodejs_heap_size_used_bytes')
// Events that are large are worked off for some seconds yet.
let heapAfter = await stage.heapInUse()
for (let look = 0; look < 15 && heapAfter - heapBefore > maxKept; look += 1) {
  await setTimeout(2_000)
  heapAfter = Math.min(heapAfter, await stage.heapInUse())
}
const inMegabytes = (bytes: number): string => (bytes / 1_048_576).toFixed(0)
for (const one of broken.slice(0, 20)) console.log(one)
console.log(
  [
    `seed ${seed}: ${requests} requests, ${rows} rows (${refusedRows} refused by Postgres), ${broken.length} broken`,
    `answers: ${[...statuses]
      .sort()
      .map(([status, count]) => `${status}: ${count}`)
      .join(', ')}`,
    `longest pause ${pauseMs.toFixed(0)} ms (own ${(own.max / 1e6).toFixed(0)} ms), last asked ${((performance.now() - askedAt) / 1_000).toFixed(0)} s ago`,
    `heap ${inMegabytes(heapBefore)} MB in use before, ${inMegabytes(heapAfter)} MB after (${inMegabytes(heapAtOnce)} MB with garbage)`,
  ].join('\n'),
)
await stage.stop()
process.exitCode = broken.length > 0 || pauseMs > longestPauseMs || heapAfter - heapBefore > maxKept ? 1 : 0
