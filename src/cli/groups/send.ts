import type { Command } from 'commander'
import type { CommandRegistry } from '../command-registry.ts'
import { forecastEvents, sendEvents } from '../commands/send.ts'

/** Adds `tallyman send`. */
export const addSend = ({ program, defineCommand, runAction, process }: CommandRegistry): void => {
  defineCommand(program, 'send', 'posts ERP events, signed when EVENTS_SECRET is set')
    .argument('<event.json>', 'a CloudEvent or a list of them; - reads standard input')
    .option('--dry-run', 'shows what the events would do now, and stores nothing')
    .action((file: string, { dryRun }: { dryRun?: true }, command: Command) =>
      runAction(command, (context) => (dryRun ? forecastEvents : sendEvents)(context, file, process.readInput)),
    )
}
