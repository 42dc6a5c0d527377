/** How long something took, of any number of things, in constant memory: within five per cent. */
export interface Histogram {
  readonly count: number
  readonly most: number
  add(ms: number): void
  /** What this share of all stayed below, in ms; 0 where there were none. */
  quantile(share: number): number
}

const growth = 1.05
const bins = 700

/** An empty one, for times of 1 ms and more; what is shorter counts as 0. */
export const createHistogram = (): Histogram => {
  const counts = new Float64Array(bins)
  let count = 0
  let most = 0
  return {
    get count() {
      return count
    },
    get most() {
      return most
    },
    add: (ms) => {
      const bin = ms < 1 ? 0 : Math.min(bins - 1, 1 + Math.floor(Math.log(ms) / Math.log(growth)))
      counts[bin] = (counts[bin] ?? 0) + 1
      count += 1
      if (ms > most) most = ms
    },
    quantile: (share) => {
      let left = share * count
      for (let bin = 0; bin < bins; bin += 1) {
        left -= counts[bin] ?? 0
        if (left <= 0) return bin === 0 ? 0 : Math.min(most, growth ** bin)
      }
      return most
    },
  }
}
