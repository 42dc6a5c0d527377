import type { Command } from 'commander'
import { Misused } from '../../api-client/errors.ts'
import { parseSeconds, parseTime } from '../arguments.ts'
import type { CommandRegistry } from '../command-registry.ts'
import { runBackfill, runSync } from '../commands/syncs.ts'

/** Adds `tallyman doctor`, `sync` and `backfill`. */
export const addSyncs = ({ program, defineCommand, runAction }: CommandRegistry): void => {
  defineCommand(program, 'doctor', 'checks configuration, daemon, database, Redis, credentials and clock, and recommends actions')
    .option('--units', "compares the sandbox's effects with the database, unit by unit")
    .option('--orders', 'lists, per day, orders that returns, the inventory log and events name and that are not stored')
    .option('--sandbox <url>', 'address of the sandbox (default: SANDBOX_URL, or http://127.0.0.1:$SANDBOX_PORT)')
    .option('--wait <seconds>', 'with --units: how long to compare differences again', parseSeconds, 300)
    .action((options: { units?: true; orders?: true; sandbox?: string; wait: number }, command: Command) =>
      runAction(command, async (context) => {
        // Loaded on demand: clients, queues and database take half of the start time of every other command.
        const { runDoctor } = await import('../doctor/doctor.ts')
        await runDoctor(context, {
          units: options.units === true,
          orders: options.orders === true,
          sandbox: options.sandbox ?? null,
          waitMs: options.wait * 1_000,
        })
      }),
    )

  defineCommand(program, 'sync', 'runs a sync now')
    .argument('<resource>', 'orders, returns, …')
    .option('--seller <id>', 'of this seller only')
    .action((resource: string, options: { seller?: string }, command: Command) =>
      runAction(command, (context) => runSync(context, { resource, sellerId: options.seller ?? null })),
    )

  defineCommand(program, 'backfill', 'imports history and shows the progress; run it again to see the progress or to resume')
    .argument('<resource>', 'orders, returns, …')
    .requiredOption('--from <date>', 'beginning of the import: a date, or date and time', parseTime)
    .option('--to <date>', 'end of the import (default: now)', parseTime)
    .option('--seller <id>', 'of this seller only')
    .option('--wait <seconds>', 'how long it waits while no process works on it', parseSeconds, 60)
    .action((resource: string, options: { from: Date; to?: Date; seller?: string; wait: number }, command: Command) =>
      runAction(command, (context) => {
        const to = options.to ?? null
        if (to !== null && to <= options.from) throw new Misused('--to must be later than --from')
        const { from, seller: sellerId = null, wait } = options
        return runBackfill(context, { resource, from, to, sellerId, maxIdleMs: wait * 1_000 })
      }),
    )
}
