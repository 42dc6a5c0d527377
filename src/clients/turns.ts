import { setImmediate as letOthersRun } from 'node:timers/promises'

/** Reading goes on for so long before others have their turn, in milliseconds. */
const turnMs = 20
/** The clock is looked at after so many. */
const stride = 50

/** Reads one after another what an answer holds; others run in between, so that a large answer does not stop the process. */
export const readInTurns = async <From, To>(
  items: readonly From[],
  read: (item: From) => readonly To[],
): Promise<readonly To[]> => {
  const results: To[] = []
  let turnEndsMs = performance.now() + turnMs
  for (const [index, item] of items.entries()) {
    results.push(...read(item))
    if (index % stride !== stride - 1 || performance.now() < turnEndsMs) continue
    await letOthersRun()
    turnEndsMs = performance.now() + turnMs
  }
  return results
}
