import type { Command } from 'commander'
import { resolveReason, systemUser } from '../actor.ts'
import type { CommandRegistry } from '../command-registry.ts'
import { runErase } from '../commands/erase.ts'

/** Adds `tallyman erase`. */
export const addErase = ({ program, defineCommand, runAction, process }: CommandRegistry): void => {
  defineCommand(program, 'erase', 'erases the buyer of a customer order from all stored data; units and money are kept')
    .requiredOption('--customer-order <id>', "the marketplace's id of the customer order")
    .option('--reason <text>', 'why; kept permanently, so it must not name the buyer')
    .option('--seller <id>', 'seller of the order; required when there are several sellers')
    .option('--by <name>', 'who requests it (default: the user of this system)')
    .option('--dry-run', 'only shows what would be erased')
    .option('--yes', 'skips the confirmation')
    .action(
      (
        options: { customerOrder: string; reason?: string; seller?: string; by?: string; dryRun?: true; yes?: true },
        command: Command,
      ) =>
        runAction(command, async (context) => {
          const { customerOrder: customerOrderId, seller: sellerId = null } = options
          const reason = await resolveReason(process, context, options.reason)
          const actor = options.by ?? systemUser(process.environment)
          const how = { dryRun: options.dryRun === true, yes: options.yes === true }
          return runErase(context, { customerOrderId, sellerId, actor, reason, ...how }, process.readLine)
        }),
    )
}
