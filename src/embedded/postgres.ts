import type { ChildProcess } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { chown, mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import pg from 'pg'
import { errorMessage } from '../util/error-message.ts'
import { freePort, isPortFree } from '../util/net/free-port.ts'
import { buildAddress, buildShownAddress, sharedFolder } from './address.ts'
import { type BoundedLog, openBoundedLog } from './bounded-log.ts'
import { makeDataDir, pathExists } from './data-dir.ts'
import { clearLeftovers } from './leftovers.ts'
import { type Programs, preparePrograms } from './programs.ts'
import { spawnTethered, type TetheredProcess } from './tethered-process.ts'
import { canReach, type SystemUser, unprivilegedUser } from './unprivileged-user.ts'

/** An embedded Postgres, running until `stop`. */
export interface EmbeddedPostgres {
  /** Connection address of the database `tallyman`, password included. */
  readonly url: string
  /** The same for people and `psql`: with the path of a file that holds the password. */
  readonly shownUrl: string
  /** Shuts the server down (fast mode: open transactions are rolled back) and waits for its end. */
  stop(): Promise<void>
  /** Current process id of the server, also of one that does not answer yet; null if there is none. */
  pid(): number | null
}

/** Settings of the embedded Postgres. */
export interface EmbeddedPostgresOptions {
  /** Folder of the cluster and its log; created if missing. */
  readonly dataDir: string
  /** Receives one line for the operator. */
  readonly say: (line: string) => void
  /** Further server settings, `name=value`. */
  readonly settings?: readonly string[]
}

/**
 * The log of Postgres contains starts, shutdowns and crashes only. Errors of statements contain values of rows, in their message, their details
 * and the statement itself; the client that sent the statement receives them anyway.
 */
const quietLogSettings: readonly string[] = [
  'log_min_messages=log',
  'log_min_error_statement=panic',
  'log_error_verbosity=terse',
  'log_statement=none',
  'log_min_duration_statement=-1',
  'log_parameter_max_length=0',
  'log_parameter_max_length_on_error=0',
]

const run = async (program: string, args: readonly string[], user: SystemUser | null): Promise<void> => {
  const { child } = spawnTethered(program, args, { ...identity(user), stdio: ['ignore', 'ignore', 'pipe'] })
  let output = ''
  child.stderr?.setEncoding('utf8').on('data', (chunk: string) => {
    output += chunk
  })
  const [code]: unknown[] = await once(child, 'close')
  if (code !== 0) throw new Error(`${path.basename(program)} ended with ${String(code)}: ${output.trim()}`)
}

const identity = (user: SystemUser | null) => (user === null ? {} : { uid: user.uid, gid: user.gid })

const connectOnce = async (url: string, work: (client: pg.Client) => Promise<void>): Promise<void> => {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 2_000 })
  client.on('error', () => undefined)
  await client.connect()
  try {
    await work(client)
  } finally {
    await client.end()
  }
}

/** The cluster of the embedded Postgres, and what is needed to run it. */
interface ClusterParts {
  readonly programs: Programs
  readonly user: SystemUser | null
  readonly folder: string
  /** The folder of the cluster itself. */
  readonly cluster: string
  readonly passwordFile: string
}

/** Creates the cluster unless it exists. Created under another name first: an incomplete cluster must not be mistaken for a database. */
const createCluster = async ({ programs, user, cluster, passwordFile }: ClusterParts): Promise<void> => {
  const temporary = `${cluster}.new`
  for (const left of [cluster, temporary, passwordFile]) await rm(left, { recursive: true, force: true })
  await mkdir(temporary, { mode: 0o700 })
  await writeFile(passwordFile, `${randomBytes(18).toString('base64url')}\n`, { mode: 0o600, flag: 'wx' })
  if (user !== null) {
    await chown(temporary, user.uid, user.gid)
    await chown(passwordFile, user.uid, user.gid)
  }
  try {
    const flags = ['--auth=scram-sha-256', '--username=tallyman', '--encoding=UTF8', '--locale=C', '--no-sync']
    await run(programs.initdb, [`--pgdata=${temporary}`, `--pwfile=${passwordFile}`, ...flags], user)
  } catch (error) {
    await rm(temporary, { recursive: true, force: true })
    throw error
  }
  await rename(temporary, cluster)
}

/** The folder of the data: `dataDir`, or a shared one if the user of Postgres cannot reach it. */
const findFolder = async (dataDir: string, user: SystemUser | null, say: (line: string) => void): Promise<string> => {
  const folder = path.resolve(dataDir)
  if (user === null || (await canReach(user, folder))) return folder
  const shared = sharedFolder(folder)
  say(`Postgres runs as user ${user.name}, who cannot reach ${dataDir}: its data is kept in ${shared}`)
  return shared
}

/** File of the folder with the port of the server, in digits. */
export const portFile = 'postgres.port'

/** The port of the last start, so that addresses in BI tools and scripts stay valid; another one if a program has taken it. */
const choosePort = async (file: string, say: (line: string) => void): Promise<number> => {
  const kept = (await pathExists(file)) ? Number(await readFile(file, 'utf8')) : 0
  if (Number.isInteger(kept) && kept > 0 && kept < 65_536) {
    if (await isPortFree(kept)) return kept
    say(`port ${kept} of the embedded Postgres is in use by another program; it has another port from now on`)
  }
  const port = await freePort()
  await writeFile(file, `${port}\n`, { mode: 0o600 })
  return port
}

interface ServerParts extends ClusterParts {
  readonly port: number
  readonly password: string
  readonly log: BoundedLog
  readonly settings: readonly string[]
  readonly say: (line: string) => void
}

