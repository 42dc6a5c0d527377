/** Numbers in [0, 1) that follow from a seed alone. Not for secrets. */
export const createRandom = (seed: number): (() => number) => {
  let state = seed >>> 0
  return () => {
    // The SplitMix32 generator.
    state = (state + 0x9e3779b9) >>> 0
    let mixed = state ^ (state >>> 16)
    mixed = Math.imul(mixed, 0x21f0aaad)
    mixed ^= mixed >>> 15
    mixed = Math.imul(mixed, 0x735a2d97)
    return ((mixed ^ (mixed >>> 15)) >>> 0) / 2 ** 32
  }
}
