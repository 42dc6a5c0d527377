import zlib from 'node:zlib'
import { type Body, BodyError, cancellableBody } from '../body.ts'
import { bodyTooLarge, bodyUnreadable } from '../errors.ts'

/** Signatures and sizes of the ZIP format (APPNOTE.TXT, section 4.3). */
const localSignature = Buffer.from('PK\x03\x04')
const dataDescriptor = 0x08074b50
const centralHeader = 0x02014b50
const localHeaderBytes = 30
const maxDescriptorBytes = 24

const isEncrypted = 0x1
const hasDescriptor = 0x8
const stored = 0
const deflated = 8

/** Reads chunks by numbers of bytes. */
class ChunkReader {
  readonly #chunks: Body
  #head: Buffer = Buffer.alloc(0)

  constructor(chunks: Body) {
    this.#chunks = chunks
  }

  /** The next bytes, without taking them; fewer at the end. */
  async peek(length: number): Promise<Buffer> {
    while (this.#head.length < length) {
      const next = await this.#chunks.next()
      if (next.done === true) break
      const { buffer, byteOffset, byteLength } = next.value
      const bytes = Buffer.from(buffer, byteOffset, byteLength)
      this.#head = this.#head.length === 0 ? bytes : Buffer.concat([this.#head, bytes])
    }
    return this.#head.subarray(0, length)
  }

  /** Whether these bytes are the next ones. It waits for no more bytes than it needs to know. */
  async startsWith(expected: Buffer): Promise<boolean> {
    for (let length = 1; length <= expected.length; length += 1) {
      if (!(await this.peek(length)).equals(expected.subarray(0, length))) return false
    }
    return true
  }

  /** @throws BodyError if the body ends before */
  async take(length: number): Promise<Buffer> {
    const bytes = await this.peek(length)
    if (bytes.length < length) throw new BodyError(bodyUnreadable)
    this.#head = this.#head.subarray(length)
    return bytes
  }

  /** The next chunk of any length, at most `maxBytes` of it; null at the end. */
  async takeChunk(maxBytes = Number.POSITIVE_INFINITY): Promise<Buffer | null> {
    await this.peek(1)
    const chunk = this.#head.subarray(0, maxBytes)
    this.#head = this.#head.subarray(chunk.length)
    return chunk.length === 0 ? null : chunk
  }

  /** Puts bytes back that were taken last. */
  putBack(bytes: Uint8Array): void {
    this.#head = Buffer.concat([bytes, this.#head])
  }
}

/** Decompresses up to the end of the compressed data, and leaves what follows. */
const inflate = async function* (reader: ChunkReader): Body {
  const stream = zlib.createInflateRaw()
  let output: Uint8Array[] = []
  stream.on('data', (chunk: Uint8Array) => output.push(chunk))
  const write = (chunk: Uint8Array): Promise<void> =>
    new Promise((resolve, reject) => {
      stream.once('error', reject)
      stream.write(chunk, () => {
        stream.off('error', reject)
        resolve()
      })
    })
  try {
    for (let written = 0; ; ) {
      const chunk = await reader.takeChunk()
      if (chunk === null) throw new BodyError(bodyUnreadable)
      await write(chunk)
      written += chunk.length
      yield* output
      output = []
      const unused = written - stream.bytesWritten
      if (unused === 0) continue
      reader.putBack(chunk.subarray(chunk.length - unused))
      return
    }
  } finally {
    stream.destroy()
  }
}

const readStored = async function* (reader: ChunkReader, length: number): Body {
  for (let left = length; left > 0; ) {
    const chunk = await reader.takeChunk(left)
    if (chunk === null) throw new BodyError(bodyUnreadable)
    left -= chunk.length
    yield chunk
  }
}

/** The checksum after the data of a file, whose length depends on the writer. The list of files follows it. */
const readDescriptor = async (reader: ChunkReader): Promise<number> => {
  const signature = Buffer.alloc(4)
  signature.writeUInt32LE(centralHeader)
  const length = (await reader.peek(maxDescriptorBytes + signature.length)).indexOf(signature)
  if (length < 12) throw new BodyError(bodyUnreadable)
  const descriptor = await reader.take(length)
  return descriptor.readUInt32LE(descriptor.readUInt32LE(0) === dataDescriptor ? 4 : 0)
}

const readOnlyFile = async function* (reader: ChunkReader): Body {
  const header = await reader.take(localHeaderBytes)
  const flags = header.readUInt16LE(6)
  const method = header.readUInt16LE(8)
  await reader.take(header.readUInt16LE(26) + header.readUInt16LE(28))
  const isReadable = method === deflated || (method === stored && (flags & hasDescriptor) === 0)
  if ((flags & isEncrypted) !== 0 || !isReadable) throw new BodyError(bodyUnreadable)
  let checksum = 0
  for await (const chunk of method === stored ? readStored(reader, header.readUInt32LE(18)) : inflate(reader)) {
    checksum = zlib.crc32(chunk, checksum)
    yield chunk
  }
  const expected = (flags & hasDescriptor) === 0 ? header.readUInt32LE(14) : await readDescriptor(reader)
  // Another file would begin with another header.
  const isOnly = (await reader.take(4)).readUInt32LE(0) === centralHeader
  if (checksum !== expected || !isOnly) throw new BodyError(bodyUnreadable)
  while ((await reader.takeChunk()) !== null);
}

const unzipChunks = async function* (body: Body, maxBytes: number): Body {
  const reader = new ChunkReader(body)
  const isArchive = await reader.startsWith(localSignature)
  let length = 0
  try {
    if (isArchive) {
      for await (const chunk of readOnlyFile(reader)) {
        length += chunk.length
        if (length > maxBytes) throw new BodyError(bodyTooLarge)
        yield chunk
      }
    } else for (let chunk = await reader.takeChunk(); chunk !== null; chunk = await reader.takeChunk()) yield chunk
  } finally {
    await body.return()
  }
}

/**
 * The only file of a ZIP archive, in constant memory; any other body unchanged. Reports are delivered as CSV or as an archive of it.
 *
 * @throws when it is read: BodyError for an archive that is cut, corrupt, encrypted or has several files, and for more than `maxBytes`; an error of zlib
 */
export const unzipFile = (body: Body, maxBytes: number): Body => cancellableBody(unzipChunks(body, maxBytes), () => body.return())