/** The server process of a cluster: restarted when it ends unexpectedly, until `stop`. */
class PostgresServer {
  readonly #parts: ServerParts
  readonly #stopping = new AbortController()
  #child: ChildProcess | null = null
  #ended: TetheredProcess['ended'] = Promise.resolve()
  #relaunching: Promise<void> = Promise.resolve()

  constructor(parts: ServerParts) {
    this.#parts = parts
  }

  get pid(): number | null {
    return this.#child?.pid ?? null
  }

  /** Starts the process and waits until it answers and has the database `tallyman`. @throws Error when it ends or does not answer */
  async launch(): Promise<void> {
    const { folder } = this.#parts
    const tethered = this.#spawn()
    const { child } = tethered
    this.#ended = tethered.ended
    child.unref()
    let hasExited = false
    child.once('exit', () => {
      hasExited = true
      if (this.#child === child) this.#child = null
    })
    await once(child, 'spawn')
    // From now on `stop` ends it, also while it does not answer yet.
    this.#child = child
    for (let waitedMs = 0; ; waitedMs += 50) {
      if (hasExited) throw new Error(`the embedded Postgres ended during its start; see ${folder}/postgres.log`)
      try {
        await this.#createDatabase()
        break
      } catch (error) {
        if (waitedMs > 60_000) {
          child.kill('SIGKILL')
          this.#child = null
          throw new Error(`the embedded Postgres does not answer; see ${folder}/postgres.log`, { cause: error })
        }
        await delay(50)
      }
    }
    child.once('exit', () => {
      this.#relaunching = this.#relaunch()
    })
    if (hasExited) await this.#relaunch()
  }

  async stop(): Promise<void> {
    this.#stopping.abort()
    await shutDown(this.#child)
    // A restart may be in progress.
    await this.#relaunching
    await shutDown(this.#child)
    await this.#ended
  }

  #spawn(): TetheredProcess {
    const { programs, cluster, port, user, log } = this.#parts
    const settings = [
      'listen_addresses=127.0.0.1',
      'unix_socket_directories=',
      'max_connections=200',
      // A recycled segment of the write-ahead log would keep its old content for long, also that of erased buyers.
      'wal_recycle=off',
      ...quietLogSettings,
      ...this.#parts.settings,
    ]
    const flags = settings.flatMap((setting) => ['-c', setting])
    return spawnTethered(programs.postgres, ['-D', cluster, '-p', `${port}`, ...flags], {
      ...identity(user),
      stdio: ['ignore', log.fd, log.fd],
    })
  }

  async #createDatabase(): Promise<void> {
    const { port, password } = this.#parts
    await connectOnce(buildAddress(port, password, 'postgres'), async (client) => {
      const { rowCount } = await client.query("SELECT 1 FROM pg_database WHERE datname = 'tallyman'")
      if (rowCount === 0) await client.query('CREATE DATABASE tallyman')
    })
  }

  async #relaunch(): Promise<void> {
    const { cluster, say } = this.#parts
    const { signal } = this.#stopping
    for (let delayMs = 500; !signal.aborted && this.#child === null; delayMs = Math.min(delayMs * 2, 30_000)) {
      say(`the embedded Postgres ended unexpectedly; restarting it in ${delayMs} ms`)
      try {
        await delay(delayMs, undefined, { ref: false, signal })
        await clearLeftovers(cluster, say)
        if (!signal.aborted) await this.launch()
      } catch (error) {
        if (!signal.aborted) say(errorMessage(error))
      }
    }
  }
}

const shutDown = async (child: ChildProcess | null): Promise<void> => {
  if (child === null || child.exitCode !== null || child.signalCode !== null) return
  const exited = once(child, 'exit')
  child.ref()
  child.kill('SIGINT')
  await exited
}

/**
 * Starts a Postgres in `dataDir`, created at first use, on a port of the loopback interface that it keeps, with a generated password. It has a separate
 * process group, so signals for the daemon do not reach it; it is restarted if it dies, and ends when the daemon ends, for any reason.
 * The caller holds the folder's lock (`lockFolder`). As root it runs under an unprivileged user.
 * @throws Error with advice when there is no Postgres for this machine or it does not start
 */
export const startEmbeddedPostgres = async ({
  dataDir,
  say,
  settings = [],
}: EmbeddedPostgresOptions): Promise<EmbeddedPostgres> => {
  const user = await unprivilegedUser()
  const programs = await preparePrograms(user, say)
  const folder = await findFolder(dataDir, user, say)
  await makeDataDir(folder, { owner: user, say })
  const parts: ClusterParts = {
    programs,
    user,
    folder,
    cluster: `${folder}/postgres`,
    passwordFile: `${folder}/postgres.password`,
  }
  if (!(await pathExists(`${parts.cluster}/PG_VERSION`))) {
    say(`creating a new database in ${parts.cluster}`)
    await createCluster(parts)
  }
  await clearLeftovers(parts.cluster, say)

  const password = (await readFile(parts.passwordFile, 'utf8')).trim()
  // In the format of libpq: any host, any port, any database.
  const passFile = `${folder}/postgres.pgpass`
  await writeFile(passFile, `*:*:*:tallyman:${password}\n`, { mode: 0o600 })
  const log = await openBoundedLog(`${folder}/postgres.log`, { say })
  const port = await choosePort(`${folder}/${portFile}`, say)
  const server = new PostgresServer({ ...parts, port, password, log, settings, say })
  await server.launch()
  return {
    url: buildAddress(port, password, 'tallyman'),
    shownUrl: buildShownAddress(port, passFile),
    pid: () => server.pid,
    stop: async () => {
      await server.stop()
      await log.close()
    },
  }
}
