import fc from 'fast-check'
import { expect, test } from 'vitest'
import { zip } from '../../sandbox/core/zip.ts'
import type { Body } from '../../src/clients/http/body.ts'
import { unzipFile } from '../../src/clients/http/files/unzip.ts'

const maxBytes = 10_000_000

/** The bytes in chunks of this length. */
const inChunks = async function* (bytes: Uint8Array, length: number): Body {
  for (let at = 0; at < bytes.length; at += length) yield bytes.subarray(at, at + length)
}

const read = async (bytes: Uint8Array, chunkLength = 7, limit = maxBytes): Promise<string> => {
  const pieces: Uint8Array[] = []
  for await (const piece of unzipFile(inChunks(bytes, chunkLength), limit)) pieces.push(piece)
  return Buffer.concat(pieces).toString('utf8')
}

/** An archive without sizes in the header of its file, as one that was written as a stream. */
const streamedArchive = (text: string, signed: boolean): Buffer => {
  const whole = zip({ 'report.csv': text })
  const dataAt = 30 + 'report.csv'.length
  const dataEnd = whole.indexOf(Buffer.from('PK\x01\x02'))
  const header = Buffer.from(whole.subarray(0, dataAt))
  const descriptor = Buffer.concat([signed ? Buffer.from('PK\x07\x08') : Buffer.alloc(0), header.subarray(14, 26)])
  header.writeUInt16LE(0x8, 6)
  header.fill(0, 14, 26)
  return Buffer.concat([header, whole.subarray(dataAt, dataEnd), descriptor, whole.subarray(dataEnd)])
}

/** An archive whose file is not compressed. */
const storedArchive = (text: string): Buffer => {
  const whole = zip({ 'report.csv': text })
  const content = Buffer.from(text)
  const header = Buffer.from(whole.subarray(0, 30 + 'report.csv'.length))
  header.writeUInt16LE(0, 8)
  header.writeUInt32LE(content.length, 18)
  return Buffer.concat([header, content, whole.subarray(whole.indexOf(Buffer.from('PK\x01\x02')))])
}

const csv = `SKU,Units\n${'A,1\n'.repeat(5_000)}`

test('any other file is not changed, in chunks of any size', async () => {
  await fc.assert(
    fc.asyncProperty(fc.uint8Array({ maxLength: 200 }), fc.integer({ min: 1, max: 9 }), async (bytes, length) => {
      const pieces: Uint8Array[] = []
      // A ZIP archive begins with this letter.
      const plain = Uint8Array.from([0x41, ...bytes])
      for await (const piece of unzipFile(inChunks(plain, length), maxBytes)) pieces.push(piece)
      expect(Uint8Array.from(Buffer.concat(pieces))).toEqual(plain)
    }),
  )
  expect(await read(Buffer.alloc(0))).toBe('')
  expect(await read(Buffer.from('PK'))).toBe('PK')
})

test('the only file of an archive, in chunks of any size', async () => {
  const archive = zip({ 'report.csv': csv })
  await fc.assert(
    fc.asyncProperty(fc.integer({ min: 1, max: archive.length }), async (length) => {
      expect(await read(archive, length)).toBe(csv)
    }),
    { numRuns: 40 },
  )
  expect(await read(zip({ 'report.csv': '' }))).toBe('')
})

test.each([
  ['with a descriptor', streamedArchive(csv, true)],
  ['with a descriptor that is not signed', streamedArchive(csv, false)],
  ['that is not compressed', storedArchive(csv)],
])('an archive %s', async (_name, archive) => {
  expect(await read(archive)).toBe(csv)
})

// Written by the module zipfile of Python, to a stream: with a descriptor.
test('an archive of another program', async () => {
  const archive = [
    'UEsDBBQACAAIAAAAdV0AAAAAAAAAAAAAAAAKAAAAcmVwb3J0LmNzdgv2DtUJzcssKeZy1DFEwQBQSwcIYBlSxRAAAAAaAAAAUEsB',
    'AhQDFAAIAAgAAAB1XWAZUsUQAAAAGgAAAAoAAAAAAAAAAAAAAIABAAAAAHJlcG9ydC5jc3ZQSwUGAAAAAAEAAQA4AAAASAAAAAAA',
  ]
  expect(await read(Buffer.from(archive.join(''), 'base64'))).toBe(`SKU,Units\n${'A,1\n'.repeat(4)}`)
})

test.each([
  ['of two files', zip({ 'one.csv': csv, 'two.csv': csv })],
  ['that is cut within the data', zip({ 'report.csv': csv }).subarray(0, 60)],
  ['that is cut behind the data', zip({ 'report.csv': csv }).subarray(0, zip({ 'report.csv': csv }).indexOf('PK\x01\x02'))],
  ['with another checksum', Buffer.from(zip({ 'report.csv': csv }).fill(0xff, 14, 18))],
  ['that is encrypted', Buffer.from(zip({ 'report.csv': csv }).fill(1, 6, 7))],
  ['with an unknown compression', Buffer.from(zip({ 'report.csv': csv }).fill(9, 8, 9))],
])('an archive %s is unreadable', async (_name, archive) => {
  await expect(read(archive)).rejects.toThrow('BODY_UNREADABLE')
})

test('corrupt data is unreadable', async () => {
  const archive = zip({ 'report.csv': csv })
  await expect(read(archive.fill(0xff, 45, 60))).rejects.toThrow()
})

test('an archive that is larger than allowed is refused before it is decompressed as a whole', async () => {
  await expect(read(zip({ 'report.csv': 'A'.repeat(2_000_000) }), 100, 100_000)).rejects.toThrow('BODY_TOO_LARGE')
})
