import type { Command } from 'commander'
import type { Program } from '../parts.ts'
import { forecastEvents, sendEvents } from '../send.ts'

/** Adds `tallyman send`. */
export const addSend = ({ program, leaf, act, process }: Program): void => {
  leaf(program, 'send', 'posts ERP events, signed when EVENTS_SECRET is set')
    .argument('<event.json>', 'a CloudEvent or a list of them; - reads standard input')
    .option('--dry-run', 'shows what the events would do now, and stores nothing')
    .action((file: string, { dryRun }: { dryRun?: true }, command: Command) =>
      act(command, (context) => (dryRun ? forecastEvents : sendEvents)(context, file, process.readInput)),
    )
}
