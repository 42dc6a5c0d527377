import { once } from 'node:events'
import { readdir, readFile, readlink } from 'node:fs/promises'
import { createServer, connect as openSocket, type Socket } from 'node:net'
import { expect } from 'vitest'
import { z } from 'zod'
import { openDatabase } from '../../src/store/db/database.ts'
import { stopSeller } from '../../src/store/sellers/sellers.ts'
import type { TestDaemon } from '../support/daemon.ts'
import { cloudEvent, type ErpEvent } from '../support/events.ts'
import { eventually } from '../support/eventually.ts'
import { query } from '../support/query.ts'
import type { Effect, TestSandbox } from '../support/sandbox.ts'
import { findVocabulary } from '../support/vocabulary.ts'

/** Credentials that a fresh sandbox accepts. */
export const sandboxSeller = {
  SELLER_ID: 'sandbox-seller',
  CLIENT_ID: 'sandbox-client',
  CLIENT_SECRET: 'sandbox-secret',
} as const

/** `RATE_LIMITS` of tests that move the sandbox's clock to a report on request: limits count real hours, and each move ends a token. */
export const reportRateLimits = JSON.stringify(
  Object.fromEntries(
    ['token', 'reconciliation.request', 'reconciliation.status', 'reconciliation.download'].map((operation) => [
      operation,
      { tokens: 1_000, per: '1s' },
    ]),
  ),
)

/** An order at the marketplace. */
export interface OrderAddress {
  readonly sellerId: string
  readonly purchaseOrderId: string
}

/** Places an order of one line. */
export const placeOrder = async (sandbox: TestSandbox, quantity: number, sellerId = 'sandbox-seller'): Promise<OrderAddress> => {
  const purchaseOrderId = await sandbox.place({ sellerId, lines: [{ lineNumber: '1', sku: 'TEA', quantity, unitPrice: '4.00' }] })
  return { sellerId, purchaseOrderId }
}

const sellerSchema = z.object({ sellerId: z.string(), clientId: z.string(), clientSecret: z.string() })
/** A seller as it stands in `SELLERS_FILE`. */
export type SellerEntry = z.infer<typeof sellerSchema>

/** Makes sellers at the sandbox; each has rate limits of its own. */
export const makeSellers = (sandbox: TestSandbox, ...sellerIds: readonly string[]): Promise<readonly SellerEntry[]> =>
  Promise.all(sellerIds.map(async (sellerId) => sellerSchema.parse(await sandbox.control('POST', '/sellers', { sellerId }))))

/** Posts an event as an ERP does; answers the HTTP status. Throws when there is no answer. */
export const post = async (daemon: TestDaemon, event: ErpEvent, timeoutMs = 10_000): Promise<number> => {
  const answer = await fetch(`${daemon.url}/v1/events`, {
    method: 'POST',
    headers: { 'content-type': 'application/cloudevents+json' },
    body: JSON.stringify(cloudEvent(event, '/erp')),
    signal: AbortSignal.timeout(timeoutMs),
  })
  await answer.text()
  return answer.status
}

const healthSchema = z.object({ checks: z.array(z.object({ name: z.string(), ok: z.boolean(), detail: z.string().optional() })) })

/** Names of the checks of `/readyz` that fail, with the status of the answer. */
export const readiness = async (
  daemon: TestDaemon,
): Promise<{ readonly status: number; readonly failing: readonly string[] }> => {
  const { status, body } = await daemon.call('GET', '/readyz')
  const failing = healthSchema.parse(body).checks.flatMap(({ name, ok }) => (ok ? [] : [name]))
  return { status, failing }
}

/** Waits until the daemon is ready. */
export const untilReady = (daemon: TestDaemon): Promise<void> =>
  eventually(async () => expect(await readiness(daemon)).toEqual({ status: 200, failing: [] }))

/** Waits until the daemon names exactly these checks as failing. */
export const untilMissing = (daemon: TestDaemon, ...names: readonly string[]): Promise<void> =>
  eventually(async () => expect(await readiness(daemon)).toEqual({ status: 503, failing: names }))

/** Waits until the sandbox has had effects of these kinds for an order, in any order; answers all that it had. */
export const untilEffects = (
  sandbox: TestSandbox,
  { purchaseOrderId }: OrderAddress,
  kinds: readonly string[],
): Promise<readonly Effect[]> =>
  eventually(async () => {
    const effects = await sandbox.effects(purchaseOrderId)
    expect(effects.map(({ kind }) => kind).sort()).toEqual([...kinds].sort())
    return effects
  })

