/**
 * Jain's index of shares: 1 where all have the same, 1/n where one of n has all. Each share is to be of what its holder could have had at best, so that
 * those who want little, or may have little, do not count as deprived. 1 where there are none, or all are 0.
 */
export const computeFairness = (shares: readonly number[]): number => {
  const sum = shares.reduce((total, share) => total + share, 0)
  const squares = shares.reduce((total, share) => total + share * share, 0)
  return squares === 0 ? 1 : (sum * sum) / (shares.length * squares)
}
