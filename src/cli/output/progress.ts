import { SingleBar } from 'cli-progress'
import type { BackfillProgress } from './backfill-progress.ts'
import { duration, oneLine, printMessage, type Terminal } from './terminal.ts'

/** Shows the progress of a long operation, on the stream for messages. */
export interface Progress {
  show(progress: BackfillProgress): void
  /** Leaves the last state on the screen; repeated calls are allowed. */
  close(): void
}

/** Without a terminal, a line is written after each step of this fraction. */
const lineStep = 0.1

const isTerminal = (stream: NodeJS.WritableStream): boolean => 'isTTY' in stream && stream.isTTY === true

/** A bar on a terminal, a few lines in a log file. */
export const openProgress = (terminal: Terminal, title: string): Progress =>
  isTerminal(terminal.messages) ? openBar(terminal, title) : openLines(terminal, title)

const openBar = (terminal: Terminal, title: string): Progress => {
  const bar = new SingleBar({
    stream: terminal.messages,
    format: `${oneLine(title)} {bar} {percentage} %  {seen} seen, {changed} stored{quarantined}  {elapsed}{trouble}`,
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

const openLines = (terminal: Terminal, title: string): Progress => {
  let writtenStep = -1
  let trouble: string | null = null
  return {
    show: (progress) => {
      if (progress.trouble !== null && progress.trouble !== trouble)
        printMessage(terminal, `${title}: waiting: ${oneLine(progress.trouble)}`)
      trouble = progress.trouble
      const step = Math.floor(progress.done / lineStep)
      if (step <= writtenStep) return
      writtenStep = step
      printMessage(terminal, `${title}: ${Math.floor(progress.done * 100)} %, ${progress.seen} seen, ${progress.changed} stored`)
    },
    close: () => undefined,
  }
}
