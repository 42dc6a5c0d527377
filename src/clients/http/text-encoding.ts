import { isAscii } from 'node:buffer'
import { type Body, cancellableBody } from './body.ts'

/** The content type names an unknown character encoding. */
export class UnknownCharset extends Error {
  override readonly name = 'UnknownCharset'
}

/** Byte order marks. They overrule the content type. */
const marks = [
  { bytes: [0xef, 0xbb, 0xbf], name: 'utf-8' },
  { bytes: [0xff, 0xfe], name: 'utf-16le' },
  { bytes: [0xfe, 0xff], name: 'utf-16be' },
] as const

const maxMarkLength = 3

/** Names of Windows code pages that the Encoding Standard does not list. */
const windowsCodePage = /^(?:cp|win|windows|ms|ibm|x-cp)[-_]?(125[0-8]|874)$/

const aliases: ReadonlyMap<string, string> = new Map([
  ['cp65001', 'utf-8'],
  ['utf8mb4', 'utf-8'],
  ['utf_8', 'utf-8'],
  ['ansi', 'windows-1252'],
  ['macroman', 'macintosh'],
])

const findCharset = (contentType: string | null): string | null =>
  /;\s*charset\s*=\s*["']?([^\s"';,]+)/i.exec(contentType ?? '')?.[1]?.toLowerCase() ?? null

/** The encoding of a text by its first bytes and its content type; default: UTF-8. Null: the content type names an unknown one. */
const findEncoding = (head: Uint8Array, contentType: string | null): string | null => {
  const mark = marks.find(({ bytes }) => bytes.every((byte, at) => head[at] === byte))
  if (mark !== undefined) return mark.name
  const charset = findCharset(contentType)
  if (charset === null) return 'utf-8'
  const label = charset.replace(windowsCodePage, 'windows-$1')
  try {
    return new TextDecoder(aliases.get(label) ?? label).encoding
  } catch (error) {
    if (error instanceof RangeError) return null
    throw error
  }
}

/**
 * The text of a whole answer, without a byte order mark. Invalid bytes become U+FFFD, so that one character does not make the answer unreadable.
 *
 * @throws UnknownCharset if its content type names an unknown encoding and it is not ASCII
 */
export const decodeText = (bytes: Uint8Array, contentType: string | null): string => {
  const encoding = findEncoding(bytes, contentType)
  if (encoding === null && !isAscii(bytes)) throw new UnknownCharset('the character encoding of the answer is not known')
  return new TextDecoder(encoding ?? 'utf-8').decode(bytes)
}

/**
 * Converts a text file to UTF-8 from the encoding of its byte order mark or content type. A file in UTF-8 is not changed, valid or not.
 *
 * @throws when it is read: UnknownCharset; TypeError for bytes that are invalid in another encoding than UTF-8
 */
export const toUtf8 = (bytes: Body, contentType: string | null): Body =>
  cancellableBody(decodeChunks(bytes, contentType), () => bytes.return())

/** Converts chunks of a file to UTF-8; null: the end of the file. */
type ChunkConverter = (chunk: Uint8Array | null) => Uint8Array

const createConverter = (head: Uint8Array, contentType: string | null): ChunkConverter => {
  const encoding = findEncoding(head, contentType)
  if (encoding === null) throw new UnknownCharset('the character encoding of the file is not known')
  const noBytes = new Uint8Array(0)
  if (encoding === 'utf-8') return (chunk) => chunk ?? noBytes
  const decoder = new TextDecoder(encoding, { fatal: true })
  const encoder = new TextEncoder()
  return (chunk) => encoder.encode(chunk === null ? decoder.decode() : decoder.decode(chunk, { stream: true }))
}

const decodeChunks = async function* (bytes: Body, contentType: string | null): Body {
  let head: Uint8Array = new Uint8Array(0)
  let convert: ChunkConverter | null = null
  for await (const chunk of bytes) {
    let rest: Uint8Array = chunk
    if (convert === null) {
      rest = Buffer.concat([head, chunk])
      head = rest
      if (rest.length < maxMarkLength) continue
      convert = createConverter(rest, contentType)
    }
    const text = convert(rest)
    if (text.length > 0) yield text
  }
  if (convert === null) {
    convert = createConverter(head, contentType)
    yield convert(head)
  }
  const last = convert(null)
  if (last.length > 0) yield last
}
