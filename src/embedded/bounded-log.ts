import { constants, copyFile, open, rm } from 'node:fs/promises'

/** A log file that other programs write to, by its descriptor. */
export interface BoundedLog {
  readonly fd: number
  /** Looks now whether it has grown too large. */
  look(): Promise<void>
  close(): Promise<void>
}

/** What a log file may become. */
export interface BoundedLogOptions {
  /** One line for a person. */
  readonly say: (line: string) => void
  /** Beyond so many bytes it begins anew; what was there is kept once, as `.1`. */
  readonly mostBytes?: number
  /** It is looked at this often, in milliseconds. */
  readonly everyMs?: number
}

/**
 * Opens a log for its owner's eyes alone and keeps it from growing for ever. Those who write to it keep the descriptor that they were given: it
 * is open for appending, so after the file was cut they go on at its beginning.
 * @throws the fault of the file system when it cannot be opened, or is a symbolic link
 */
export const openBoundedLog = async (
  file: string,
  { say, mostBytes = 4_194_304, everyMs = 10_000 }: BoundedLogOptions,
): Promise<BoundedLog> => {
  const { O_APPEND, O_CREAT, O_NOFOLLOW = 0, O_WRONLY, COPYFILE_EXCL } = constants
  const handle = await open(file, O_APPEND | O_CREAT | O_NOFOLLOW | O_WRONLY, 0o600)
  const earlier = `${file}.1`
  const look = async (): Promise<void> => {
    try {
      if ((await handle.stat()).size <= mostBytes) return
      await rm(earlier, { force: true })
      try {
        await copyFile(file, earlier, COPYFILE_EXCL)
      } finally {
        // Also when there was no room for the copy: then it is this file that takes it.
        await handle.truncate(0)
      }
    } catch (error) {
      say(`${file} cannot be kept small: ${error instanceof Error ? error.message : String(error)}`)
    }
  }
  await handle.chmod(0o600)
  await look()
  let looking = Promise.resolve()
  const timer = setInterval(() => {
    looking = looking.then(look)
  }, everyMs)
  timer.unref()
  return {
    fd: handle.fd,
    look,
    close: async () => {
      clearInterval(timer)
      await looking
      await handle.close()
    },
  }
}
