import type { Command } from 'commander'
import { Misused } from '../../api-client/errors.ts'
import { parseMonth } from '../arguments.ts'
import type { CommandRegistry } from '../command-registry.ts'
import { runReconcile, runReconcileGtin } from '../commands/inventory/reconcile.ts'

/** Adds `tallyman reconcile`. */
export const addReconcile = ({ program, defineCommand, runAction }: CommandRegistry): void => {
  defineCommand(program, 'reconcile', 'lists discrepancies of the inventory reports of a month, and possible claims')
    .option('--month <month>', 'month of the reports, such as 2026-03', parseMonth)
    .option('--gtin <gtin>', 'requests the report of this item for the current month from the marketplace now')
    .option('--seller <id>', 'of this seller only')
    .action((options: { month?: string; gtin?: string; seller?: string }, command: Command) => {
      const { month, gtin, seller: sellerId = null } = options
      if (gtin !== undefined && month === undefined)
        return runAction(command, (context) => runReconcileGtin(context, { gtin, sellerId }))
      if (month !== undefined && gtin === undefined)
        return runAction(command, (context) => runReconcile(context, { month, sellerId }))
      throw new Misused('give either a month (--month 2026-03) or an item of the current month (--gtin)')
    })
}
