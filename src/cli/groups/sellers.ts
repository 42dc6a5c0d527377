import type { Command } from 'commander'
import { resolveReason, systemUser } from '../actor.ts'
import { parseCount } from '../arguments.ts'
import type { CommandRegistry } from '../command-registry.ts'
import { decideOnMode, decideOnSeller, listSellers, reloadSellers, removeSeller, showSeller } from '../commands/sellers.ts'

/** Adds `tallyman sellers`. */
export const addSellers = ({ program, defineCommand, runAction, process }: CommandRegistry): void => {
  const sellers = program.command('sellers').description('state of each seller')
  defineCommand(sellers, 'list', 'sellers with their state, since when and why', { isDefault: true })
    .option('--removed', 'only removed sellers')
    .option('--limit <number>', 'maximum number of entries', parseCount, 1_000)
    .action((options: { removed?: true; limit: number }, command: Command) =>
      runAction(command, (context) => listSellers(context, { removed: options.removed === true, limit: options.limit })),
    )
  defineCommand(sellers, 'show', 'one seller with its open work and its lag')
    .argument('<id>')
    .action((id: string, _options: object, command: Command) => runAction(command, (context) => showSeller(context, id)))
  defineCommand(
    sellers,
    'reload',
    'reads the settings of the sellers again (SELLERS_FILE); invalid settings change nothing',
  ).action((_options: object, command: Command) => runAction(command, reloadSellers))
  defineCommand(sellers, 'pause', 'stops all work of a seller until it is resumed')
    .argument('<id>')
    .option('--reason <text>', 'why; stored with the seller')
    .option('--by <name>', 'who decides (default: the user of this system)')
    .action((sellerId: string, options: { reason?: string; by?: string }, command: Command) =>
      runAction(command, async (context) => {
        const actor = options.by ?? systemUser(process.environment)
        const reason = await resolveReason(process, context, options.reason)
        return decideOnSeller(context, { sellerId, decision: 'pause', actor, reason })
      }),
    )
  defineCommand(sellers, 'resume', 'resumes a stopped or paused seller; its credentials are tried immediately')
    .argument('<id>')
    .option('--reason <text>', 'why; recorded in the change feed')
    .option('--by <name>', 'who decides (default: the user of this system)')
    .action((sellerId: string, options: { reason?: string; by?: string }, command: Command) =>
      runAction(command, (context) => {
        const actor = options.by ?? systemUser(process.environment)
        return decideOnSeller(context, { sellerId, decision: 'resume', actor, reason: options.reason ?? null })
      }),
    )
  const modes = {
    'go-live': 'ends the shadow mode of a seller: its commands are sent from now on',
    'go-shadow': 'puts a seller in shadow mode: nothing is written, its commands are predicted',
  } as const
  for (const decision of ['go-live', 'go-shadow'] as const) {
    const command = defineCommand(sellers, decision, modes[decision])
      .argument('<id>')
      .option('--reason <text>', 'why; stored in the audit')
      .option('--by <name>', 'who decides (default: the user of this system)')
    if (decision === 'go-live') command.option('--force', 'although orders differ from what was predicted, or events wait')
    command.action((sellerId: string, options: { reason?: string; by?: string; force?: true }, ofUser: Command) =>
      runAction(ofUser, async (context) => {
        const { by: actor = systemUser(process.environment), force = false } = options
        const reason = await resolveReason(process, context, options.reason)
        return decideOnMode(context, { sellerId, decision, actor, reason, force })
      }),
    )
  }
  defineCommand(sellers, 'remove', 'removes a seller that no process serves; its records, if it has any, stay readable')
    .argument('<id>')
    .option('--reason <text>', 'why; stored in the audit')
    .option('--by <name>', 'who decides (default: the user of this system)')
    .action((sellerId: string, options: { reason?: string; by?: string }, command: Command) =>
      runAction(command, async (context) => {
        const { by: actor = systemUser(process.environment) } = options
        const reason = await resolveReason(process, context, options.reason)
        return removeSeller(context, { sellerId, actor, reason })
      }),
    )
}
