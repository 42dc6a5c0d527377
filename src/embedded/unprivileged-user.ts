import { execFile } from 'node:child_process'
import { readFile, stat } from 'node:fs/promises'
import path from 'node:path'
import { promisify } from 'node:util'

/** Numeric ids of a user of this system. */
export interface SystemUser {
  readonly name: string
  readonly uid: number
  readonly gid: number
}

const candidates = ['postgres', 'tallyman']

const find = async (): Promise<SystemUser | null> => {
  const passwd = (await readFile('/etc/passwd', 'utf8')).split('\n').map((line) => line.split(':'))
  for (const name of candidates) {
    const [, , uid, gid] = passwd.find((fields) => fields[0] === name) ?? []
    if (uid !== undefined && gid !== undefined) return { name, uid: Number(uid), gid: Number(gid) }
  }
  return null
}

/**
 * The user under which Postgres runs when we are root, since it refuses to run as root: `postgres` or `tallyman`, created if
 * neither exists. Returns null when we are not root.
 * @throws Error when no such user can be created
 */
export const unprivilegedUser = async (): Promise<SystemUser | null> => {
  if (process.getuid?.() !== 0) return null
  const found = await find()
  if (found !== null) return found
  try {
    await promisify(execFile)('useradd', ['--system', '--user-group', '--no-create-home', 'tallyman'])
  } catch (error) {
    throw new Error(
      'Postgres does not run as root, and no user `postgres` or `tallyman` could be created: run Tallyman as an ordinary user, or set DATABASE_URL',
      { cause: error },
    )
  }
  const made = await find()
  if (made === null) throw new Error('the user `tallyman` was created but is not in /etc/passwd: set DATABASE_URL')
  return made
}

/** True if `user` can access `target` and every folder above it. A `target` that does not exist yet counts as accessible. */
export const canReach = async (user: SystemUser, target: string): Promise<boolean> => {
  const absolute = path.resolve(target)
  const folders = absolute.split(path.sep).map((_, index, parts) => parts.slice(0, index + 1).join(path.sep) || path.sep)
  for (const folder of folders) {
    const facts = await stat(folder).catch(() => null)
    if (facts === null) return true
    const bit = facts.uid === user.uid ? 0o100 : facts.gid === user.gid ? 0o010 : 0o001
    if ((facts.mode & bit) === 0) return false
  }
  return true
}
