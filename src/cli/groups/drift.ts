import { type Command, Option } from 'commander'
import { driftKinds } from '../../domain/drift/shape.ts'
import { parseCount } from '../arguments.ts'
import type { CommandRegistry } from '../command-registry.ts'
import { showDrift } from '../commands/drift.ts'

interface Options {
  readonly seller?: string
  readonly operation?: string
  readonly kind?: string
  readonly limit: number
}

/** Adds `tallyman drift`. */
export const addDrift = ({ program, defineCommand, runAction }: CommandRegistry): void => {
  defineCommand(program, 'drift', "differences between the marketplace's answers and what is published")
    .option('--seller <id>', 'of this seller only')
    .option('--operation <name>', 'of this operation only')
    .addOption(new Option('--kind <kind>', 'of this kind only').choices(driftKinds))
    .option('--limit <number>', 'maximum number of entries', parseCount, 100)
    .action(({ seller, operation, kind, limit }: Options, command: Command) =>
      runAction(command, (context) =>
        showDrift(context, { sellerId: seller ?? null, operation: operation ?? null, kind: kind ?? null, limit }),
      ),
    )
}
