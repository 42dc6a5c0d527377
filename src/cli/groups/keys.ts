import { type Command, Option } from 'commander'
import { scopes } from '../../domain/keys.ts'
import { parseCount, parseOverlap } from '../arguments.ts'
import { addKey, listKeys, revokeKey, rotateKey } from '../keys.ts'
import type { Program } from '../parts.ts'
import { reasonOf, systemUser } from '../person.ts'

/** Adds `tallyman keys`. */
export const addKeys = ({ program, leaf, act, process }: Program): void => {
  const keys = program.command('keys').description('keys of programs and people, with their scopes')
  leaf(keys, 'list', 'active keys, without their secrets', { isDefault: true })
    .option('--all', 'revoked ones too')
    .option('--limit <number>', 'maximum number of entries', parseCount, 1_000)
    .action((options: { all?: true; limit: number }, command: Command) =>
      act(command, (context) => listKeys(context, { all: options.all === true, limit: options.limit })),
    )
  leaf(keys, 'add', 'adds a key and prints it, once')
    .argument('<name>', 'who acts with it, as the audit will say')
    .addOption(new Option('--scope <scope...>', 'what it may do').choices(scopes).makeOptionMandatory())
    .option('--seller <id...>', 'only for these sellers (default: all)')
    .option('--reason <text>', 'why; stored in the audit')
    .option('--by <name>', 'who decides (default: the user of this system)')
    .action((name: string, options: { scope: string[]; seller?: string[]; reason?: string; by?: string }, command: Command) =>
      act(command, async (context) => {
        const { scope, seller = [], by: actor = systemUser(process.environment) } = options
        const reason = await reasonOf(process, context, options.reason)
        return addKey(context, { name, scopes: scope, sellerIds: seller, reason, actor })
      }),
    )
  leaf(keys, 'rotate', 'gives a key another secret and prints it, once')
    .argument('<id>')
    .option('--overlap <seconds>', 'how long the secret before is accepted, up to 30 days', parseOverlap, 86_400)
    .option('--reason <text>', 'why; stored in the audit')
    .option('--by <name>', 'who decides (default: the user of this system)')
    .action((id: string, options: { overlap: number; reason?: string; by?: string }, command: Command) =>
      act(command, async (context) => {
        const { overlap: overlapSeconds, by: actor = systemUser(process.environment) } = options
        const reason = await reasonOf(process, context, options.reason)
        return rotateKey(context, { id, overlapSeconds, reason, actor })
      }),
    )
  leaf(keys, 'revoke', 'ends a key for ever')
    .argument('<id>')
    .option('--reason <text>', 'why; stored in the audit')
    .option('--by <name>', 'who decides (default: the user of this system)')
    .action((id: string, options: { reason?: string; by?: string }, command: Command) =>
      act(command, async (context) => {
        const { by: actor = systemUser(process.environment) } = options
        const reason = await reasonOf(process, context, options.reason)
        return revokeKey(context, { id, reason, actor })
      }),
    )
}
