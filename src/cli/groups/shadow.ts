import { type Command, Option } from 'commander'
import { commandKinds } from '../../domain/commands/command.ts'
import { differenceKinds, shadowVerdicts } from '../../domain/shadow/compare.ts'
import { parseCount } from '../arguments.ts'
import type { CommandRegistry } from '../command-registry.ts'
import { reportShadow } from '../commands/shadow.ts'

interface Options {
  readonly seller?: string
  readonly order?: string
  readonly verdict?: string
  readonly kind?: string
  readonly difference?: string
  readonly from?: string
  readonly limit: number
}

/** Adds `tallyman shadow`. */
export const addShadow = ({ program, defineCommand, runAction }: CommandRegistry): void => {
  const shadow = program.command('shadow').description('what was predicted, beside what the other system did')
  defineCommand(shadow, 'report', 'orders of sellers in shadow mode: agreements and differences', { isDefault: true })
    .option('--seller <id>', 'of this seller only')
    .option('--order <id>', 'of this order only')
    .addOption(new Option('--verdict <verdict>', 'with this verdict only').choices(shadowVerdicts))
    .addOption(new Option('--kind <kind>', 'with a command of this kind only').choices(commandKinds))
    .addOption(new Option('--difference <kind>', 'with a difference of this kind only').choices(differenceKinds))
    .option('--from <time>', 'placed or predicted at or after this date, or date and time')
    .option('--limit <number>', 'maximum number of orders', parseCount, 100)
    .action(({ seller, order, verdict, kind, difference, from, limit }: Options, command: Command) =>
      runAction(command, (context) =>
        reportShadow(context, {
          ...{ sellerId: seller ?? null, purchaseOrderId: order ?? null },
          ...{ verdict: verdict ?? null, kind: kind ?? null, difference: difference ?? null, from: from ?? null, limit },
        }),
      ),
    )
}
