import type { Command } from 'commander'
import { parseMonth } from '../arguments.ts'
import { Misused } from '../faults.ts'
import type { Program } from '../parts.ts'
import { runReconcile, runReconcileGtin } from '../reconcile.ts'

/** Adds `tallyman reconcile`. */
export const addReconcile = ({ program, leaf, act }: Program): void => {
  leaf(program, 'reconcile', 'lists discrepancies of the inventory reports of a month, and possible claims')
    .option('--month <month>', 'month of the reports, such as 2026-03', parseMonth)
    .option('--gtin <gtin>', 'requests this one item of the running month from the marketplace now')
    .option('--seller <id>', 'of this seller only')
    .action((options: { month?: string; gtin?: string; seller?: string }, command: Command) => {
      const { month, gtin, seller: sellerId = null } = options
      if (gtin !== undefined && month === undefined)
        return act(command, (context) => runReconcileGtin(context, { gtin, sellerId }))
      if (month !== undefined && gtin === undefined) return act(command, (context) => runReconcile(context, { month, sellerId }))
      throw new Misused('give either a month (--month 2026-03) or an item of the running month (--gtin)')
    })
}
