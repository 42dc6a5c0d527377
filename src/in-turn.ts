/** Does work when all that was asked for before has ended, whatever became of it. Its own failure is met by who asked. */
export type InTurn = <Result>(work: () => Promise<Result>) => Promise<Result>

/** Nothing has been asked for yet. */
export const createInTurn = (): InTurn => {
  let last: Promise<unknown> = Promise.resolve()
  return (work) => {
    const next = last.then(work)
    last = next.catch(() => undefined)
    return next
  }
}

/** Ends when all that was asked for so far has ended. */
export const endOf = (inTurn: InTurn): Promise<void> => inTurn(async () => undefined)
