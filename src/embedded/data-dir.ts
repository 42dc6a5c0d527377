import { chmod, chown, mkdir, readdir, stat } from 'node:fs/promises'
import path from 'node:path'
import type { SystemUser } from './unprivileged-user.ts'

/** What stands in a folder of ours; `lost+found` in one that is a disk of its own. */
const ours = /^(tallyman\.pid|postgres(\.[a-z0-9.]+)?|sandbox|lost\+found)$/

/**
 * Makes the folder where the embedded parts keep their files, for its owner's eyes alone: our own user, or `owner`, the one under whom Postgres
 * runs when we are root. A folder of an earlier version is closed to others; one that holds files of somebody else too is left as it is, and
 * `say` tells so.
 * @throws the fault of the file system when it cannot be made
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
      say(`${folder} is open to other users of this machine; give Tallyman a DATA_DIR of its own, or close it (chmod 700)`)
    return
  }
  if (owner !== null && uid !== wanted) await chown(folder, owner.uid, owner.gid)
  await chmod(folder, 0o700)
}
