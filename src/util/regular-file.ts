import { closeSync, constants, fstatSync, openSync, readFileSync, type Stats } from 'node:fs'
import { errorMessage } from './error-message.ts'

/** The content of a file, or the reason why it cannot be read. The reason contains neither the path nor the content. */
export type FileRead<Content> = { readonly ok: true; readonly content: Content } | { readonly ok: false; readonly why: string }

const reasons: Readonly<Partial<Record<string, string>>> = {
  ENOENT: 'there is no such file',
  ENOTDIR: 'there is no such file',
  EACCES: 'this process may not read it',
  EPERM: 'this process may not read it',
  EISDIR: 'it is a directory',
  ELOOP: 'its symbolic links lead in a circle',
  ENXIO: 'it is a socket; use a regular file',
}

const describeError = (error: unknown): string => {
  const code = error instanceof Error && 'code' in error ? String(error.code) : errorMessage(error)
  return `${reasons[code] ?? 'it cannot be opened'} (${code})`
}

/** Reading blocks the process; a larger file is not a file of settings. */
const maxBytes = 16 * 2 ** 20

/** Why it is not a regular file; null: it is one. */
const findKind = (stats: Stats): string | null => {
  if (stats.isFile()) return null
  if (stats.isDirectory()) return 'it is a directory'
  if (stats.isFIFO()) return 'it is a pipe, as process substitution makes one; use a regular file'
  return 'it is a device; use a regular file'
}

/**
 * Reads a regular file of at most 16 MiB; symbolic links are followed. Other kinds are not read: a pipe without a writer or a terminal would block the
 * process, and could not be read a second time.
 */
export const readRegularFile = (file: string): FileRead<Buffer> => {
  let descriptor: number | null = null
  try {
    // Without O_NONBLOCK, opening a pipe waits for a writer. The checks use the descriptor, so they apply to the file that is read.
    descriptor = openSync(file, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOCTTY)
    const stats = fstatSync(descriptor)
    const why = findKind(stats) ?? (stats.size > maxBytes ? `it has more than ${maxBytes / 2 ** 20} MiB` : null)
    return why === null ? { ok: true, content: readFileSync(descriptor) } : { ok: false, why }
  } catch (error) {
    return { ok: false, why: describeError(error) }
  } finally {
    if (descriptor !== null) closeSync(descriptor)
  }
}

/** Reads a regular file as UTF-8 text without its byte order mark; see {@link readRegularFile}. Other encodings are an error. */
export const readRegularText = (file: string): FileRead<string> => {
  const read = readRegularFile(file)
  if (!read.ok) return read
  try {
    return { ok: true, content: new TextDecoder('utf-8', { fatal: true }).decode(read.content) }
  } catch {
    return { ok: false, why: 'it is not in UTF-8' }
  }
}
