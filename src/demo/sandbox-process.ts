import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import path from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { errorMessage } from '../util/error-message.ts'

/** The sandbox marketplace as a child process. */
export interface SandboxProcess {
  readonly url: string
  stop(): Promise<void>
}

/** Settings of the sandbox. */
export interface SandboxProcessOptions {
  readonly port: number
  readonly dataDir: string
  readonly profile: string
  /** Interval of its random orders: a duration such as `5s`, or `off`. */
  readonly orderInterval: string
  /** Number of orders of the last month in a new marketplace. */
  readonly pastOrders: number
  /** Receives each line that the sandbox prints. */
  readonly onLine: (line: string) => void
}

// The package has JavaScript only, a clone TypeScript only.
const program = fileURLToPath(new URL(`../../sandbox/main${path.extname(import.meta.filename)}`, import.meta.url))

const forward = (child: ChildProcess, onLine: (line: string) => void): void => {
  for (const stream of [child.stdout, child.stderr]) {
    let rest = ''
    stream?.setEncoding('utf8').on('data', (chunk: string) => {
      const lines = (rest + chunk).split('\n')
      rest = lines.pop() ?? ''
      for (const line of lines) if (line.trim() !== '') onLine(line)
    })
  }
}

/**
 * Starts the sandbox and waits until it listens; if it dies it is restarted on the same port. It ends when the daemon ends.
 * @throws Error when it does not start, with its output
 */
export const startSandboxProcess = async (options: SandboxProcessOptions): Promise<SandboxProcess> => {
  let child: ChildProcess
  let stopping = false
  let { port } = options

  const launch = async (): Promise<number> => {
    const said: string[] = []
    child = fork(program, [], {
      // A separate process group: a terminal's Ctrl-C reaches the daemon only, which stops the sandbox after the drain.
      detached: true,
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
      env: {
        ...process.env,
        HOST: '127.0.0.1',
        SANDBOX_PORT: `${port}`,
        DATA_DIR: options.dataDir,
        MARKETPLACE_PROFILE: options.profile,
        SANDBOX_ORDER_INTERVAL: options.orderInterval,
        SANDBOX_PAST_ORDERS: `${options.pastOrders}`,
      },
    })
    forward(child, (line) => {
      if (said.length < 20) said.push(line)
      options.onLine(line)
    })
    const launched = child
    const ended = once(launched, 'exit').then(() => {
      throw new Error(`the sandbox did not start: ${said.join(' ').slice(0, 500)}; free SANDBOX_PORT ${port} or set another`)
    })
    const [message]: unknown[] = await Promise.race([once(launched, 'message'), ended])
    ended.catch(() => undefined)
    if (typeof message !== 'object' || message === null || !('port' in message) || typeof message.port !== 'number') {
      throw new Error('the sandbox did not report its listening address')
    }
    launched.once('exit', () => void relaunch())
    return message.port
  }

  const relaunch = async (): Promise<void> => {
    for (let delayMs = 500; !stopping; delayMs = Math.min(delayMs * 2, 30_000)) {
      options.onLine(`the sandbox ended unexpectedly; restarting it in ${delayMs} ms`)
      await delay(delayMs, undefined, { ref: false })
      if (stopping) return
      try {
        await launch()
        return
      } catch (error) {
        options.onLine(errorMessage(error))
      }
    }
  }

  port = await launch()
  return {
    url: `http://127.0.0.1:${port}`,
    stop: async () => {
      stopping = true
      if (child.exitCode !== null || child.signalCode !== null) return
      const end = once(child, 'exit')
      child.kill('SIGTERM')
      await end
    },
  }
}

/** Writes lines of the sandbox to the daemon's log, marked as the sandbox's; its orders at level debug, to avoid flooding. */
export const sandboxLines =
  (log: { debug(fields: object, message: string): void; warn(fields: object, message: string): void }) =>
  (line: string): void => {
    const loud = line.includes('"level":"error"') || line.includes('"level":"warn"') || !line.startsWith('{')
    log[loud ? 'warn' : 'debug']({ component: 'sandbox' }, line)
  }
