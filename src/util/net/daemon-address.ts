import { readFileSync } from 'node:fs'
import { readFile, rename, rm, writeFile } from 'node:fs/promises'
import path from 'node:path'

/** The file in DATA_DIR with the address at which its daemon listens. */
export const addressFile = 'tallyman.url'

const buildPath = (dataDir: string): string => path.join(dataDir, addressFile)

const isOutOfReach = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && ['ENOENT', 'ENOTDIR', 'EACCES', 'EPERM'].includes(String(error.code))

/** The address of the daemon with this DATA_DIR, also of one that was killed; null if there is none, or this user may not read it. */
export const readDaemonAddress = (dataDir: string): string | null => {
  try {
    const text = readFileSync(buildPath(dataDir), 'utf8').trim()
    return URL.canParse(text) ? text : null
  } catch (error) {
    if (isOutOfReach(error)) return null
    throw error
  }
}

/**
 * Writes the address of this daemon, for the command line on the same machine.
 * @returns the function that removes it, unless another daemon has replaced it
 * @throws the error of the file system
 */
export const writeDaemonAddress = async (dataDir: string, url: string): Promise<() => Promise<void>> => {
  const file = buildPath(dataDir)
  // Replaced atomically: a reader sees the old or the new address.
  const temporary = `${file}.${process.pid}`
  await writeFile(temporary, `${url}\n`, { mode: 0o600 })
  await rename(temporary, file)
  return async () => {
    const text = await readFile(file, 'utf8').catch(() => '')
    if (text.trim() === url) await rm(file, { force: true })
  }
}
