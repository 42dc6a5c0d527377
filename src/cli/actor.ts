import { userInfo } from 'node:os'
import { Misused } from '../api-client/errors.ts'
import type { CliContext, CliProcess } from './context.ts'
import { write } from './output/terminal.ts'

/** The default of `--by`: the user of this system. */
export const systemUser = (environment: CliProcess['environment']): string => {
  try {
    return userInfo().username
  } catch {
    // In containers the user id may have no entry in the password file.
    return environment['USER'] ?? 'unknown'
  }
}

/**
 * The reason of an action: the given one, or the one that is entered at the terminal.
 * @throws Misused when there is none
 */
export const resolveReason = async (
  process: CliProcess,
  { terminal }: CliContext,
  given: string | undefined,
): Promise<string> => {
  if (given !== undefined) return given
  if (!process.isInteractive || terminal.json) throw new Misused("required option '--reason <text>' not specified")
  write(process.messages, 'Reason: ')
  const entered = (await process.readLine()).trim()
  if (entered === '') throw new Misused('a reason is required; nothing was done')
  return entered
}
