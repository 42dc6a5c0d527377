import { once } from 'node:events'
import { Agent, request } from 'node:http'
import fc from 'fast-check'
import pg from 'pg'
import { inboxRows } from './inbox.ts'
import { buildRequests, type HostileRequest } from './requests.ts'

/** What is attacked. */
export interface Target {
  readonly url: string
  readonly databaseUrl: string
  /** Names of what is there: orders, lines, sellers. */
  readonly texts: readonly string[]
}

/** What came of it. */
export interface Findings {
  readonly requests: number
  readonly statuses: ReadonlyMap<number, number>
  /** Answers of 500 and above, and requests without an answer. */
  readonly broken: readonly string[]
  readonly rows: number
  /** Rows that Postgres itself refused. */
  readonly refusedRows: number
}

/** An answer that never ends is a stream: so much of it is read. */
const streamMs = 300
const maxWaitMs = 20_000

// A path that the library refuses to send cannot arrive.
const isSendable = ({ target }: HostileRequest): boolean => /^[\x21-\x7e]+$/.test(target) && target.length < 60_000

/** So much of an answer is kept to be reported. */
const toldBytes = 300

const send = async (
  agent: Agent,
  url: string,
  { method, target, headers, body }: HostileRequest,
): Promise<{ readonly status: number; readonly text: string }> => {
  const { hostname, port } = new URL(url)
  const outgoing = request({ agent, hostname, port, method, path: target, headers, signal: AbortSignal.timeout(maxWaitMs) })
  outgoing.end(body ?? undefined)
  const [answer] = await once(outgoing, 'response')
  const isStream = String(answer.headers['content-type']).startsWith('text/event-stream')
  let text = ''
  const timer = isStream ? setTimeout(() => answer.destroy(), streamMs) : undefined
  try {
    for await (const chunk of answer) text = `${text}${String(chunk)}`.slice(0, toldBytes)
  } catch (error) {
    if (!isStream) throw error
  } finally {
    clearTimeout(timer)
  }
  return { status: answer.statusCode, text }
}

const describe = ({ method, target, headers, body }: HostileRequest): string =>
  `${method} ${target.slice(0, 300)} ${JSON.stringify(headers)} ${body === null ? '' : Buffer.from(body).toString('utf8').slice(0, 300)}`

// A route that asks the marketplace says with 503 that the budget for it is used up.
const isBroken = (status: number, text: string): boolean =>
  status === 0 || (status >= 500 && !(status === 503 && text.includes('throttled')))

/** Attacks a daemon with batches of requests and rows until `goOn` says no. The same seed gives the same attack. */
export const fuzz = async (target: Target, seed: number, goOn: (batches: number) => boolean): Promise<Findings> => {
  const agent = new Agent({ keepAlive: true, maxSockets: 8 })
  const client = new pg.Client({ connectionString: target.databaseUrl })
  await client.connect()
  const document: unknown = await (await fetch(`${target.url}/openapi.json`)).json()
  const requests = buildRequests(document, target.texts)
  const rows = inboxRows(target.texts)
  const statuses = new Map<number, number>()
  const broken: string[] = []
  let [sent, written, refusedRows] = [0, 0, 0]
  try {
    for (let batch = 0; goOn(batch); batch += 1) {
      const some = fc.sample(requests, { numRuns: 40, seed: seed + batch }).filter(isSendable)
      const answers = await Promise.all(
        some.map((one) =>
          send(agent, target.url, one).then(
            (answer) => ({ one, ...answer }),
            (error: unknown) => ({ one, status: 0, text: String(error) }),
          ),
        ),
      )
      for (const { one, status, text } of answers) {
        sent += 1
        statuses.set(status, (statuses.get(status) ?? 0) + 1)
        if (isBroken(status, text)) broken.push(`${status} ${text} to ${describe(one)}`)
      }
      for (const { source, id, type, data } of fc.sample(rows, { numRuns: 10, seed: seed + batch })) {
        written += 1
        await client
          .query(
            'INSERT INTO tallyman.erp_event (source, id, type, data) VALUES ($1, $2, $3, $4::jsonb) ON CONFLICT DO NOTHING',
            [source, id, type, data],
          )
          .catch((error: unknown) => {
            // Postgres keeps no NUL, no half character, and nothing that its own bounds refuse.
            if (!(error instanceof pg.DatabaseError)) throw error
            refusedRows += 1
          })
      }
    }
  } finally {
    agent.destroy()
    await client.end()
  }
  return { requests: sent, statuses, broken, rows: written, refusedRows }
}