/** Stops a seller as if its credentials had been refused for a minute. */
export const stopSellerNow = async (databaseUrl: string, sellerId: string): Promise<void> => {
  const database = openDatabase({ findVocabulary, url: databaseUrl, connections: 1 })
  try {
    const [mark] = await database.query<{ credentials_fingerprint: string; resumes: number }>(
      'SELECT credentials_fingerprint, resumes FROM tallyman.sellers WHERE seller_id = $1',
      sellerId,
    )
    if (mark === undefined) throw new Error(`there is no seller ${sellerId}`)
    const { credentials_fingerprint: credentialsFingerprint, resumes } = mark
    const stopped = await stopSeller(database, { sellerId, credentialsFingerprint, resumes }, 'the credentials are refused')
    if (stopped !== 'stopped') throw new Error(`seller ${sellerId} does not stop`)
  } finally {
    await database.close()
  }
}

/** Waits until no command is in progress and no event waits; answers how many commands there are in each state. */
export const untilSettled = (databaseUrl: string, timeoutMs?: number): Promise<Readonly<Record<string, number>>> =>
  eventually(async () => {
    const [waiting] = await query<{ events: number }>(
      databaseUrl,
      `SELECT count(*)::int AS events FROM tallyman.erp_event WHERE status = 'received'`,
    )
    const rows = await query<{ state: string; commands: number }>(
      databaseUrl,
      'SELECT state, count(*)::int AS commands FROM tallyman.commands GROUP BY state',
    )
    const states = Object.fromEntries(rows.map(({ state, commands }) => [state, commands]))
    const { pending = 0, sending = 0, verifying = 0 } = states
    expect({ events: waiting?.events, pending, sending, verifying }).toEqual({ events: 0, pending: 0, sending: 0, verifying: 0 })
    return states
  }, timeoutMs)

const processor = (stat: string): number => {
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return Number(fields[11]) + Number(fields[12])
}
/** Clock ticks of Linux on every architecture that Node knows. */
const ticksPerSecond = 100

/** Share of one processor core that a process uses while `work` runs. */
export const processorShare = async (pid: number, work: () => Promise<unknown>): Promise<number> => {
  const read = async () => processor(await readFile(`/proc/${pid}/stat`, 'utf8'))
  const [ticks, startedAt] = [await read(), performance.now()]
  await work()
  return ((await read()) - ticks) / ticksPerSecond / ((performance.now() - startedAt) / 1_000)
}

/** A process with its command line. */
export interface FoundProcess {
  readonly pid: number
  readonly command: string
}

/** Processes that have to do with a folder: named on their command line or in `DATA_DIR`, or at work in it. Linux only; elsewhere none. */
export const readProcesses = async (folder: string): Promise<readonly FoundProcess[]> => {
  if (process.platform !== 'linux') return []
  const pids = (await readdir('/proc')).map(Number).filter((pid) => Number.isInteger(pid) && pid !== process.pid)
  const looks = pids.map(async (pid): Promise<FoundProcess[]> => {
    // A process may end while it is looked at, and those of others may be closed to us: then they are none of ours.
    const read = (name: string) => readFile(`/proc/${pid}/${name}`, 'utf8').catch(() => '')
    const [command, environment, place] = await Promise.all([
      read('cmdline'),
      read('environ'),
      readlink(`/proc/${pid}/cwd`).catch(() => ''),
    ])
    const meant =
      command.includes(folder) || environment.split('\0').includes(`DATA_DIR=${folder}`) || place.startsWith(`${folder}/`)
    return meant ? [{ pid, command: command.replaceAll('\0', ' ').trim() }] : []
  })
  return (await Promise.all(looks)).flat()
}

/** A way to a server that can be cut: connections refused and broken, or silent. */
export interface Passage {
  readonly port: number
  /** Nobody listens any more; connections are broken. */
  cut(): Promise<void>
  /** Nothing gets through, and nobody is notified. */
  freeze(): void
  /** As it was. */
  open(): Promise<void>
  close(): Promise<void>
}

/** Opens a passage to a port of this machine. */
export const openPassage = async (targetPort: number): Promise<Passage> => {
  const sockets = new Set<Socket>()
  let frozen = false
  const keep = (socket: Socket): void => {
    sockets.add(socket)
    socket.on('error', () => undefined)
    socket.on('close', () => sockets.delete(socket))
  }
  const server = createServer((near) => {
    const far = openSocket(targetPort, '127.0.0.1')
    keep(near)
    keep(far)
    near.on('close', () => far.destroy())
    far.on('close', () => near.destroy())
    near.pipe(far)
    far.pipe(near)
    if (frozen) {
      near.pause()
      far.pause()
    }
  })
  let port = 0
  const listen = async (): Promise<void> => {
    server.listen(port, '127.0.0.1')
    await once(server, 'listening')
    const address = server.address()
    if (address !== null && typeof address !== 'string') port = address.port
  }
  const cut = async (): Promise<void> => {
    if (!server.listening) return
    const closed = once(server, 'close')
    server.close()
    for (const socket of sockets) socket.destroy()
    await closed
  }
  await listen()
  return {
    port,
    cut,
    freeze: () => {
      frozen = true
      for (const socket of sockets) socket.pause()
    },
    open: async () => {
      if (frozen) for (const socket of sockets) socket.resume()
      frozen = false
      if (!server.listening) await listen()
    },
    close: cut,
  }
}
