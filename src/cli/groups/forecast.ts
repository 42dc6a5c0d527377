import type { Command } from 'commander'
import { maxForecastHours } from '../../domain/commands/forecast-answer.ts'
import { parseHours } from '../arguments.ts'
import type { CommandRegistry } from '../command-registry.ts'
import { showForecast } from '../commands/forecast.ts'

/** Adds `tallyman forecast`. */
export const addForecast = ({ program, defineCommand, runAction }: CommandRegistry): void => {
  defineCommand(program, 'forecast', 'when commands are sent and backfills end, and which ship-by dates are at risk')
    .option('--seller <id>', 'of this seller only')
    .option('--hours <number>', `length of the forecast in hours, up to ${maxForecastHours}`, parseHours, 24)
    .option('--command <id>', 'also shows the position and time of this open command')
    .action((options: Parameters<typeof showForecast>[1], command: Command) =>
      runAction(command, (context) => showForecast(context, options)),
    )
}
