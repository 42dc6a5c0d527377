import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { eventually } from '../support/eventually.ts'
import { copyCluster } from '../support/postgres.ts'
import { buildRandom } from '../support/random.ts'
import { readProcesses } from './support.ts'

/** A program in a terminal of its own. */
interface InTerminal {
  readonly child: ChildProcess
  output(): string
  /** Ctrl-C: the terminal sends SIGINT to all processes in its foreground. */
  press(): void
  /** The terminal is gone: those who work in it get SIGHUP, and it answers no more. */
  close(): void
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
  return { child, output: () => output, press: () => void child.stdin.write('\u0003'), close: () => void child.kill('SIGKILL') }
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
    const random = buildRandom(seed)
    // Each in a part of its own of the span, so that every stage is met.
    const spread = (after: string, { presses, spanMs }: typeof starting) =>
      Array.from({ length: presses }, (_, place) => ({ after, afterMs: ((place + random()) * spanMs) / presses }))
    const moments = [...spread('> tallyman@', starting), ...spread(isRunning, running)]

    const interrupt = async ({ after, afterMs }: (typeof moments)[number]): Promise<void> => {
      const folder = await mkdtemp(path.join(tmpdir(), 'tallyman-interrupt-'))
      await chmod(folder, 0o755)
      // Those that wait until everything runs need not watch a database being made.
      if (after === isRunning) await copyCluster(folder)
      const terminal = inTerminal('exec npm start', { DATA_DIR: folder, PORT: '0', SANDBOX_PORT: '0', LOG_FORMAT: 'json' })
      const ended = once(terminal.child, 'exit')
      try {
        await eventually(() => expect(terminal.output()).toContain(after), 150_000)
        await delay(afterMs)
        terminal.press()
        const [code] = await ended
        const told = `SEED=${seed}, Ctrl-C ${Math.round(afterMs)} ms after "${after}"\n${terminal.output()}`
        expect(code, told).toBe(0)
        await eventually(async () => expect(await readProcesses(folder), told).toEqual([]))
        expect(terminal.output()).not.toMatch(/"level":"(error|fatal)"/)
      } finally {
        for (const { pid } of await readProcesses(folder)) killIfThere(pid)
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

/** A start of the daemon by `npm start`, and what it leaves. */
const withStart = async (
  start: (env: Readonly<Record<string, string>>) => { readonly output: () => string },
  work: (folder: string) => Promise<void>,
): Promise<void> => {
  const folder = await mkdtemp(path.join(tmpdir(), 'tallyman-hang-up-'))
  await chmod(folder, 0o755)
  await copyCluster(folder)
  const started = start({ DATA_DIR: folder, PORT: '0', SANDBOX_PORT: '0', LOG_FORMAT: 'json' })
  try {
    await eventually(() => expect(started.output()).toContain(isRunning), 150_000)
    await work(folder)
  } finally {
    for (const { pid } of await readProcesses(folder)) killIfThere(pid)
    await rm(folder, { recursive: true, force: true })
  }
}
const npmStart = (env: Readonly<Record<string, string>>) => {
  const child = spawn('npm', ['start'], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { PATH: process.env['PATH'], HOME: process.env['HOME'], ...env },
  })
  let output = ''
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
    output += chunk
  })
  return { child, output: () => output }
}
const onLinux = test.skipIf(process.platform !== 'linux')

onLinux('a terminal that is closed ends what `npm start` has started in it', { timeout: 240_000 }, async () => {
  let terminal: InTerminal | undefined
  await withStart(
    (env) => {
      terminal = inTerminal('exec npm start', env)
      return terminal
    },
    async (folder) => {
      terminal?.close()
      await eventually(async () => expect(await readProcesses(folder)).toEqual([]))
    },
  )
})

onLinux(
  'SIGHUP to the shell of `npm start` is passed on to the daemon, and one to npm ends both',
  { timeout: 240_000 },
  async () => {
    let npm: ReturnType<typeof npmStart> | undefined
    await withStart(
      (env) => {
        npm = npmStart(env)
        return npm
      },
      async (folder) => {
        const shell = (await readProcesses(folder)).find(({ command }) => command.endsWith('scripts/start.sh'))
        expect(shell).toBeDefined()
        process.kill(shell?.pid ?? 0, 'SIGHUP')
        await eventually(() => expect(npm?.output()).toContain('sellers read again'))
        expect(npm?.child.exitCode).toBeNull()
        npm?.child.kill('SIGHUP')
        await eventually(async () => expect(await readProcesses(folder)).toEqual([]))
        expect(npm?.output()).toContain('stopping: finishing work in progress')
      },
    )
  },
)
