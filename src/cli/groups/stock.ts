import type { Command } from 'commander'
import { parseCount } from '../arguments.ts'
import type { CommandRegistry } from '../command-registry.ts'
import { type StockFilter, showStock, showStockDifferences } from '../commands/stock.ts'

interface Options {
  readonly seller?: string
  readonly sku?: string
  readonly limit: number
}

const toFilter = ({ seller, sku, limit }: Options): StockFilter => ({ sellerId: seller ?? null, sku: sku ?? null, limit })

/** Adds `tallyman stock`. */
export const addStock = ({ program, defineCommand, runAction }: CommandRegistry): void => {
  const stock = program.command('stock').description('stock on hand at the fulfillment service')
  defineCommand(stock, 'list', 'stock on hand by SKU', { isDefault: true })
    .option('--seller <id>', 'of this seller only')
    .option('--sku <sku>', 'of this SKU only')
    .option('--limit <number>', 'maximum number of entries', parseCount, 100)
    .action((options: Options, command: Command) => runAction(command, (context) => showStock(context, toFilter(options))))
  defineCommand(stock, 'differences', 'open differences between the stock on hand and the inventory log')
    .option('--seller <id>', 'of this seller only')
    .option('--sku <sku>', 'of this SKU only')
    .option('--limit <number>', 'maximum number of entries', parseCount, 100)
    .action((options: Options, command: Command) =>
      runAction(command, (context) => showStockDifferences(context, toFilter(options))),
    )
}
