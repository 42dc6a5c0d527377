import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { eventually } from '../support/eventually.ts'
import { randomOf } from '../support/random.ts'
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

const killIfThere = (pid: number): void => {
  try {
    process.kill(pid, 'SIGKILL')
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ESRCH')) throw error
  }
}

const atOnce = 2
/** Presses after the first line of `npm`, spread over so many milliseconds: on most machines the whole start, on a busy one most of it. */
const starting = { presses: 7, spanMs: 7_000 }
const isRunning = 'tallyman is running'
/** Presses while everything runs, within so many milliseconds of its beginning. */
const running = { presses: 3, spanMs: 3_000 }

test.skipIf(process.platform !== 'linux')(
  'Ctrl-C at any moment of `npm start` ends it with code 0 and leaves no process',
  {
    timeout: 420_000,
  },
  async () => {
    expect(spawnSync('script', ['--version']).status, 'the terminals of this test need `script` of util-linux').toBe(0)
    const seed = Number(process.env['SEED'] ?? Date.now() % 1_000_000)
    console.log(`Ctrl-C: SEED=${seed}`)
    const random = randomOf(seed)
    // Each in a part of its own of the span, so that every stage is met.
    const spread = (after: string, { presses, spanMs }: typeof starting) =>
      Array.from({ length: presses }, (_, place) => ({ after, afterMs: ((place + random()) * spanMs) / presses }))
    const moments = [...spread('> tallyman@', starting), ...spread(isRunning, running)]

    const interrupt = async ({ after, afterMs }: (typeof moments)[number]): Promise<void> => {
      const folder = await mkdtemp(path.join(tmpdir(), 'tallyman-interrupt-'))
      await chmod(folder, 0o755)
      // Those that wait until everything runs need not watch a database being made.
      const template = process.env['TALLYMAN_TEST_CLUSTER']
      if (after === isRunning && template !== undefined) execFileSync('cp', ['-a', `${template}/.`, folder])
      const terminal = inTerminal('exec npm start', { DATA_DIR: folder, PORT: '0', SANDBOX_PORT: '0', LOG_FORMAT: 'json' })
      const ended = once(terminal.child, 'exit')
      try {
        await eventually(() => expect(terminal.output()).toContain(after), 150_000)
        await delay(afterMs)
        terminal.press()
        const [code] = await ended
        const told = `SEED=${seed}, Ctrl-C ${Math.round(afterMs)} ms after "${after}"\n${terminal.output()}`
        expect(code, told).toBe(0)
        await eventually(async () => expect(await processesOf(folder), told).toEqual([]), 10_000)
        expect(terminal.output()).not.toMatch(/"level":"(error|fatal)"/)
      } finally {
        for (const { pid } of await processesOf(folder)) killIfThere(pid)
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
