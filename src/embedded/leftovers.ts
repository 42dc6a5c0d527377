import { readdir, readFile, readlink, realpath, rm } from 'node:fs/promises'
import { setTimeout as delay } from 'node:timers/promises'
import { processExists } from '../util/process-exists.ts'

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

/**
 * Ends the Postgres of an earlier run and waits for all of its processes. A killed daemon leaves its Postgres running for a moment, or longer if the
 * watcher was killed too. A killed Postgres leaves backends that may still commit: what they write after a new server has read the WAL would be
 * lost, although it was acknowledged. The caller holds the folder's lock, so all these processes belong to an earlier run.
 * @throws Error when a process still uses the folder after half a minute
 */
export const clearLeftovers = async (cluster: string, say: (line: string) => void): Promise<void> => {
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
