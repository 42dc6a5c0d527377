/** How long the marketplace takes to answer, lately. */
export interface AnswerTimes {
  note(sellerId: string, operation: string, durationMs: number): void
  /** In ms; null: it has not been asked. */
  of(sellerId: string, operation: string): number | null
}

/** Share of the newest answer in the average: the last dozen make most of it. */
const newest = 1 / 8

/** Nothing is known yet. One number is kept for each operation of a seller. */
export const createAnswerTimes = (): AnswerTimes => {
  const averages = new Map<string, number>()
  const nameOf = (sellerId: string, operation: string): string => JSON.stringify([sellerId, operation])
  return {
    note: (sellerId, operation, durationMs) => {
      const name = nameOf(sellerId, operation)
      const before = averages.get(name) ?? durationMs
      averages.set(name, before + (durationMs - before) * newest)
    },
    of: (sellerId, operation) => averages.get(nameOf(sellerId, operation)) ?? null,
  }
}
