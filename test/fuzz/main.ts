import { monitorEventLoopDelay } from 'node:perf_hooks'
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
    'Attacks a daemon of its own over HTTP and by SQL. Ends with 1 when it breaks, or stands still for more than 200 ms.',
  )
  .option('--minutes <number>', 'how long', positive, 1)
  .option('--seed <number>', 'of the attack', positive, Math.ceil(Math.random() * 1_000_000))
  .parse()
  .opts<{ minutes: number; seed: number }>()

/** The event loop of the daemon never stands still for longer. */
const longestPauseMs = 200

const stage = await openStage()
const heapBefore = await stage.metric('tallyman_nodejs_heap_size_used_bytes')
const own = monitorEventLoopDelay({ resolution: 10 })
own.enable()
const endsAt = performance.now() + minutes * 60_000
let pauseMs = 0
let askedAt = performance.now()
const watch = setInterval(() => {
  stage.metric('tallyman_nodejs_eventloop_lag_max_seconds').then(
    (seconds) => {
      pauseMs = Math.max(pauseMs, seconds * 1_000)
      askedAt = performance.now()
    },
    (error: unknown) => console.log(`no metrics: ${String(error)}`),
  )
}, 1_000)
const { broken, requests, rows, refusedRows, statuses } = await fuzz(stage.target, seed, () => performance.now() < endsAt)
clearInterval(watch)
const heapAfter = await stage.metric('tallyman_nodejs_heap_size_used_bytes')
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
    `heap ${inMegabytes(heapBefore)} MB before, ${inMegabytes(heapAfter)} MB after`,
  ].join('\n'),
)
await stage.stop()
process.exitCode = broken.length > 0 || pauseMs > longestPauseMs ? 1 : 0
