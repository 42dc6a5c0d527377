import { intervalSettings } from '../../src/domain/sync/intervals.ts'
import { eventually } from './eventually.ts'
import { type Program, startProgram } from './process.ts'

/** The daemon as a child process. */
export interface TestDaemon {
  readonly url: string
  readonly program: Program
  /** Calls the HTTP interface; answers status and parsed body. Throws when there is no answer. */
  call(method: 'GET' | 'POST', route: string, body?: unknown): Promise<{ readonly status: number; readonly body: unknown }>
}

const polled: readonly string[] = ['POLL_ORDERS', 'POLL_ORDER_SWEEP', 'POLL_RETURNS', 'POLL_SHIPPING_SETTINGS', 'REREAD_EVERY']

/** Intervals by which every resource is read as soon as the daemon is up, and then seldom. */
export const everyPoll: Readonly<Record<string, string>> = Object.fromEntries(
  intervalSettings.filter(({ variable }) => !polled.includes(variable)).map(({ variable }) => [variable, '1h']),
)

const fewPolls = Object.fromEntries(Object.keys(everyPoll).map((variable) => [variable, 'off']))

/**
 * Starts it on a free port and waits until it is ready, or, with `ready: false`, until it answers; one that does not get there is killed. It reads
 * orders, returns and shipping settings: to read all resources of all sellers takes most of the time of a start, so whoever needs the others says
 * so ({@link everyPoll}). With the sandbox that it brings along it is as it is for everybody.
 */
export const startTestDaemon = async (
  env: Readonly<Record<string, string>>,
  nodeFlags: readonly string[] = [],
  { ready = true } = {},
): Promise<TestDaemon> => {
  const program = startProgram(
    'src/main.ts',
    { PORT: '0', LOG_FORMAT: 'json', ...(env['MARKETPLACE_URL'] === undefined ? {} : fewPolls), ...env },
    [],
    nodeFlags,
  )
  try {
    return await untilUp(program, ready)
  } catch (error) {
    await program.kill()
    throw error
  }
}

/** A connection that was begun while Postgres was away may take its whole time-out before the next is tried. */
const startTimeoutMs = 100_000

const untilUp = async (program: Program, ready: boolean): Promise<TestDaemon> => {
  const [, url = ''] = await program.says(/"console":"(http:[^"]+)\/"/, startTimeoutMs)
  const call: TestDaemon['call'] = async (method, route, body) => {
    const answer = await fetch(`${url}${route}`, {
      method,
      signal: AbortSignal.timeout(15_000),
      ...(body === undefined ? {} : { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }),
    })
    const text = await answer.text()
    return { status: answer.status, body: text === '' ? null : JSON.parse(text) }
  }
  await eventually(async () => {
    program.assertRuns()
    const { status, body } = await call('GET', '/readyz')
    if (ready && status !== 200) throw new Error(`the daemon is not ready: ${JSON.stringify(body)}`)
  })
  return { url, program, call }
}
