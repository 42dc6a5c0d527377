import { isIPv6 } from 'node:net'
import type { Logger } from '../observability/log.ts'

/** Wrong keys that an address may send at once, and the interval at which it may send one more. */
const burst = 20
const refillMs = 3_000
/** Addresses that are remembered; beyond it the one that has been silent the longest is forgotten. */
const mostAddresses = 10_000

/** Bounds the wrong keys of each address. */
export interface FailedKeys {
  /** How long an address has to wait before another key of its is looked at, in milliseconds; null: not at all. */
  waitMs(address: string): number | null
  /** Counts a wrong key. */
  failed(address: string, route: string): void
}

/** An address as it is counted: of IPv6 the network of 64 bits, which one sender has to itself. */
export const countedAddress = (address: string): string => {
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1]
  if (mapped !== undefined) return mapped
  if (!isIPv6(address)) return address
  const [before = [], after = []] = address.split('::').map((part) => (part === '' ? [] : part.split(':')))
  // Of "::" as many groups are zero as are missing.
  const zeros = Array.from({ length: Math.max(0, 8 - before.length - after.length) }, () => '0')
  const network = [...before, ...zeros, ...after].slice(0, 4).map((group) => group.replace(/^0+(?=.)/, '').toLowerCase())
  return `${network.join(':')}::/64`
}

/** One instance per server. */
export const createFailedKeys = (log: Pick<Logger, 'warn'>, nowMs: () => number = () => performance.now()): FailedKeys => {
  const buckets = new Map<string, { left: number; atMs: number }>()
  const leftOf = (address: string): number => {
    const bucket = buckets.get(address)
    return bucket === undefined ? burst : Math.min(burst, bucket.left + (nowMs() - bucket.atMs) / refillMs)
  }
  return {
    waitMs: (from) => {
      const left = leftOf(countedAddress(from))
      return left >= 1 ? null : Math.ceil((1 - left) * refillMs)
    },
    failed: (from, route) => {
      const address = countedAddress(from)
      const before = leftOf(address)
      const left = Math.max(0, before - 1)
      // Deleted and set again, so that the map stays in the order of the last failures.
      buckets.delete(address)
      buckets.set(address, { left, atMs: nowMs() })
      for (const oldest of buckets.keys()) {
        if (buckets.size <= mostAddresses) break
        buckets.delete(oldest)
      }
      const fields = { remote_ip: address, route }
      if (before === burst) log.warn(fields, 'a wrong key was refused')
      else if (before >= 2 && left < 2) log.warn(fields, 'an address sends wrong keys: its keys are looked at slowly')
    },
  }
}
