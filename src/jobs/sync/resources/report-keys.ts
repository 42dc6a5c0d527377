import { hash } from 'node:crypto'

/** SKUs of a report, identified by 64 bits of their hash: eight bytes each. */
export interface ReportKeys {
  has(sku: string): boolean
  /** Whether any SKU is repeated. */
  readonly anyRepeated: boolean
  /** Whether a SKU is repeated. */
  isRepeated(sku: string): boolean
}

const hashText = (sku: string): bigint => hash('sha1', sku, 'buffer').readBigUInt64LE(0)

/** Collects the SKUs of a report. */
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
      hashes[count] = hashText(sku)
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
        has: (sku) => isAmong(sorted, hashText(sku)),
        anyRepeated: repeated.size > 0,
        isRepeated: (sku) => repeated.has(hashText(sku)),
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
