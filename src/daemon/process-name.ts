import { randomUUID } from 'node:crypto'
import { hostname } from 'node:os'

/** Names this process among all that share a database, with its machine and its process id. */
export const nameOfProcess = (): string => `${hostname()}-${process.pid}-${randomUUID().slice(0, 8)}`

const isRunning = (pid: number): boolean => {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    // It is there, and of somebody else.
    return error instanceof Error && 'code' in error && error.code === 'EPERM'
  }
}

/** Whether another process, by its name, was one of this machine that is not running any more; false where that cannot be known. */
export const hasEnded = (name: string): boolean => {
  const [, host, pid] = /^(.*)-(\d+)-[0-9a-f]{8}$/.exec(name) ?? []
  if (host !== hostname() || pid === undefined) return false
  // Another one with the process id of this one, as in a container that was started again.
  return Number(pid) === process.pid || !isRunning(Number(pid))
}
