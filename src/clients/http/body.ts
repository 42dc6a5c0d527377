import { bodyTooLarge, bodyUnreadable } from './errors.ts'

/** The body of an answer in chunks. Read it to its end or cancel it (`return()`): until then it holds its connection. */
export type Body = AsyncGenerator<Uint8Array, void, undefined>

/** A body that did not arrive completely. `code` is the reason, as `networkCode` of an outcome. */
export class BodyError extends Error {
  override readonly name = 'BodyError'
  readonly code: string

  constructor(code: string) {
    super(`the body did not arrive completely: ${code}`)
    this.code = code
  }
}

/** The code of an error of the network or of a body. A body that ends before its announced length counts as a broken connection. */
export const findErrorCode = (error: unknown): string => {
  if (!(error instanceof Error && 'code' in error && typeof error.code === 'string')) return 'UNKNOWN_FAULT'
  return error.code === 'ERR_HTTP_CONTENT_LENGTH_MISMATCH' ? 'ECONNRESET' : error.code
}

/**
 * A body that can be cancelled at any time. A generator that has not started runs no `finally`; in this case `release` frees what it would have read from.
 */
export const cancellableBody = (chunks: Body, release: () => unknown): Body => {
  let isStarted = false
  const releaseIfNotStarted = async (): Promise<void> => {
    if (isStarted) return
    isStarted = true
    await release()
  }
  return {
    next: () => {
      isStarted = true
      return chunks.next()
    },
    return: async () => {
      await releaseIfNotStarted()
      return chunks.return()
    },
    throw: async (error) => {
      await releaseIfNotStarted()
      return chunks.throw(error)
    },
    [Symbol.asyncIterator]() {
      return this
    },
    async [Symbol.asyncDispose]() {
      await this.return()
    },
  }
}

/** A body that calls `onEnd` when it ends, fails or is cancelled. `onEnd` may be called twice. */
export const withEnd = (body: Body, onEnd: () => void): Body => {
  const chunks = async function* (): Body {
    try {
      yield* body
    } finally {
      onEnd()
    }
  }
  return cancellableBody(chunks(), async () => {
    await body.return()
    onEnd()
  })
}

/**
 * The whole body.
 *
 * @throws BodyError if it is larger than `maxBytes`
 */
export const readBounded = async (stream: AsyncIterable<unknown>, maxBytes: number): Promise<Uint8Array> => {
  const chunks: Uint8Array[] = []
  let length = 0
  for await (const chunk of stream) {
    if (!(chunk instanceof Uint8Array)) throw new BodyError(bodyUnreadable)
    length += chunk.length
    if (length > maxBytes) throw new BodyError(bodyTooLarge)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

/** The first byte that is neither white space nor part of a byte order mark; null if there is none. */
const findFirstByte = (chunk: Uint8Array): number | null =>
  chunk.find((byte) => byte > 0x20 && byte !== 0xef && byte !== 0xbb && byte !== 0xbf) ?? null

/**
 * Reads the beginning of a body. `isFile`: it is neither JSON nor HTML. `whole`: the body from its beginning.
 *
 * @throws BodyError also if the first `maxBytes` are white space; the body is cancelled then
 */
export const peekBody = async (body: Body, maxBytes: number): Promise<{ readonly isFile: boolean; readonly whole: Body }> => {
  const read: Uint8Array[] = []
  let length = 0
  let first: number | null = null
  while (first === null) {
    const next = await body.next()
    if (next.done === true) break
    read.push(next.value)
    length += next.value.length
    first = findFirstByte(next.value)
    if (first !== null || length <= maxBytes) continue
    await body.return()
    throw new BodyError(bodyTooLarge)
  }
  const whole = async function* (): Body {
    try {
      yield* read.splice(0)
      yield* body
    } finally {
      await body.return()
    }
  }
  return {
    isFile: first !== null && !'{[<'.includes(String.fromCharCode(first)),
    whole: cancellableBody(whole(), () => body.return()),
  }
}
