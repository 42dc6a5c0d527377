import type { Command } from 'commander'
import { parseCount, parseMoment } from '../arguments.ts'
import { listAudit } from '../audit.ts'
import type { Program } from '../parts.ts'

/** Adds `tallyman audit`. */
export const addAudit = ({ program, leaf, act }: Program): void => {
  leaf(program, 'audit', 'what people have done, the latest first')
    .option('--who <name>', 'by this key, or person')
    .option('--action <action>', 'of this kind, such as command.decided')
    .option('--subject <id>', 'to this command, order, key …')
    .option('--seller <id>', 'of this seller only')
    .option('--from <date>', 'not before', parseMoment)
    .option('--to <date>', 'before', parseMoment)
    .option('--limit <number>', 'maximum number of entries', parseCount, 100)
    .action(
      (
        options: { who?: string; action?: string; subject?: string; seller?: string; from?: Date; to?: Date; limit: number },
        command: Command,
      ) =>
        act(command, (context) =>
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
