import { readFileSync } from 'node:fs'
import { readFile, rename, rm, writeFile } from 'node:fs/promises'
import path from 'node:path'

/** The file in DATA_DIR that says where the daemon which uses it listens. */
export const addressFile = 'tallyman.url'

const pathOf = (dataDir: string): string => path.join(dataDir, addressFile)

const isOutOfReach = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && ['ENOENT', 'ENOTDIR', 'EACCES', 'EPERM'].includes(String(error.code))

/** Where the daemon with this DATA_DIR listens, or did when it was killed; null when no daemon says so, or this user may not read it. */
export const readDaemonAddress = (dataDir: string): string | null => {
  try {
    const text = readFileSync(pathOf(dataDir), 'utf8').trim()
    return URL.canParse(text) ? text : null
  } catch (error) {
    if (isOutOfReach(error)) return null
    throw error
  }
}

/**
 * Writes where this daemon listens, for the command line on the same machine.
 * @returns what takes it back, unless another daemon has written its own meanwhile
 * @throws the fault of the file system
 */
export const writeDaemonAddress = async (dataDir: string, url: string): Promise<() => Promise<void>> => {
  const file = pathOf(dataDir)
  // Replaced at once: a reader sees one address or the other.
  const half = `${file}.${process.pid}`
  await writeFile(half, `${url}\n`, { mode: 0o600 })
  await rename(half, file)
  return async () => {
    const text = await readFile(file, 'utf8').catch(() => '')
    if (text.trim() === url) await rm(file, { force: true })
  }
}
