import { constants, copyFile, open, rm } from 'node:fs/promises'
import { errorMessage } from '../util/error-message.ts'

/** A log file that other programs write to through its descriptor. */
export interface BoundedLog {
  readonly fd: number
  /** Truncates it now if it is too large. */
  limitSize(): Promise<void>
  close(): Promise<void>
}

/** Limits of a log file. */
export interface BoundedLogOptions {
  /** Receives one line for the operator. */
  readonly say: (line: string) => void
  /** Above this size in bytes it is truncated; its content is kept once, as `.1`. */
  readonly maxBytes?: number
  /** Interval of the size check, in milliseconds. */
  readonly everyMs?: number
}

/**
 * Opens a log that only its owner can read, and limits its size. Its writers keep their descriptor, which is open for appending, so after a
 * truncation they continue at the beginning.
 * @throws the error of the file system when it cannot be opened, or is a symbolic link
 */
export const openBoundedLog = async (
  file: string,
  { say, maxBytes = 4_194_304, everyMs = 10_000 }: BoundedLogOptions,
): Promise<BoundedLog> => {
  const {
    O_APPEND: oAppend,
    O_CREAT: oCreat,
    O_NOFOLLOW: oNofollow = 0,
    O_WRONLY: oWronly,
    COPYFILE_EXCL: copyfileExcl,
  } = constants
  const handle = await open(file, oAppend | oCreat | oNofollow | oWronly, 0o600)
  const earlier = `${file}.1`
  const limitSize = async (): Promise<void> => {
    try {
      if ((await handle.stat()).size <= maxBytes) return
      await rm(earlier, { force: true })
      try {
        await copyFile(file, earlier, copyfileExcl)
      } finally {
        // Also when there was no space for the copy: then this file occupies it.
        await handle.truncate(0)
      }
    } catch (error) {
      say(`${file} cannot be limited in size: ${errorMessage(error)}`)
    }
  }
  await handle.chmod(0o600)
  await limitSize()
  let checking = Promise.resolve()
  const timer = setInterval(() => {
    checking = checking.then(limitSize)
  }, everyMs)
  timer.unref()
  return {
    fd: handle.fd,
    limitSize,
    close: async () => {
      clearInterval(timer)
      await checking
      await handle.close()
    },
  }
}
