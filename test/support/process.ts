import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import path from 'node:path'
import { eventually, Hopeless } from './eventually.ts'

/** A program of ours under test. */
export interface Program {
  readonly child: ChildProcess
  /** Everything that it has printed so far, both streams. */
  output(): string
  /** Waits until it has printed this; answers the match. Throws with the output at once when it has ended without, or after `timeoutMs`. */
  says(what: string | RegExp, timeoutMs?: number): Promise<RegExpExecArray>
  /** @throws Hopeless with the end of its output when it has ended */
  assertRuns(): void
  /** Sends SIGTERM and waits for the end; answers the exit code. */
  stop(): Promise<number | null>
  /** SIGKILL: no last words. */
  kill(): Promise<void>
  /** Resolves when it has ended, however. */
  readonly ended: Promise<void>
}

/** What a program printed last may come after its end; a child of its own may hold its output open for ever. */
const lastWordsMs = 2_000

/** What Node has compiled once is not compiled anew with each of the many starts. */
const compiled = path.resolve('node_modules/.cache/tallyman')

/** Runs a file of the project with the project's Node, in a bare environment. */
export const startProgram = (
  file: string,
  env: Readonly<Record<string, string>>,
  args: readonly string[] = [],
  nodeFlags: readonly string[] = [],
): Program => {
  const child = spawn(process.execPath, [...nodeFlags, path.resolve(file), ...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: {
      PATH: process.env['PATH'] ?? '',
      HOME: process.env['HOME'] ?? '',
      NODE_ENV: 'test',
      NODE_COMPILE_CACHE: compiled,
      ...env,
    },
  })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (chunk: string) => {
      output = (output + chunk).slice(-2_000_000)
    })
  }
  const ended = once(child, 'exit').then(() => undefined)
  let silent = false
  const fallSilent = (): void => {
    silent = true
  }
  child.once('close', fallSilent)
  child.once('exit', () => setTimeout(fallSilent, lastWordsMs).unref())
  const gone = (): boolean => child.exitCode !== null || child.signalCode !== null
  const tail = (): string => output.slice(-3_000)
  const assertRuns = (): void => {
    if (silent) throw new Hopeless(`${file} has ended with ${child.exitCode ?? child.signalCode}:\n${tail()}`)
  }
  return {
    child,
    output: () => output,
    says: (what, timeoutMs) => {
      const pattern = typeof what === 'string' ? new RegExp(RegExp.escape(what)) : what
      return eventually(() => {
        const found = pattern.exec(output)
        if (found !== null) return found
        assertRuns()
        throw new Error(`${file} has not said ${String(what)} yet:\n${tail()}`)
      }, timeoutMs)
    },
    assertRuns,
    ended,
    stop: async () => {
      if (!gone()) child.kill('SIGTERM')
      await ended
      return child.exitCode
    },
    kill: async () => {
      if (!gone()) child.kill('SIGKILL')
      await ended
    },
  }
}
