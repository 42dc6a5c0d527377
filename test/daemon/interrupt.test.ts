import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { eventually } from '../support/eventually.ts'
import { processesOf } from './support.ts'

/** A program in a terminal of its own. */
interface InTerminal {
  readonly child: ChildProcess
  output(): string
  /** Ctrl-C: the terminal sends SIGINT to all processes in its foreground. */
  press(): void
}

const inTerminal = (command: string, env: Readonly<Record<string, string>>): InTerminal => {
  const child = spawn('script', ['--quiet', '--return', '--command', command, '/dev/null'], {
    stdio: ['pipe', 'pipe', 'inherit'],
    env: { PATH: process.env['PATH'], HOME: process.env['HOME'], TERM: 'xterm', SHELL: '/bin/sh', ...env },
  })
  let output = ''
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
    output += chunk
  })
  return { child, output: () => output, press: () => void child.stdin.write('\u0003') }
}

/** A row of numbers from 0 to 1 that a seed brings again (mulberry32). */
const randomOf = (seed: number) => {
  let state = seed
  return (): number => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
}

const presses = 10
const atOnce = 2
/** From the first line of `npm` to a good while of running, in milliseconds, on a machine that does other things too. */
const spanMs = 9_000

test.skipIf(process.platform !== 'linux')(
  'Ctrl-C at any moment of `npm start` ends it with code 0 and leaves no process',
  {
    timeout: 240_000,
  },
  async () => {
    expect(spawnSync('script', ['--version']).status, 'the terminals of this test need `script` of util-linux').toBe(0)
    const seed = Number(process.env['SEED'] ?? Date.now() % 1_000_000)
    console.log(`Ctrl-C: SEED=${seed}`)
    const random = randomOf(seed)
    // Each in a part of its own of the span, so that every stage of a start is met.
    const moments = Array.from({ length: presses }, (_, place) => ((place + random()) * spanMs) / presses)

    const interrupt = async (afterMs: number): Promise<void> => {
      const folder = await mkdtemp(path.join(tmpdir(), 'tallyman-interrupt-'))
      await chmod(folder, 0o755)
      const terminal = inTerminal('exec npm start', { DATA_DIR: folder, PORT: '0', SANDBOX_PORT: '0', LOG_FORMAT: 'json' })
      const ended = once(terminal.child, 'exit')
      try {
        await eventually(() => expect(terminal.output()).toContain('> tallyman@'))
        await delay(afterMs)
        terminal.press()
        const [code] = await ended
        const told = `SEED=${seed}, Ctrl-C after ${Math.round(afterMs)} ms\n${terminal.output()}`
        expect(code, told).toBe(0)
        await eventually(async () => expect(await processesOf(folder), told).toEqual([]), 2_000)
        expect(terminal.output()).not.toMatch(/"level":"(error|fatal)"/)
      } finally {
        for (const { pid } of await processesOf(folder)) process.kill(pid, 'SIGKILL')
        await rm(folder, { recursive: true, force: true })
      }
    }
    const waiting = [...moments]
    const work = async (): Promise<void> => {
      for (let moment = waiting.shift(); moment !== undefined; moment = waiting.shift()) await interrupt(moment)
    }
    // To the end, also when one fails: none of them leaves anything on the machine.
    const outcomes = await Promise.allSettled(Array.from({ length: atOnce }, work))
    for (const outcome of outcomes) if (outcome.status === 'rejected') throw outcome.reason
  },
)
