import { createHash, randomUUID } from 'node:crypto'
import { readFileSync, readlinkSync } from 'node:fs'
import { hostname } from 'node:os'
import { processExists } from './process-exists.ts'

/** Reads what identifies a namespace of process ids. */
export interface PlaceReaders {
  readonly host: () => string
  /** Changes with each boot of the machine. */
  readonly bootId: () => string
  /** Containers of one machine, also with the same host name, have separate namespaces. */
  readonly pidNamespace: () => string
}

const thisMachine: PlaceReaders = {
  host: hostname,
  bootId: () => readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim(),
  pidNamespace: () => readlinkSync('/proc/self/ns/pid'),
}

const buildMark = ({ bootId, pidNamespace }: PlaceReaders): string => {
  try {
    return createHash('sha256').update(`${bootId()} ${pidNamespace()}`).digest('hex').slice(0, 12)
  } catch {
    // Not Linux, or not readable: no other process is known to share our namespace.
    return randomUUID().slice(0, 8)
  }
}

/** Name of the scope in which process ids are unique: one boot of the machine and one namespace of process ids. */
export const readPlace = (readers: PlaceReaders = thisMachine): string => `${readers.host()}@${buildMark(readers)}`

const place = readPlace()

/** Unique name of this process among all that share a database, with its machine and process id. */
export const buildProcessName = (): string => `${place}-${process.pid}-${randomUUID().slice(0, 8)}`

/**
 * Whether the process of this name has ended. False if that is unknown: the process is on another machine, in another container, or was named by an
 * earlier version.
 */
export const hasEnded = (name: string, own = place): boolean => {
  const [, where, pid] = /^(.*)-(\d+)-[0-9a-f]{8}$/.exec(name) ?? []
  if (where !== own || pid === undefined) return false
  // An earlier process with our process id has ended: a restarted container reuses ids.
  return Number(pid) === process.pid || !processExists(Number(pid))
}
