import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import path from 'node:path'

/** Folder that root uses for files that an unprivileged Postgres cannot access inside a private folder. */
export const sharedHome = '/var/lib/tallyman'

/** The folder for the data of `folder`, if the user of Postgres cannot reach that. */
export const sharedFolder = (folder: string): string =>
  `${sharedHome}/data-${createHash('sha256').update(folder).digest('hex').slice(0, 12)}`

/** Address of a database of an embedded Postgres. */
export const buildAddress = (port: number | string, password: string, database: string): string =>
  `postgresql://tallyman:${password}@127.0.0.1:${port}/${database}`

/**
 * The same without the password, which libpq (`psql`, `pg_dump`) reads from `passwordFile`. Safe in a log, and between single quotes in a shell.
 */
export const buildShownAddress = (port: number | string, passwordFile: string): string =>
  `postgresql://tallyman@127.0.0.1:${port}/tallyman?passfile=${encodeURIComponent(passwordFile).replaceAll('%2F', '/')}`

/** The address of a database without its password, which may be in the authority or a parameter. */
export const withoutPassword = (url: string): string => {
  const shown = new URL(url)
  shown.password = ''
  shown.searchParams.delete('password')
  return shown.href
}

const isUnreadable = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && (error.code === 'ENOENT' || error.code === 'EACCES')

/** Address of the embedded Postgres that a daemon runs in `dataDir`; null if none runs there, or this user may not read the folder. */
export const embeddedAddress = async (dataDir: string): Promise<string | null> => {
  const own = path.resolve(dataDir)
  for (const folder of [own, sharedFolder(own)]) {
    try {
      const password = (await readFile(`${folder}/postgres.password`, 'utf8')).trim()
      const port = (await readFile(`${folder}/postgres/postmaster.pid`, 'utf8')).split('\n')[3]
      if (port !== undefined && /^\d+$/.test(port)) return buildAddress(port, password, 'tallyman')
    } catch (error) {
      if (!isUnreadable(error)) throw error
    }
  }
  return null
}
