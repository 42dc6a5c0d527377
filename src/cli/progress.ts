import { SingleBar } from 'cli-progress'
import type { BackfillProgress } from './backfill-progress.ts'
import { duration, oneLine, say, type Terminal } from './terminal.ts'

/** Shows the progress of a long operation, on the stream for messages. */
export interface Progress {
  show(progress: BackfillProgress): void
  /** Leaves the last state on the screen; repeated calls are allowed. */
  close(): void
}

/** Without a terminal, a line is written for each such share of progress. */
const lineEvery = 0.1

const isTerminal = (stream: NodeJS.WritableStream): boolean => 'isTTY' in stream && stream.isTTY === true

/** A bar on a terminal, a few lines in a log file. */
export const openProgress = (terminal: Terminal, what: string): Progress =>
  isTerminal(terminal.talk) ? barOn(terminal, what) : linesOn(terminal, what)

const barOn = (terminal: Terminal, what: string): Progress => {
  const bar = new SingleBar({
    stream: terminal.talk,
    format: `${oneLine(what)} {bar} {percentage} %  {seen} seen, {changed} stored{quarantined}  {elapsed}{trouble}`,
    barCompleteChar: '█',
    barIncompleteChar: '░',
    barsize: 30,
    hideCursor: true,
    clearOnComplete: false,
    formatValue: (value, _options, type) => (type === 'percentage' ? String(Math.floor(value)).padStart(3) : String(value)),
  })
  const startedAtMs = Date.now()
  let open = false
  return {
    show: (progress) => {
      const payload = {
        seen: progress.seen,
        changed: progress.changed,
        quarantined: progress.quarantined === 0 ? '' : `, ${progress.quarantined} quarantined`,
        elapsed: duration(Date.now() - startedAtMs),
        trouble: progress.trouble === null ? '' : `  waiting: ${oneLine(progress.trouble)}`,
      }
      if (!open) bar.start(1_000, 0, payload)
      open = true
      bar.update(Math.floor(progress.done * 1_000), payload)
    },
    close: () => {
      if (open) bar.stop()
      open = false
    },
  }
}

const linesOn = (terminal: Terminal, what: string): Progress => {
  let told = -1
  let trouble: string | null = null
  return {
    show: (progress) => {
      if (progress.trouble !== null && progress.trouble !== trouble)
        say(terminal, `${what}: waiting: ${oneLine(progress.trouble)}`)
      trouble = progress.trouble
      const step = Math.floor(progress.done / lineEvery)
      if (step <= told) return
      told = step
      say(terminal, `${what}: ${Math.floor(progress.done * 100)} %, ${progress.seen} seen, ${progress.changed} stored`)
    },
    close: () => undefined,
  }
}
