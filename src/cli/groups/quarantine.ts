import type { Command } from 'commander'
import { Misused } from '../../api-client/errors.ts'
import { resolveReason, systemUser } from '../actor.ts'
import { parseCount } from '../arguments.ts'
import type { CommandRegistry } from '../command-registry.ts'
import { dismissQuarantine, listQuarantine, replayQuarantine } from '../commands/quarantine.ts'

/** Adds `tallyman quarantine`. */
export const addQuarantine = ({ program, defineCommand, runAction, process }: CommandRegistry): void => {
  const quarantine = program.command('quarantine').description('records that could not be parsed')
  defineCommand(quarantine, 'list', 'quarantined records', { isDefault: true })
    .option('--limit <number>', 'maximum number of entries', parseCount, 100)
    .action((options: { limit: number }, command: Command) =>
      runAction(command, (context) => listQuarantine(context, options.limit)),
    )
  defineCommand(quarantine, 'replay', 'parses a record again after a fix')
    .argument('[id]')
    .option('--all', 'every record that is still open')
    .action((id: string | undefined, options: { all?: true }, command: Command) =>
      runAction(command, (context) => {
        if ((id === undefined) === (options.all === undefined)) throw new Misused('give the id of one record, or --all')
        return replayQuarantine(context, id ?? null)
      }),
    )
  defineCommand(
    quarantine,
    'dismiss',
    'settles a record that cannot be obtained; the same text stays settled when it is received again',
  )
    .argument('<id>')
    .option('--reason <text>', 'why; stored with the record')
    .option('--by <name>', 'who decides (default: the user of this system)')
    .action((id: string, options: { reason?: string; by?: string }, command: Command) =>
      runAction(command, async (context) =>
        dismissQuarantine(context, {
          id,
          reason: await resolveReason(process, context, options.reason),
          actor: options.by ?? systemUser(process.environment),
        }),
      ),
    )
}
