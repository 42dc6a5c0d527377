import type { Command } from 'commander'
import { parseSeconds } from '../arguments.ts'
import type { CommandRegistry } from '../command-registry.ts'
import { runRetention, showRetention } from '../commands/retention.ts'

/** Adds `tallyman retention`. */
export const addRetention = ({ program, defineCommand, runAction }: CommandRegistry): void => {
  const retention = program.command('retention').description('how long data is kept (RETAIN_…)')
  defineCommand(retention, 'show', 'stored data, retention periods, and data that is due for removal', {
    isDefault: true,
  }).action((_options: object, command: Command) => runAction(command, showRetention))
  defineCommand(retention, 'run', 'removes data that is older than the settings allow, now')
    .option('--wait <seconds>', 'how long it waits while no process works on it', parseSeconds, 60)
    .action(({ wait }: { wait: number }, command: Command) =>
      runAction(command, (context) => runRetention(context, wait * 1_000)),
    )
}
