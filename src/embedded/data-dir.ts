import { chmod, chown, mkdir, readdir, stat } from 'node:fs/promises'
import path from 'node:path'
import type { SystemUser } from './unprivileged-user.ts'

/** Whether there is a file or folder of this path. */
export const pathExists = async (file: string): Promise<boolean> => (await stat(file).catch(() => null)) !== null

/** Entries of a folder of ours; `lost+found` if it is a separate disk. */
const ours = /^(tallyman\.(pid|url)(\.\d+)?|postgres(\.[a-z0-9.]+)?|sandbox|lost\+found)$/

/**
 * Creates the folder of the embedded parts, accessible by its owner only: our own user, or `owner`, under whom Postgres runs if we are root. Restricts
 * the rights of an existing folder, unless it also contains other files: then `say` reports it.
 * @throws the error of the file system when it cannot be created
 */
export const makeDataDir = async (
  folder: string,
  { owner, say }: { readonly owner: SystemUser | null; readonly say: (line: string) => void },
): Promise<void> => {
  await mkdir(path.dirname(folder), { recursive: true })
  const isNew = await mkdir(folder, { mode: 0o700 }).then(
    () => true,
    (error: NodeJS.ErrnoException) => {
      if (error.code === 'EEXIST') return false
      throw error
    },
  )
  const { mode, uid } = await stat(folder)
  const wanted = owner?.uid ?? uid
  if ((mode & 0o077) === 0 && uid === wanted) return
  const me = process.getuid?.() ?? uid
  const foreign = isNew ? [] : (await readdir(folder)).filter((name) => !ours.test(name))
  if (foreign.length > 0 || (me !== 0 && me !== uid)) {
    if ((mode & 0o077) !== 0)
      say(
        `${folder} is accessible by other users of this machine; use a separate DATA_DIR for Tallyman, or restrict its rights (chmod 700)`,
      )
    return
  }
  if (owner !== null && uid !== wanted) await chown(folder, owner.uid, owner.gid)
  await chmod(folder, 0o700)
}
