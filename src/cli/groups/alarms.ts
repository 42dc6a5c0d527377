import type { Command } from 'commander'
import { resolveReason, systemUser } from '../actor.ts'
import { parseCount, parseTime } from '../arguments.ts'
import type { CommandRegistry } from '../command-registry.ts'
import { listAlarms, resolveAlarm, silenceAlarm } from '../commands/alarms/alarms.ts'
import { addAlarmChannels } from './alarm-channels.ts'

/** Adds `tallyman alarms`. */
export const addAlarms = (registry: CommandRegistry): void => {
  const { program, defineCommand, runAction, process } = registry
  const alarms = program.command('alarms').description('conditions that need attention')
  defineCommand(alarms, 'list', 'open alarms, the latest first', { isDefault: true })
    .option('--limit <number>', 'maximum number of entries', parseCount, 100)
    .action((options: { limit: number }, command: Command) => runAction(command, (context) => listAlarms(context, options.limit)))
  defineCommand(alarms, 'resolve', 'closes the alarm of a past incident, such as a rejected command or event')
    .argument('<id>')
    .option('--reason <text>', 'why; recorded in the audit')
    .option('--by <name>', 'who checked it (default: the user of this system)')
    .action((id: string, options: { reason?: string; by?: string }, command: Command) =>
      runAction(command, (context) =>
        resolveAlarm(context, { id, actor: options.by ?? systemUser(process.environment), reason: options.reason ?? null }),
      ),
    )
  defineCommand(alarms, 'silence', 'silences an open alarm until a given time; it stays open')
    .argument('<id>')
    .requiredOption('--until <date>', 'date, or date and time, at which the silence ends', parseTime)
    .option('--reason <text>', 'why; recorded in the audit')
    .option('--by <name>', 'who decides (default: the user of this system)')
    .action((id: string, options: { until: Date; reason?: string; by?: string }, command: Command) =>
      runAction(command, async (context) =>
        silenceAlarm(context, {
          id,
          actor: options.by ?? systemUser(process.environment),
          reason: await resolveReason(process, context, options.reason),
          until: options.until,
        }),
      ),
    )
  addAlarmChannels(alarms, registry)
}
