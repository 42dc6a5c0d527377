/** Edit distance: letters to insert, delete, replace or swap with their neighbour to transform one word into the other. */
const distance = (one: string, other: string): number => {
  let before: readonly number[] = []
  let row: readonly number[] = Array.from({ length: other.length + 1 }, (_, index) => index)
  for (let i = 1; i <= one.length; i += 1) {
    const next = [i]
    for (let j = 1; j <= other.length; j += 1) {
      const replaced = (row[j - 1] ?? 0) + (one[i - 1] === other[j - 1] ? 0 : 1)
      const swapped =
        i > 1 && j > 1 && one[i - 1] === other[j - 2] && one[i - 2] === other[j - 1] ? (before[j - 2] ?? 0) + 1 : replaced
      next.push(Math.min(replaced, swapped, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1))
    }
    before = row
    row = next
  }
  return row[other.length] ?? 0
}

/** Longer words are not compared. */
const longestName = 100

/** A word that is near is probably a mistake. */
const probably = (candidate: string): number => Math.max(2, Math.floor(candidate.length / 4))

/** A word that is so near is hardly a word of its own. */
export const surely = (candidate: string): number => Math.min(2, Math.floor(candidate.length / 5))

/**
 * The known name that is meant by a misspelt one; null when none is near.
 *
 * @param maxApart maximum number of letters that may differ from a candidate
 */
export const nearestName = (name: string, known: readonly string[], maxApart = probably): string | null => {
  if (name.length > longestName) return null
  const ranked = known
    .map((candidate) => ({ candidate, apart: distance(name.toLowerCase(), candidate.toLowerCase()) }))
    .sort((a, b) => a.apart - b.apart)
  const [best] = ranked
  return best !== undefined && best.apart <= maxApart(best.candidate) ? best.candidate : null
}
