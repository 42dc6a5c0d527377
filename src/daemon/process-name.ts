import { createHash, randomUUID } from 'node:crypto'
import { readFileSync, readlinkSync } from 'node:fs'
import { hostname } from 'node:os'
import { processExists } from '../process-exists.ts'

/** What tells where a process id is one. */
export interface PlaceReaders {
  readonly host: () => string
  /** Another one each time that the machine is started. */
  readonly bootId: () => string
  /** Containers of one machine, and with one host name, have ids of their own each. */
  readonly pidNamespace: () => string
}

const ofThisMachine: PlaceReaders = {
  host: hostname,
  bootId: () => readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim(),
  pidNamespace: () => readlinkSync('/proc/self/ns/pid'),
}

const markOf = ({ bootId, pidNamespace }: PlaceReaders): string => {
  try {
    return createHash('sha256').update(`${bootId()} ${pidNamespace()}`).digest('hex').slice(0, 12)
  } catch {
    // Not Linux, or closed to us: nobody else is known to be where this process is.
    return randomUUID().slice(0, 8)
  }
}

/** Names where a process id is one: until the machine is started again, and within one namespace of process ids. */
export const readPlace = (readers: PlaceReaders = ofThisMachine): string => `${readers.host()}@${markOf(readers)}`

const place = readPlace()

/** Names this process among all that share a database, with its machine and its process id. */
export const nameOfProcess = (): string => `${place}-${process.pid}-${randomUUID().slice(0, 8)}`

/**
 * Whether another process, by its name, was one that is not running any more; false where that cannot be known: on another machine, in another
 * container, or named by an earlier version.
 */
export const hasEnded = (name: string, own = place): boolean => {
  const [, where, pid] = /^(.*)-(\d+)-[0-9a-f]{8}$/.exec(name) ?? []
  if (where !== own || pid === undefined) return false
  // Another one with the process id of this one, as in a container that was started again.
  return Number(pid) === process.pid || !processExists(Number(pid))
}
