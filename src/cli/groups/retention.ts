import type { Command } from 'commander'
import { parseSeconds } from '../arguments.ts'
import type { Program } from '../parts.ts'
import { runRetention, showRetention } from '../retention.ts'

/** Adds `tallyman retention`. */
export const addRetention = ({ program, leaf, act }: Program): void => {
  const retention = program.command('retention').description('how long data is kept (RETAIN_…)')
  leaf(retention, 'show', 'what is stored, for how long, and what is due for removal', { isDefault: true }).action(
    (_options: object, command: Command) => act(command, showRetention),
  )
  leaf(retention, 'run', 'removes now what is older than the settings say')
    .option('--wait <seconds>', 'how long it waits while no process is at it', parseSeconds, 60)
    .action(({ wait }: { wait: number }, command: Command) => act(command, (context) => runRetention(context, wait * 1_000)))
}
