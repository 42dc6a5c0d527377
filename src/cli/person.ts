import { userInfo } from 'node:os'
import type { CliContext, CliProcess } from './context.ts'
import { Misused } from './faults.ts'
import { write } from './terminal.ts'

/** Who acts, where `--by` does not say it: the user of this system. */
export const systemUser = (environment: CliProcess['environment']): string => {
  try {
    return userInfo().username
  } catch {
    // A user id without an entry in the password file, as in containers.
    return environment['USER'] ?? 'unknown'
  }
}

/**
 * The reason of an act: as given, or as it is typed in at a terminal.
 * @throws Misused when there is none
 */
export const reasonOf = async (process: CliProcess, { terminal }: CliContext, given: string | undefined): Promise<string> => {
  if (given !== undefined) return given
  if (!process.isInteractive || terminal.json) throw new Misused("required option '--reason <text>' not specified")
  write(process.talk, 'Reason: ')
  const said = (await process.readLine()).trim()
  if (said === '') throw new Misused('a reason is required; nothing was done')
  return said
}
