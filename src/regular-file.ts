import { closeSync, constants, fstatSync, openSync, readFileSync, type Stats } from 'node:fs'
import { messageOf } from './message-of.ts'

/** What a file holds, or why it cannot be had; the reason names neither the path nor what stands there. */
export type FileRead<Content> = { readonly ok: true; readonly content: Content } | { readonly ok: false; readonly why: string }

const whys: Readonly<Partial<Record<string, string>>> = {
  ENOENT: 'there is no such file',
  ENOTDIR: 'there is no such file',
  EACCES: 'this process may not read it',
  EPERM: 'this process may not read it',
  EISDIR: 'it is a directory',
  ELOOP: 'its symbolic links lead in a circle',
  ENXIO: 'it is a socket; use a regular file',
}

const whyOf = (error: unknown): string => {
  const code = error instanceof Error && 'code' in error ? String(error.code) : messageOf(error)
  return `${whys[code] ?? 'it cannot be opened'} (${code})`
}

/** What is read holds up the whole process: a file of settings that is larger than this is the wrong one. */
const mostBytes = 16 * 2 ** 20

/** Null: it is a regular file. */
const kindOf = (stats: Stats): string | null => {
  if (stats.isFile()) return null
  if (stats.isDirectory()) return 'it is a directory'
  if (stats.isFIFO()) return 'it is a pipe, as process substitution makes one; use a regular file'
  return 'it is a device; use a regular file'
}

/**
 * Reads a regular file of at most 16 MiB, or the one that symbolic links lead to. Anything else is not read: a pipe that nobody writes to, or a
 * terminal, would hold up the whole process, and none of them could be read a second time.
 */
export const readRegularFile = (file: string): FileRead<Buffer> => {
  let descriptor: number | null = null
  try {
    // To open a pipe waits for somebody who writes; and what is opened is what was looked at.
    descriptor = openSync(file, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOCTTY)
    const stats = fstatSync(descriptor)
    const why = kindOf(stats) ?? (stats.size > mostBytes ? `it has more than ${mostBytes / 2 ** 20} MiB` : null)
    return why === null ? { ok: true, content: readFileSync(descriptor) } : { ok: false, why }
  } catch (error) {
    return { ok: false, why: whyOf(error) }
  } finally {
    if (descriptor !== null) closeSync(descriptor)
  }
}

/** As {@link readRegularFile}, the text of it, without the mark that some editors put in front; one in another encoding would be read as something else. */
export const readRegularText = (file: string): FileRead<string> => {
  const read = readRegularFile(file)
  if (!read.ok) return read
  try {
    return { ok: true, content: new TextDecoder('utf-8', { fatal: true }).decode(read.content) }
  } catch {
    return { ok: false, why: 'it is not in UTF-8' }
  }
}
