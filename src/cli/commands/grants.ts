import { describeError, Failed, Misused } from '../../api-client/errors.ts'
import { type Granted, grant, grantsScript, isDenied } from '../../store/db/grants.ts'
import type { CliContext } from '../context.ts'
import { print, printJson } from '../output/terminal.ts'

const deniedNotes = ['run it as the owner of the tables, or have an administrator run the output of `tallyman grants --print`']

/**
 * `tallyman grants`: creates the roles and grants their rights, or prints the SQL.
 * @throws Failed when this login lacks the rights, or a role cannot be created
 */
export const runGrants = async ({ terminal, settings }: CliContext, onlyPrint: boolean): Promise<void> => {
  if (onlyPrint) {
    const sql = await grantsScript()
    return terminal.json ? printJson(terminal, { sql }) : print(terminal, sql)
  }
  if (settings.sessionUrl === null) throw new Misused('DATABASE_URL is unset; --print works without it')
  const result = await grantRights(settings.sessionUrl)
  if (terminal.json) printJson(terminal, result)
  else for (const role of result.granted) print(terminal, `${role} has its rights`)
  if (result.missing.length > 0) throw new Failed(`this login may not create ${result.missing.join(', ')}`, deniedNotes)
}

const grantRights = async (databaseUrl: string): Promise<Granted> => {
  try {
    return await grant(databaseUrl)
  } catch (error) {
    const notes = isDenied(error) ? deniedNotes : ['check DATABASE_URL, and that `tallyman migrate` has run there']
    throw new Failed(`the rights could not be granted: ${describeError(error)}`, notes, { cause: error })
  }
}
