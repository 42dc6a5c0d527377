import type { Command } from 'commander'
import { parseMoment, parseSeconds } from '../arguments.ts'
import { Misused } from '../faults.ts'
import type { Program } from '../parts.ts'
import { runBackfill, runSync } from '../syncs.ts'

/** Adds `tallyman doctor`, `sync` and `backfill`. */
export const addSyncs = ({ program, leaf, act }: Program): void => {
  leaf(program, 'doctor', 'checks configuration, daemon, database, Redis, credentials and clock, and recommends actions')
    .option('--units', "compares the sandbox's effects with the database, unit by unit")
    .option('--orders', 'lists orders per day that returns, the inventory log and events name and that are not stored')
    .option('--sandbox <url>', 'address of the sandbox (default: SANDBOX_URL, or http://127.0.0.1:$SANDBOX_PORT)')
    .option('--wait <seconds>', 'with --units: how long to compare differences again', parseSeconds, 300)
    .action((options: { units?: true; orders?: true; sandbox?: string; wait: number }, command: Command) =>
      act(command, async (context) => {
        // Loaded on demand: clients, queues and database take half of the start time of every other command.
        const { runDoctor } = await import('../doctor.ts')
        await runDoctor(context, {
          units: options.units === true,
          orders: options.orders === true,
          sandbox: options.sandbox ?? null,
          waitMs: options.wait * 1_000,
        })
      }),
    )

  leaf(program, 'sync', 'runs a sync now')
    .argument('<resource>', 'orders, returns, …')
    .option('--seller <id>', 'of this seller only')
    .action((resource: string, options: { seller?: string }, command: Command) =>
      act(command, (context) => runSync(context, { resource, sellerId: options.seller ?? null })),
    )

  leaf(program, 'backfill', 'imports history and shows the progress; run it again to see the progress or to resume')
    .argument('<resource>', 'orders, returns, …')
    .requiredOption('--from <date>', 'first day, or moment, of the import', parseMoment)
    .option('--to <date>', 'end of the import (default: now)', parseMoment)
    .option('--seller <id>', 'of this seller only')
    .option('--wait <seconds>', 'how long it waits while no process is at it', parseSeconds, 60)
    .action((resource: string, options: { from: Date; to?: Date; seller?: string; wait: number }, command: Command) =>
      act(command, (context) => {
        const to = options.to ?? null
        if (to !== null && to <= options.from) throw new Misused('--to must be later than --from')
        const { from, seller: sellerId = null, wait } = options
        return runBackfill(context, { resource, from, to, sellerId, waitMs: wait * 1_000 })
      }),
    )
}
