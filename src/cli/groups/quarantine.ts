import type { Command } from 'commander'
import { parseCount } from '../arguments.ts'
import { Misused } from '../faults.ts'
import type { Program } from '../parts.ts'
import { reasonOf, systemUser } from '../person.ts'
import { dismissQuarantine, listQuarantine, replayQuarantine } from '../quarantine.ts'

/** Adds `tallyman quarantine`. */
export const addQuarantine = ({ program, leaf, act, process }: Program): void => {
  const quarantine = program.command('quarantine').description('records that could not be parsed')
  leaf(quarantine, 'list', 'quarantined records', { isDefault: true })
    .option('--limit <number>', 'maximum number of entries', parseCount, 100)
    .action((options: { limit: number }, command: Command) => act(command, (context) => listQuarantine(context, options.limit)))
  leaf(quarantine, 'replay', 'parses a record again after a fix')
    .argument('[id]')
    .option('--all', 'every record that is still open')
    .action((id: string | undefined, options: { all?: true }, command: Command) =>
      act(command, (context) => {
        if ((id === undefined) === (options.all === undefined)) throw new Misused('give the id of one record, or --all')
        return replayQuarantine(context, id ?? null)
      }),
    )
  leaf(quarantine, 'dismiss', 'settles a record that cannot be obtained; the same text, seen again, stays settled')
    .argument('<id>')
    .option('--reason <text>', 'why; stored with the record')
    .option('--by <name>', 'who decides (default: the user of this system)')
    .action((id: string, options: { reason?: string; by?: string }, command: Command) =>
      act(command, async (context) =>
        dismissQuarantine(context, {
          id,
          reason: await reasonOf(process, context, options.reason),
          actor: options.by ?? systemUser(process.environment),
        }),
      ),
    )
}
