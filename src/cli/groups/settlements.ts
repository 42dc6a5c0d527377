import type { Command } from 'commander'
import { parseCount } from '../arguments.ts'
import type { CommandRegistry } from '../command-registry.ts'
import { showSettlementDifferences } from '../commands/settlements.ts'

interface Options {
  readonly seller?: string
  readonly kind?: string
  readonly order?: string
  readonly limit: number
}

/** Adds `tallyman settlements`. */
export const addSettlements = ({ program, defineCommand, runAction }: CommandRegistry): void => {
  const settlements = program.command('settlements').description('settlement reports of the marketplace')
  defineCommand(settlements, 'differences', 'open differences between settlement reports and orders', { isDefault: true })
    .option('--seller <id>', 'of this seller only')
    .option('--kind <kind>', 'of this kind only, such as paid-less')
    .option('--order <id>', 'of this order only')
    .option('--limit <number>', 'maximum number of entries', parseCount, 100)
    .action(({ seller, kind, order, limit }: Options, command: Command) =>
      runAction(command, (context) =>
        showSettlementDifferences(context, {
          sellerId: seller ?? null,
          kind: kind ?? null,
          purchaseOrderId: order ?? null,
          limit,
        }),
      ),
    )
}
