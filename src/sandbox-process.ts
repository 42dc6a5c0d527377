import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'

/** The sandbox marketplace as a child process. */
export interface SandboxProcess {
  readonly url: string
  stop(): Promise<void>
}

/** What the sandbox is started with. */
export interface SandboxProcessOptions {
  readonly port: number
  readonly dataDir: string
  readonly profile: string
  /** How often it places an order by itself: a duration such as `5s`, or `off`. */
  readonly orderInterval: string
  /** Orders of the last month that a new marketplace begins with. */
  readonly pastOrders: number
  /** A line that the sandbox printed. */
  readonly onLine: (line: string) => void
}

const program = fileURLToPath(new URL('../sandbox/main.ts', import.meta.url))

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
 * Starts the sandbox and waits until it listens; should it die it is started again on the same port. It ends by itself when we do.
 * @throws Error when it does not start, with what it said
 */
export const startSandboxProcess = async (options: SandboxProcessOptions): Promise<SandboxProcess> => {
  let child: ChildProcess
  let stopping = false
  let { port } = options

  const launch = async (): Promise<number> => {
    const said: string[] = []
    child = fork(program, [], {
      // A process group of its own: a terminal's Ctrl-C reaches us alone, and we stop it after the drain.
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
      throw new Error('the sandbox said something else than where it listens')
    }
    launched.once('exit', () => void relaunch())
    return message.port
  }

  const relaunch = async (): Promise<void> => {
    for (let delayMs = 500; !stopping; delayMs = Math.min(delayMs * 2, 30_000)) {
      options.onLine(`the sandbox ended by itself; starting it again in ${delayMs} ms`)
      await delay(delayMs, undefined, { ref: false })
      if (stopping) return
      try {
        await launch()
        return
      } catch (error) {
        options.onLine(error instanceof Error ? error.message : String(error))
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

/** Puts lines of the sandbox into the daemon's log, marked as the sandbox's; its orders at level debug, so that they do not flood. */
export const sandboxLines =
  (log: { debug(fields: object, message: string): void; warn(fields: object, message: string): void }) =>
  (line: string): void => {
    const loud = line.includes('"level":"error"') || line.includes('"level":"warn"') || !line.startsWith('{')
    log[loud ? 'warn' : 'debug']({ component: 'sandbox' }, line)
  }
