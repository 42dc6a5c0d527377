import type { Command } from 'commander'
import { listAlarms, resolveAlarm, silenceAlarm } from '../alarms.ts'
import { parseCount, parseMoment } from '../arguments.ts'
import type { Program } from '../parts.ts'
import { reasonOf, systemUser } from '../person.ts'

/** Adds `tallyman alarms`. */
export const addAlarms = ({ program, leaf, act, process }: Program): void => {
  const alarms = program.command('alarms').description('what needs attention')
  leaf(alarms, 'list', 'open alarms, the latest first', { isDefault: true })
    .option('--limit <number>', 'maximum number of entries', parseCount, 100)
    .action((options: { limit: number }, command: Command) => act(command, (context) => listAlarms(context, options.limit)))
  leaf(alarms, 'resolve', 'closes the alarm of a past incident, such as a rejected command or event')
    .argument('<id>')
    .option('--reason <text>', 'what came of it; recorded in the audit')
    .option('--by <name>', 'who checked it (default: the user of this system)')
    .action((id: string, options: { reason?: string; by?: string }, command: Command) =>
      act(command, (context) =>
        resolveAlarm(context, { id, actor: options.by ?? systemUser(process.environment), reason: options.reason ?? null }),
      ),
    )
  leaf(alarms, 'silence', 'silences an open alarm until a moment; it stays open')
    .argument('<id>')
    .requiredOption('--until <date>', 'day, or moment, at which it ends', parseMoment)
    .option('--reason <text>', 'why; recorded in the audit')
    .option('--by <name>', 'who decides (default: the user of this system)')
    .action((id: string, options: { until: Date; reason?: string; by?: string }, command: Command) =>
      act(command, async (context) =>
        silenceAlarm(context, {
          id,
          actor: options.by ?? systemUser(process.environment),
          reason: await reasonOf(process, context, options.reason),
          until: options.until,
        }),
      ),
    )
}
