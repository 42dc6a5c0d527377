import { type Command, Option } from 'commander'
import { scopes } from '../../domain/values/keys.ts'
import { resolveReason, systemUser } from '../actor.ts'
import { parseCount, parseOverlap } from '../arguments.ts'
import type { CommandRegistry } from '../command-registry.ts'
import { addKey, listKeys, revokeKey, rotateKey } from '../commands/keys.ts'

/** Adds `tallyman keys`. */
export const addKeys = ({ program, defineCommand, runAction, process }: CommandRegistry): void => {
  const keys = program.command('keys').description('keys of programs and people, with their scopes')
  defineCommand(keys, 'list', 'active keys, without their secrets', { isDefault: true })
    .option('--all', 'includes revoked keys')
    .option('--limit <number>', 'maximum number of entries', parseCount, 1_000)
    .action((options: { all?: true; limit: number }, command: Command) =>
      runAction(command, (context) => listKeys(context, { all: options.all === true, limit: options.limit })),
    )
  defineCommand(keys, 'add', 'adds a key and prints it, once')
    .argument('<name>', 'actor in the audit')
    .addOption(new Option('--scope <scope...>', 'scopes of the key').choices(scopes).makeOptionMandatory())
    .option('--seller <id...>', 'only for these sellers (default: all)')
    .option('--reason <text>', 'why; stored in the audit')
    .option('--by <name>', 'who decides (default: the user of this system)')
    .action((name: string, options: { scope: string[]; seller?: string[]; reason?: string; by?: string }, command: Command) =>
      runAction(command, async (context) => {
        const { scope, seller = [], by: actor = systemUser(process.environment) } = options
        const reason = await resolveReason(process, context, options.reason)
        return addKey(context, { name, scopes: scope, sellerIds: seller, reason, actor })
      }),
    )
  defineCommand(keys, 'rotate', 'rotates the secret of a key and prints it, once')
    .argument('<id>')
    .option('--overlap <seconds>', 'how long the previous secret is accepted, up to 30 days', parseOverlap, 86_400)
    .option('--reason <text>', 'why; stored in the audit')
    .option('--by <name>', 'who decides (default: the user of this system)')
    .action((id: string, options: { overlap: number; reason?: string; by?: string }, command: Command) =>
      runAction(command, async (context) => {
        const { overlap: overlapSeconds, by: actor = systemUser(process.environment) } = options
        const reason = await resolveReason(process, context, options.reason)
        return rotateKey(context, { id, overlapSeconds, reason, actor })
      }),
    )
  defineCommand(keys, 'revoke', 'revokes a key permanently')
    .argument('<id>')
    .option('--reason <text>', 'why; stored in the audit')
    .option('--by <name>', 'who decides (default: the user of this system)')
    .action((id: string, options: { reason?: string; by?: string }, command: Command) =>
      runAction(command, async (context) => {
        const { by: actor = systemUser(process.environment) } = options
        const reason = await resolveReason(process, context, options.reason)
        return revokeKey(context, { id, reason, actor })
      }),
    )
}
