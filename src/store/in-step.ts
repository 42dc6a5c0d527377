import type { ChangeRecord } from '../domain/changes/catalogue.ts'
import type { Transaction } from './database.ts'
import type { Gathering, Tell } from './together.ts'

/** What all wait for is asked once none of them goes on by itself. */
const createSteps = (members: number): Gathering => {
  let moving = members
  let asking = false
  let questions: (() => Promise<Tell>)[] = []

  const step = async (): Promise<void> => {
    while (moving <= 0 && questions.length > 0) {
      const next = questions
      questions = []
      asking = true
      const tells = await Promise.all(next.map((ask) => ask()))
      asking = false
      for (const tell of tells) tell()
      // Those who were told stop again before it is looked who waits: each of them calls `stops` then.
      if (moving > 0) return
    }
  }
  const stops = (): void => {
    moving -= 1
    // What is asked tells its failure to those who asked, and never rejects.
    if (moving <= 0 && !asking) void step()
  }
  return {
    waits: (_statement, ask) => {
      if (ask !== null) questions.push(ask)
      stops()
    },
    goesOn: () => {
      moving += 1
    },
    ended: stops,
    isAsking: () => asking,
    mayAskAlone: false,
  }
}

/**
 * Does several pieces of work in one transaction, in step: a statement that all of them ask for (`together`) is sent once for all. Each piece is
 * written as if it were alone. Answers their results once all have ended.
 *
 * @throws what the first of them threw that failed; the transaction must not be committed then
 */
export const inStep = async <Result>(
  transaction: Transaction,
  works: readonly ((transaction: Transaction) => Promise<Result>)[],
): Promise<readonly Result[]> => {
  const steps = createSteps(works.length)
  const told: ChangeRecord[][] = works.map(() => [])
  // Once a statement has failed those behind it fail as well, for that reason alone.
  const faults: unknown[] = []
  const ended = await Promise.allSettled(
    works.map(async (work, index) => {
      try {
        return await work({ ...transaction, gathering: steps, record: (change) => told[index]?.push(change) })
      } catch (error) {
        faults.push(error)
        throw error
      } finally {
        steps.ended()
      }
    }),
  )
  if (faults.length > 0) throw faults[0]
  for (const change of told.flat()) transaction.record(change)
  return ended.flatMap((end) => (end.status === 'fulfilled' ? [end.value] : []))
}
