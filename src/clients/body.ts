/** An answer's body in pieces. It must be read to its end or given up (`return()`): until then it holds its connection. */
export type Body = AsyncGenerator<Uint8Array, void, undefined>

/**
 * A body that can be given up at any time. A generator that nobody has asked for a piece runs no `finally`, so what it would have read from is left by
 * `leave` then.
 */
export const ownedBody = (pieces: Body, leave: () => unknown): Body => {
  let isBegun = false
  const leaveUnbegun = async (): Promise<void> => {
    if (isBegun) return
    isBegun = true
    await leave()
  }
  return {
    next: () => {
      isBegun = true
      return pieces.next()
    },
    return: async () => {
      await leaveUnbegun()
      return pieces.return()
    },
    throw: async (error) => {
      await leaveUnbegun()
      return pieces.throw(error)
    },
    [Symbol.asyncIterator]() {
      return this
    },
    async [Symbol.asyncDispose]() {
      await this.return()
    },
  }
}
