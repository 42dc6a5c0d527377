import { type Command, Option } from 'commander'
import { commandKinds, commandStates } from '../../domain/commands/command.ts'
import { resolveReason, systemUser } from '../actor.ts'
import { parseCount } from '../arguments.ts'
import type { CommandRegistry } from '../command-registry.ts'
import { decideByLine, decideOnCommand, listCommands, parseLineVerdict, showCommand } from '../commands/commands.ts'

interface CommandListOptions {
  readonly state?: string
  readonly kind?: string
  readonly order?: string
  readonly sku?: string
  readonly trackingNumber?: string
  readonly seller?: string
  readonly limit: number
}

/** Adds `tallyman commands`. */
export const addCommands = ({ program, defineCommand, runAction, process }: CommandRegistry): void => {
  const commands = program.command('commands').description('commands sent to the marketplace')
  defineCommand(commands, 'list', 'commands, the latest first', { isDefault: true })
    .addOption(new Option('--state <state>', 'in this state').choices(commandStates))
    .addOption(new Option('--kind <kind>', 'of this kind').choices(commandKinds))
    .option('--order <purchaseOrderId>', 'of this purchase order')
    .option('--sku <sku>', 'with units of this SKU')
    .option('--tracking-number <number>', 'with a parcel of this tracking number')
    .option('--seller <id>', 'of one seller')
    .option('--limit <number>', 'maximum number of entries', parseCount, 100)
    .action((options: CommandListOptions, command: Command) =>
      runAction(command, (context) =>
        listCommands(context, {
          state: options.state ?? null,
          kind: options.kind ?? null,
          purchaseOrderId: options.order ?? null,
          sku: options.sku ?? null,
          trackingNumber: options.trackingNumber ?? null,
          sellerId: options.seller ?? null,
          limit: options.limit,
        }),
      ),
    )
  defineCommand(commands, 'show', 'a command with its attempts and evidence')
    .argument('<id>')
    .action((id: string, _options: object, command: Command) => runAction(command, (context) => showCommand(context, id)))
  const decisions = [
    ['retry', 'sends a command again'],
    ['confirm', 'marks a command as applied'],
    ['reject', 'abandons a command and releases its units'],
  ] as const
  for (const [decision, description] of decisions) {
    defineCommand(commands, decision, description)
      .argument('<id>')
      .option('--reason <text>', 'why; stored with the command')
      .option('--by <name>', 'who decides (default: the user of this system)')
      .action((id: string, options: { reason?: string; by?: string }, command: Command) =>
        runAction(command, async (context) =>
          decideOnCommand(context, {
            id,
            decision,
            reason: await resolveReason(process, context, options.reason),
            actor: options.by ?? systemUser(process.environment),
          }),
        ),
      )
  }

  defineCommand(commands, 'decide', 'decides a command line by line: applied, not-applied or send-again')
    .argument('<id>')
    .requiredOption(
      '--line <verdict>',
      'such as 1=applied, 2=not-applied or 2/1Z999=send-again:1 (line, parcel or reason, verdict, units); give it for every line',
      (text: string, before: readonly ReturnType<typeof parseLineVerdict>[] = []) => [...before, parseLineVerdict(text)],
    )
    .option('--reason <text>', 'why; stored with the command')
    .option('--by <name>', 'who decides (default: the user of this system)')
    .action(
      (
        id: string,
        options: { line: readonly ReturnType<typeof parseLineVerdict>[]; reason?: string; by?: string },
        command: Command,
      ) =>
        runAction(command, async (context) =>
          decideByLine(context, {
            id,
            lines: options.line,
            reason: await resolveReason(process, context, options.reason),
            actor: options.by ?? systemUser(process.environment),
          }),
        ),
    )
}
