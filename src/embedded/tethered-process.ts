import { type ChildProcess, spawn } from 'node:child_process'
import type { EventEmitter } from 'node:events'
import { Socket } from 'node:net'

/** A program that cannot outlive the daemon. */
export interface TetheredProcess {
  readonly child: ChildProcess
  /** Resolves when the program and its watcher have ended. */
  readonly ended: Promise<void>
}

/** Resolves with the first of these events. */
const untilFirst = (emitter: EventEmitter, ...events: readonly string[]): Promise<void> =>
  new Promise((resolve) => {
    for (const event of events) emitter.once(event, () => resolve())
  })

/** Options of a tethered program. */
export interface TetherOptions {
  /** Numeric user and group of the process; ours by default. */
  readonly uid?: number
  readonly gid?: number
  /** Its first three streams. */
  readonly stdio: readonly ['ignore', 'ignore' | number, 'ignore' | 'pipe' | number]
}

// The shell starts a watcher and then executes the program in its place, which keeps the known process id. The watcher reads from a pipe
// whose other end the daemon holds: a line means that the program has ended; the end of the pipe, that the daemon has, SIGKILL included.
// The program never runs without the watcher. The watcher is a child of init: a Postgres that finds a child that it did not start reports a
// fault. SIGINT is Postgres's fast shutdown; if that does not complete, SIGQUIT ends it immediately.
const script = `
((
  trap '' HUP INT TERM QUIT
  exec >/dev/null 2>&1
  if read -r _ <&3; then exit 0; fi
  kill -INT $$
  for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
    sleep 1
    kill -0 $$ || exit 0
  done
  kill -QUIT $$
) &)
exec "$@" 3<&-`

/**
 * Starts a program in a separate session, where signals for the daemon do not reach it. It gets SIGINT as soon as the daemon has ended, for any
 * reason. On Windows, which has no such shell, it is only started.
 */
export const spawnTethered = (program: string, args: readonly string[], { stdio, ...user }: TetherOptions): TetheredProcess => {
  const options = { ...user, cwd: '/', detached: true }
  const child =
    process.platform === 'win32'
      ? spawn(program, args, { ...options, stdio: [...stdio] })
      : spawn('/bin/sh', ['-c', script, 'sh', program, ...args], { ...options, stdio: [...stdio, 'pipe'] })
  const line = child.stdio[3]
  const ends = [untilFirst(child, 'exit', 'error')]
  if (line instanceof Socket) {
    ends.push(untilFirst(line, 'close'))
    // A killed watcher no longer reads; its program has ended by then.
    line.on('error', () => undefined)
    line.resume()
    child.once('exit', () => line.ref().end('\n'))
    line.unref()
  }
  return { child, ended: Promise.all(ends).then(() => undefined) }
}
