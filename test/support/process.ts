import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import path from 'node:path'

/** A program of ours under test. */
export interface Program {
  readonly child: ChildProcess
  /** Everything that it has printed so far, both streams. */
  output(): string
  /** Sends SIGTERM and waits for the end; answers the exit code. */
  stop(): Promise<number | null>
  /** SIGKILL: no last words. */
  kill(): Promise<void>
  /** Resolves when it has ended, however. */
  readonly ended: Promise<void>
}

/** Runs a file of the project with the project's Node, in a bare environment. */
export const startProgram = (
  file: string,
  env: Readonly<Record<string, string>>,
  args: readonly string[] = [],
  nodeFlags: readonly string[] = [],
): Program => {
  const child = spawn(process.execPath, [...nodeFlags, path.resolve(file), ...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { PATH: process.env['PATH'] ?? '', HOME: process.env['HOME'] ?? '', NODE_ENV: 'test', ...env },
  })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (chunk: string) => {
      output = (output + chunk).slice(-2_000_000)
    })
  }
  const ended = once(child, 'exit').then(() => undefined)
  const gone = (): boolean => child.exitCode !== null || child.signalCode !== null
  return {
    child,
    output: () => output,
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
