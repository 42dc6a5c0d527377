import { hash } from 'node:crypto'

/** SKUs of a report, distinguished by 64 bits of their hash: eight bytes each, however many there are. */
export interface ReportKeys {
  has(sku: string): boolean
  /** Some SKUs came more than once. */
  readonly anyRepeated: boolean
  /** The SKU came more than once. */
  isRepeated(sku: string): boolean
}

const hashOf = (sku: string): bigint => hash('sha1', sku, 'buffer').readBigUInt64LE(0)

/** Collects SKUs as they come. */
export const createReportKeys = (): { add(sku: string): void; close(): ReportKeys } => {
  let hashes = new BigUint64Array(1_024)
  let count = 0
  return {
    add: (sku) => {
      if (count === hashes.length) {
        const larger = new BigUint64Array(hashes.length * 2)
        larger.set(hashes)
        hashes = larger
      }
      hashes[count] = hashOf(sku)
      count += 1
    },
    close: () => {
      const sorted = hashes.subarray(0, count).sort()
      const repeated = new Set<bigint>()
      for (let index = 1; index < count; index += 1) {
        const key = sorted[index]
        if (key !== undefined && key === sorted[index - 1]) repeated.add(key)
      }
      return {
        has: (sku) => isAmong(sorted, hashOf(sku)),
        anyRepeated: repeated.size > 0,
        isRepeated: (sku) => repeated.has(hashOf(sku)),
      }
    },
  }
}

const isAmong = (sorted: BigUint64Array, key: bigint): boolean => {
  let low = 0
  let high = sorted.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if ((sorted[middle] ?? 0n) < key) low = middle + 1
    else high = middle
  }
  return sorted[low] === key
}
