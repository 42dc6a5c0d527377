import { createInterface } from 'node:readline'
import { text } from 'node:stream/consumers'
import { runCli } from './cli/program.ts'

const interruption = new AbortController()
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  // The second signal finds no handler and ends the process at once.
  process.once(signal, () => interruption.abort())
}

// A reader such as `head` that has seen enough closes the pipe; that is no fault.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error
  process.exit(0)
})

const readLine = async (): Promise<string> => {
  for await (const line of createInterface({ input: process.stdin, signal: interruption.signal })) return line
  return ''
}

process.exitCode = await runCli(process.argv.slice(2), {
  environment: process.env,
  out: process.stdout,
  talk: process.stderr,
  readInput: () => text(process.stdin),
  readLine,
  isInteractive: process.stdin.isTTY && process.stderr.isTTY,
  signal: interruption.signal,
})
