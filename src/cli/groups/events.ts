import { type Command, Option } from 'commander'
import { eventStates } from '../../domain/event-shape.ts'
import { parseCount } from '../arguments.ts'
import { listEvents, rejectEvent, showEvent } from '../erp-events.ts'
import type { Program } from '../parts.ts'
import { reasonOf, systemUser } from '../person.ts'

/** Adds `tallyman events`. */
export const addEvents = ({ program, leaf, act, process }: Program): void => {
  const events = program.command('events').description('events received from the ERP')
  leaf(events, 'list', 'events, the latest first', { isDefault: true })
    .addOption(new Option('--state <state>', 'in this state').choices(eventStates))
    .option('--seller <id>', 'of this seller only')
    .option('--limit <number>', 'maximum number of entries', parseCount, 100)
    .action((options: { state?: string; seller?: string; limit: number }, command: Command) =>
      act(command, (context) =>
        listEvents(context, { state: options.state ?? null, sellerId: options.seller ?? null, limit: options.limit }),
      ),
    )
  leaf(events, 'show', 'an event with its commands, or why it waits or was rejected')
    .argument('<source>')
    .argument('<id>')
    .action((source: string, id: string, _options: object, command: Command) =>
      act(command, (context) => showEvent(context, { source, id })),
    )
  leaf(events, 'reject', 'rejects an event that waits; it creates no command')
    .argument('<source>')
    .argument('<id>')
    .option('--reason <text>', 'why; stored with the event')
    .option('--by <name>', 'who decides (default: the user of this system)')
    .action((source: string, id: string, options: { reason?: string; by?: string }, command: Command) =>
      act(command, async (context) => {
        const actor = options.by ?? systemUser(process.environment)
        return rejectEvent(context, { source, id, reason: await reasonOf(process, context, options.reason), actor })
      }),
    )
}
