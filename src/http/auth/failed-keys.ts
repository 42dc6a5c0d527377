import { isIPv6 } from 'node:net'
import type { Logger } from '../../observability/log.ts'

/** Wrong keys that an address may send without waiting. */
const burst = 20
/** Interval at which an address may send one more wrong key, in milliseconds. */
const replenishMs = 3_000
/** Addresses that are counted. Beyond that, the address with the oldest failure is dropped. */
const maxAddresses = 10_000

/** Limits the wrong keys of each address (a token bucket). */
export interface FailedKeys {
  /** How long an address must wait before its next key is checked, in milliseconds; null: it need not wait. */
  waitMs(address: string): number | null
  /** Counts a wrong key. */
  add(address: string, route: string): void
}

/** The address that is counted. IPv6: its /64 network, because one sender has a whole one. */
export const countedAddress = (address: string): string => {
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1]
  if (mapped !== undefined) return mapped
  if (!isIPv6(address)) return address
  const [before = [], after = []] = address.split('::').map((part) => (part === '' ? [] : part.split(':')))
  // "::" stands for the missing groups, which are zero.
  const zeros = Array.from({ length: Math.max(0, 8 - before.length - after.length) }, () => '0')
  const network = [...before, ...zeros, ...after].slice(0, 4).map((group) => group.replace(/^0+(?=.)/, '').toLowerCase())
  return `${network.join(':')}::/64`
}

/** One instance per server. */
export const createFailedKeys = (log: Pick<Logger, 'warn'>, nowMs: () => number = () => performance.now()): FailedKeys => {
  const buckets = new Map<string, { left: number; atMs: number }>()
  const countLeft = (address: string): number => {
    const bucket = buckets.get(address)
    return bucket === undefined ? burst : Math.min(burst, bucket.left + (nowMs() - bucket.atMs) / replenishMs)
  }
  return {
    waitMs: (from) => {
      const left = countLeft(countedAddress(from))
      return left >= 1 ? null : Math.ceil((1 - left) * replenishMs)
    },
    add: (from, route) => {
      const address = countedAddress(from)
      const before = countLeft(address)
      const left = Math.max(0, before - 1)
      // Deleted and set again: the map stays ordered by the last failure.
      buckets.delete(address)
      buckets.set(address, { left, atMs: nowMs() })
      for (const oldest of buckets.keys()) {
        if (buckets.size <= maxAddresses) break
        buckets.delete(oldest)
      }
      const fields = { remote_ip: address, route }
      if (before === burst) log.warn(fields, 'refused a wrong key')
      else if (before >= 2 && left < 2) log.warn(fields, 'an address sends wrong keys: rate-limiting its keys')
    },
  }
}
