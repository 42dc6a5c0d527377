import type { Command } from 'commander'
import { parseCount, parseTime } from '../arguments.ts'
import type { CommandRegistry } from '../command-registry.ts'
import { listAudit } from '../commands/audit.ts'

/** Adds `tallyman audit`. */
export const addAudit = ({ program, defineCommand, runAction }: CommandRegistry): void => {
  defineCommand(program, 'audit', 'actions of people, the latest first')
    .option('--who <name>', 'by this actor: the name of a key or a person')
    .option('--action <action>', 'of this kind, such as command.decided')
    .option('--subject <id>', 'on this command, order, key …')
    .option('--seller <id>', 'of this seller only')
    .option('--from <date>', 'not before', parseTime)
    .option('--to <date>', 'before', parseTime)
    .option('--limit <number>', 'maximum number of entries', parseCount, 100)
    .action(
      (
        options: { who?: string; action?: string; subject?: string; seller?: string; from?: Date; to?: Date; limit: number },
        command: Command,
      ) =>
        runAction(command, (context) =>
          listAudit(context, {
            actor: options.who ?? null,
            action: options.action ?? null,
            subject: options.subject ?? null,
            sellerId: options.seller ?? null,
            from: options.from ?? null,
            to: options.to ?? null,
            limit: options.limit,
          }),
        ),
    )
}
