import { promisify } from 'node:util'
import zlib from 'node:zlib'
import type { SqlRunner } from '../db/database.ts'
import { findSqlState } from '../db/errors.ts'

/** Uncompressed bytes of a chunk: small enough to keep several in memory, large enough to compress well. */
const chunkBytes = 256 * 1024

const pack = promisify<Uint8Array, Buffer>(zlib.gzip)
const unpack = promisify<Uint8Array, Buffer>(zlib.gunzip)

/** SQLSTATE: the report of the file does not exist. */
const foreignKeyViolation = '23503'

/** A completely stored file. */
export interface ReportFile {
  readonly reportId: bigint
  readonly byteCount: number
}

/** The file is no longer stored: it was imported or deleted meanwhile. */
export class ReportFileRemoved extends Error {
  override readonly name = 'ReportFileGone'
  constructor(reportId: bigint) {
    super(`the file of report ${reportId} is no longer stored`)
  }
}

const writeChunk = async (
  { prisma }: SqlRunner,
  reportId: bigint,
  chunk: number,
  firstByte: number,
  bytes: Uint8Array,
): Promise<void> => {
  const packed = Uint8Array.from(await pack(bytes))
  try {
    await prisma.reportFile.createMany({ data: [{ reportId, chunk, firstByte, bytes: packed }] })
  } catch (error) {
    throw findSqlState(error) === foreignKeyViolation ? new ReportFileRemoved(reportId) : error
  }
}

/**
 * Stores a file while it is received, one chunk at a time, each in its own transaction. Returns its uncompressed size in bytes.
 * @throws ReportFileRemoved if its report was deleted meanwhile
 */
export const writeReportFile = async (sql: SqlRunner, reportId: bigint, body: AsyncIterable<Uint8Array>): Promise<number> => {
  let waiting: Uint8Array[] = []
  let waitingBytes = 0
  let chunk = 0
  let stored = 0
  const flush = async (): Promise<void> => {
    if (waitingBytes === 0) return
    const bytes = Buffer.concat(waiting)
    waiting = []
    waitingBytes = 0
    await writeChunk(sql, reportId, chunk, stored, bytes)
    chunk += 1
    stored += bytes.length
  }
  for await (const piece of body) {
    waiting.push(piece)
    waitingBytes += piece.length
    if (waitingBytes >= chunkBytes) await flush()
  }
  await flush()
  return stored
}

/**
 * A stored file from this byte on, one chunk at a time.
 * @throws ReportFileRemoved
 */
export const readReportFile = async function* (
  { prisma }: SqlRunner,
  { reportId, byteCount }: ReportFile,
  from = 0,
): AsyncGenerator<Uint8Array, void, undefined> {
  let position = from
  while (position < byteCount) {
    const row = await prisma.reportFile.findFirst({
      where: { reportId, firstByte: { lte: position } },
      orderBy: { chunk: 'desc' },
      select: { firstByte: true, bytes: true },
    })
    if (row === null) throw new ReportFileRemoved(reportId)
    const bytes = await unpack(row.bytes)
    const skipped = position - Number(row.firstByte)
    // The last stored chunk ends before the file.
    if (skipped >= bytes.length) throw new ReportFileRemoved(reportId)
    yield bytes.subarray(skipped)
    position += bytes.length - skipped
  }
}
