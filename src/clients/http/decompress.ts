import { PassThrough, type Transform } from 'node:stream'
import { promisify } from 'node:util'
import zlib from 'node:zlib'
import { BodyError, findErrorCode } from './body.ts'
import { headerText, type ResponseHeaders } from './classify.ts'
import { bodyTooLarge, bodyUnreadable, unknownCharset } from './errors.ts'
import { decodeText, UnknownCharset } from './text-encoding.ts'

type Decompress = (compressed: Uint8Array, limits: { readonly maxOutputLength: number }) => Promise<Uint8Array>

const decompressors: ReadonlyMap<string, Decompress> = new Map<string, Decompress>([
  ['gzip', promisify<Uint8Array, zlib.ZlibOptions, Buffer>(zlib.gunzip)],
  ['x-gzip', promisify<Uint8Array, zlib.ZlibOptions, Buffer>(zlib.gunzip)],
  ['deflate', promisify<Uint8Array, zlib.ZlibOptions, Buffer>(zlib.inflate)],
  ['br', promisify<Uint8Array, zlib.BrotliOptions, Buffer>(zlib.brotliDecompress)],
])

const streams: ReadonlyMap<string, () => Transform> = new Map<string, () => Transform>([
  ['', () => new PassThrough()],
  ['identity', () => new PassThrough()],
  ['gzip', () => zlib.createGunzip()],
  ['x-gzip', () => zlib.createGunzip()],
  ['deflate', () => zlib.createInflate()],
  ['br', () => zlib.createBrotliDecompress()],
])

/** The head of an answer. */
export interface AnswerHead {
  readonly statusCode?: number | undefined
  readonly headers: ResponseHeaders
}

/** An answer without a body is not compressed, even if its header says so. */
const hasNoBody = ({ statusCode, headers }: AnswerHead): boolean =>
  statusCode === 204 || statusCode === 304 || headers['content-length'] === '0'

const findContentEncoding = (headers: ResponseHeaders): string =>
  headerText(headers, 'content-encoding')?.trim().toLowerCase() ?? ''

/** A stream that decompresses the body of an answer; null if its encoding is unknown. */
export const createDecompressionStream = (head: AnswerHead): Transform | null =>
  streams.get(hasNoBody(head) ? '' : findContentEncoding(head.headers))?.() ?? null

/**
 * The text of a body.
 *
 * @throws BodyError if it cannot be decompressed or decoded, or is larger than `maxBytes`
 */
export const decompressText = async (compressed: Uint8Array, headers: ResponseHeaders, maxBytes: number): Promise<string> => {
  const encoding = findContentEncoding(headers)
  const contentType = headerText(headers, 'content-type')
  if (encoding === '' || encoding === 'identity' || compressed.length === 0) return decode(compressed, contentType)
  const decompress = decompressors.get(encoding)
  if (decompress === undefined) throw new BodyError(bodyUnreadable)
  let bytes: Uint8Array
  try {
    bytes = await decompress(compressed, { maxOutputLength: maxBytes })
  } catch (error) {
    throw new BodyError(findErrorCode(error) === 'ERR_BUFFER_TOO_LARGE' ? bodyTooLarge : bodyUnreadable)
  }
  return decode(bytes, contentType)
}

const decode = (bytes: Uint8Array, contentType: string | null): string => {
  try {
    return decodeText(bytes, contentType)
  } catch (error) {
    if (error instanceof UnknownCharset) throw new BodyError(unknownCharset)
    throw error
  }
}
