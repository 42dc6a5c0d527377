import type { IncomingMessage } from 'node:http'
import { PassThrough, pipeline, type Readable } from 'node:stream'
import { type Body, BodyError, cancellableBody, findErrorCode } from '../body.ts'
import { headerText } from '../classify.ts'
import { createDecompressionStream } from '../decompress.ts'
import { bodyTooLarge, bodyUnreadable, unknownCharset } from '../errors.ts'
import { toUtf8, UnknownCharset } from '../text-encoding.ts'
import { unzipFile } from './unzip.ts'

/** Limit of a body that is read in chunks, decompressed. It is larger than any report. */
const maxBytes = 4 * 1024 ** 3

/** How a body is read. */
export interface StreamedBodyOptions {
  readonly signal: AbortSignal
  /** Longest wait for a chunk. The time of the reader does not count. */
  readonly chunkTimeoutMs: number
  /** Called when the body has ended, failed or was cancelled. */
  readonly release: () => void
}

/** The body of an answer in chunks: decompressed, the only file of an archive, as UTF-8. It throws a {@link BodyError} if it does not arrive completely or is unreadable. */
export const streamBody = (answer: IncomingMessage, { signal, chunkTimeoutMs, release }: StreamedBodyOptions): Body => {
  const decompression = createDecompressionStream(answer)
  // An error reaches the reader of the last stream of the pipeline.
  const source = pipeline(answer, decompression ?? new PassThrough(), () => undefined)
  const close = (): void => {
    source.destroy()
    release()
  }
  const chunks = async function* (): Body {
    try {
      if (decompression === null) throw new BodyError(bodyUnreadable)
      const file = unzipFile(readChunks(source, chunkTimeoutMs), maxBytes)
      yield* toUtf8(file, headerText(answer.headers, 'content-type'))
    } catch (error) {
      throw toBodyError(error, signal)
    } finally {
      close()
    }
  }
  return cancellableBody(chunks(), close)
}

const toBodyError = (error: unknown, signal: AbortSignal): BodyError => {
  if (signal.aborted) return new BodyError('ABORTED')
  if (error instanceof UnknownCharset) return new BodyError(unknownCharset)
  const code = findErrorCode(error)
  return new BodyError(/^(?:Z_|ERR_BROTLI|ERR__ERROR|ERR_ENCODING_INVALID)/.test(code) ? bodyUnreadable : code)
}

const readChunks = async function* (source: Readable, timeoutMs: number): Body {
  let length = 0
  let timer: NodeJS.Timeout | undefined
  const startTimer = (): NodeJS.Timeout => setTimeout(() => source.destroy(new BodyError('ETIMEDOUT')), timeoutMs)
  try {
    timer = startTimer()
    for await (const chunk of source) {
      clearTimeout(timer)
      if (!(chunk instanceof Uint8Array)) throw new BodyError(bodyUnreadable)
      length += chunk.length
      if (length > maxBytes) throw new BodyError(bodyTooLarge)
      yield chunk
      timer = startTimer()
    }
  } finally {
    clearTimeout(timer)
  }
}
