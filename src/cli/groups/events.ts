import { type Command, Option } from 'commander'
import { eventStates } from '../../domain/events/event-shape.ts'
import { resolveReason, systemUser } from '../actor.ts'
import { parseCount } from '../arguments.ts'
import type { CommandRegistry } from '../command-registry.ts'
import { listEvents, rejectEvent, showEvent } from '../commands/erp-events.ts'

/** Adds `tallyman events`. */
export const addEvents = ({ program, defineCommand, runAction, process }: CommandRegistry): void => {
  const events = program.command('events').description('events received from the ERP')
  defineCommand(events, 'list', 'events, the latest first', { isDefault: true })
    .addOption(new Option('--state <state>', 'in this state').choices(eventStates))
    .option('--seller <id>', 'of this seller only')
    .option('--limit <number>', 'maximum number of entries', parseCount, 100)
    .action((options: { state?: string; seller?: string; limit: number }, command: Command) =>
      runAction(command, (context) =>
        listEvents(context, { state: options.state ?? null, sellerId: options.seller ?? null, limit: options.limit }),
      ),
    )
  defineCommand(events, 'show', 'an event with its commands, or why it waits or was rejected')
    .argument('<source>')
    .argument('<id>')
    .action((source: string, id: string, _options: object, command: Command) =>
      runAction(command, (context) => showEvent(context, { source, id })),
    )
  defineCommand(events, 'reject', 'rejects an event that waits; it creates no command')
    .argument('<source>')
    .argument('<id>')
    .option('--reason <text>', 'why; stored with the event')
    .option('--by <name>', 'who decides (default: the user of this system)')
    .action((source: string, id: string, options: { reason?: string; by?: string }, command: Command) =>
      runAction(command, async (context) => {
        const actor = options.by ?? systemUser(process.environment)
        return rejectEvent(context, { source, id, reason: await resolveReason(process, context, options.reason), actor })
      }),
    )
}
