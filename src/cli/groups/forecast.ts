import type { Command } from 'commander'
import { mostForecastHours } from '../../domain/forecast.ts'
import { parseHours } from '../arguments.ts'
import { showForecast } from '../forecast.ts'
import type { Program } from '../parts.ts'

/** Adds `tallyman forecast`. */
export const addForecast = ({ program, leaf, act }: Program): void => {
  leaf(program, 'forecast', 'when backfills will end, and which commands and ship-by dates are at risk')
    .option('--seller <id>', 'of this seller only')
    .option('--hours <number>', `how far to look ahead, up to ${mostForecastHours}`, parseHours, 24)
    .action((options: { seller?: string; hours: number }, command: Command) =>
      act(command, (context) => showForecast(context, { sellerId: options.seller ?? null, hours: options.hours })),
    )
}
