import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'
import pg from 'pg'
import { eventually } from '../support/eventually.ts'
import { startTestPostgres } from '../support/postgres.ts'
import { startTestRedis } from '../support/redis.ts'

/** Address of an empty store, for one test. */
export interface StoreAddress {
  readonly redisUrl: string | null
  readonly databaseUrl: string
  readonly prefix: string
}

/** A store under test: what the contract suite needs to hurt it. */
export interface TestStore {
  readonly kind: 'redis' | 'postgres'
  empty(): Promise<StoreAddress>
  /** Everything in it is gone while it runs on. */
  flush(address: StoreAddress): Promise<void>
  /** Ends the server without warning and has it running again before it answers. `whileAway` runs in between. */
  restart(whileAway: () => Promise<void>): Promise<void>
  stop(): Promise<void>
}

const nowhere = 'postgresql://nobody@127.0.0.1:1/none'

export const redisStore = async (program: string): Promise<TestStore> => {
  const server = await startTestRedis([], { program })
  return {
    kind: 'redis',
    empty: async () => ({ redisUrl: server.url, databaseUrl: nowhere, prefix: `test-${randomBytes(4).toString('hex')}` }),
    flush: async () => void (await server.command('FLUSHALL')),
    restart: async (whileAway) => {
      await server.kill()
      await whileAway()
      await server.start()
    },
    stop: () => server.stop(),
  }
}

const inDatabase = async <Result>(url: string, work: (client: pg.Client) => Promise<Result>): Promise<Result> => {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 2_000 })
  client.on('error', () => undefined)
  await client.connect()
  try {
    return await work(client)
  } finally {
    await client.end()
  }
}

/** A door in front of a server, so that a server that starts again by itself stays away as long as a test wants. */
const openDoor = async (target: string) => {
  const url = new URL(target)
  const open = new Set<Socket>()
  const visitors = (inside: Socket): void => {
    const outside = connect(Number(url.port), url.hostname)
    for (const [socket, other] of [
      [inside, outside],
      [outside, inside],
    ] as const) {
      open.add(socket)
      socket.on('error', () => other.destroy())
      socket.on('close', () => {
        open.delete(socket)
        other.destroy()
      })
      socket.pipe(other)
    }
  }
  let server = createServer()
  const listen = async (port: number): Promise<number> => {
    server = createServer(visitors).listen(port, '127.0.0.1')
    await once(server, 'listening')
    const address = server.address()
    if (address === null || typeof address === 'string') throw new Error('no port')
    return address.port
  }
  const port = await listen(0)
  const close = async (): Promise<void> => {
    const closed = once(server, 'close')
    server.close()
    for (const socket of open) socket.destroy()
    await closed
  }
  return { close, open: () => listen(port), through: (address: string) => address.replace(`:${url.port}/`, `:${port}/`) }
}

export const postgresStore = async (): Promise<TestStore> => {
  const server = await startTestPostgres()
  const door = await openDoor(server.url)
  return {
    kind: 'postgres',
    empty: async () => ({ redisUrl: null, databaseUrl: door.through(await server.emptyDatabase()), prefix: 'unused' }),
    flush: ({ databaseUrl }) =>
      inDatabase(databaseUrl, async (client) => {
        const { rows } = await client.query<{ name: string }>(
          "SELECT format('%I.%I', schemaname, tablename) AS name FROM pg_tables WHERE schemaname = 'bullmq' AND tablename <> 'migration'",
        )
        await client.query(`TRUNCATE ${rows.map(({ name }) => name).join(', ')} CASCADE`)
      }),
    restart: async (whileAway) => {
      const pid = server.pid()
      if (pid === null) throw new Error('Postgres is not running')
      // Immediate shutdown, as after a crash. The embedded server is started again by itself.
      process.kill(pid, 'SIGQUIT')
      await eventually(() => {
        if (server.pid() === pid) throw new Error('Postgres is still there')
      })
      await door.close()
      await whileAway()
      // Open before Postgres is ready: its refusals while it starts are part of the game.
      await door.open()
      await eventually(async () => {
        if (server.pid() === null) throw new Error('Postgres is not back')
        await inDatabase(server.url, (client) => client.query('SELECT 1'))
      })
    },
    stop: async () => {
      await door.close()
      await server.stop()
    },
  }
}
