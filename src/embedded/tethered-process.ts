import { type ChildProcess, spawn } from 'node:child_process'
import type { EventEmitter } from 'node:events'
import { Socket } from 'node:net'

/** A program that cannot outlive us. */
export interface TetheredProcess {
  readonly child: ChildProcess
  /** Resolves when the program and what watches over it have ended. */
  readonly gone: Promise<void>
}

/** Resolves with the first of these events. */
const untilFirst = (emitter: EventEmitter, ...events: readonly string[]): Promise<void> =>
  new Promise((resolve) => {
    for (const event of events) emitter.once(event, () => resolve())
  })

/** How a tethered program is started. */
export interface TetherOptions {
  /** User and group to run under, by their numbers; ours when left out. */
  readonly uid?: number
  readonly gid?: number
  /** Its first three streams. */
  readonly stdio: readonly ['ignore', 'ignore' | number, 'ignore' | 'pipe' | number]
}

// The shell leaves a watcher behind and becomes the program, which so has the number that we know. The watcher waits at the end of a pipe
// whose other end we hold: a line means that the program has ended; the end of the pipe, that we have, in whatever way, SIGKILL included.
// There is no moment at which the program runs and the watcher does not. It is nobody's child but init's: a Postgres that finds a child that
// it did not make calls that a fault. SIGINT is Postgres's fast shutdown; should that not come to an end, SIGQUIT ends it without one.
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
 * Starts a program in a session of its own, where no signal meant for us reaches it, and ties its life to ours: it is told to stop (SIGINT) as
 * soon as we have ended, however we ended. Windows knows no such shell; there it is only started.
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
    // A watcher that somebody killed reads no line any more; its program has ended by then.
    line.on('error', () => undefined)
    line.resume()
    child.once('exit', () => line.ref().end('\n'))
    line.unref()
  }
  return { child, gone: Promise.all(ends).then(() => undefined) }
}
