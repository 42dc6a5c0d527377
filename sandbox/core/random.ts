/** A reproducible random source: the same seed words give the same draws, on every machine. */
export interface Random {
  /** A number in [0, 1). */
  next(): number
  /** A whole number from `low` to `high`, both included. */
  whole(low: number, high: number): number
  /** True with this probability (0 never, 1 always). */
  chance(share: number): boolean
  /** One of the items; the list must not be empty. */
  pick<T extends readonly [unknown, ...unknown[]]>(items: T): T[number]
}

/** 32-bit FNV-1a of the words, well mixed at the end so that neighbouring words give unlike seeds. */
export const hashWords = (...words: readonly (string | number)[]): number => {
  let hash = 0x811c9dc5
  for (const character of words.join('\u0000')) {
    hash ^= character.codePointAt(0) ?? 0
    hash = Math.imul(hash, 0x01000193)
  }
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b)
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35)
  return (hash ^ (hash >>> 16)) >>> 0
}

/** Draws that depend on nothing but the given words (mulberry32). */
export const createRandom = (...words: readonly (string | number)[]): Random => {
  let state = hashWords(...words)
  const next = (): number => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
  return {
    next,
    whole: (low, high) => low + Math.floor(next() * (high - low + 1)),
    chance: (share) => next() < share,
    pick: (items) => items[Math.floor(next() * items.length)] ?? items[0],
  }
}
