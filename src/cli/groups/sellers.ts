import type { Command } from 'commander'
import { parseCount } from '../arguments.ts'
import type { Program } from '../parts.ts'
import { reasonOf, systemUser } from '../person.ts'
import { decideOnSeller, listSellers, reloadSellers, removeSeller, showSeller } from '../sellers.ts'

/** Adds `tallyman sellers`. */
export const addSellers = ({ program, leaf, act, process }: Program): void => {
  const sellers = program.command('sellers').description('state of each seller')
  leaf(sellers, 'list', 'sellers with their state, since when and why', { isDefault: true })
    .option('--removed', 'those that were removed instead')
    .option('--limit <number>', 'maximum number of entries', parseCount, 1_000)
    .action((options: { removed?: true; limit: number }, command: Command) =>
      act(command, (context) => listSellers(context, { removed: options.removed === true, limit: options.limit })),
    )
  leaf(sellers, 'show', 'one seller with its open work, and how far behind it is')
    .argument('<id>')
    .action((id: string, _options: object, command: Command) => act(command, (context) => showSeller(context, id)))
  leaf(sellers, 'reload', 'reads the settings of the sellers again (SELLERS_FILE); faults change nothing').action(
    (_options: object, command: Command) => act(command, reloadSellers),
  )
  leaf(sellers, 'pause', 'stops all work of a seller until it is resumed')
    .argument('<id>')
    .option('--reason <text>', 'why; stored with the seller')
    .option('--by <name>', 'who decides (default: the user of this system)')
    .action((sellerId: string, options: { reason?: string; by?: string }, command: Command) =>
      act(command, async (context) => {
        const actor = options.by ?? systemUser(process.environment)
        const reason = await reasonOf(process, context, options.reason)
        return decideOnSeller(context, { sellerId, decision: 'pause', actor, reason })
      }),
    )
  leaf(sellers, 'resume', 'resumes a stopped or paused seller; its credentials are tried at once')
    .argument('<id>')
    .option('--reason <text>', 'why; recorded in the change feed')
    .option('--by <name>', 'who decides (default: the user of this system)')
    .action((sellerId: string, options: { reason?: string; by?: string }, command: Command) =>
      act(command, (context) => {
        const actor = options.by ?? systemUser(process.environment)
        return decideOnSeller(context, { sellerId, decision: 'resume', actor, reason: options.reason ?? null })
      }),
    )
  leaf(sellers, 'remove', 'removes a seller that no process serves any more; its past, if it has one, stays readable')
    .argument('<id>')
    .option('--reason <text>', 'why; stored in the audit')
    .option('--by <name>', 'who decides (default: the user of this system)')
    .action((sellerId: string, options: { reason?: string; by?: string }, command: Command) =>
      act(command, async (context) => {
        const { by: actor = systemUser(process.environment) } = options
        const reason = await reasonOf(process, context, options.reason)
        return removeSeller(context, { sellerId, actor, reason })
      }),
    )
}
