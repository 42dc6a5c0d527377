import path from 'node:path'
import { createInterface } from 'node:readline'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { Failed } from './api-client/errors.ts'
import { runCli } from './cli/program.ts'

const interrupted = new AbortController()
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  // The second signal finds no handler, so it ends the process immediately.
  process.once(signal, () => interrupted.abort())
}

// A reader such as `head` closes the pipe when it needs no more input: not an error.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error
  process.exit(0)
})

const readLine = async (): Promise<string> => {
  for await (const line of createInterface({ input: process.stdin, signal: interrupted.signal })) return line
  return ''
}

/** The options of V8 that `npm start` has too. */
const heapOptions = ['--max-semi-space-size=16', '--initial-old-space-size=32', '--heap-growing-percent=60']

// The same process becomes the daemon, so that it receives every signal itself.
const becomeDaemon = (): void => {
  const main = fileURLToPath(new URL(`main${path.extname(import.meta.filename)}`, import.meta.url))
  if (process.execve === undefined) throw new Failed('the daemon needs Linux or macOS')
  process.execve(process.execPath, [process.execPath, ...heapOptions, main])
}

process.exitCode = await runCli(process.argv.slice(2), {
  environment: process.env,
  out: process.stdout,
  messages: process.stderr,
  readInput: () => text(process.stdin),
  readLine,
  isInteractive: process.stdin.isTTY && process.stderr.isTTY,
  signal: interrupted.signal,
  becomeDaemon,
})
