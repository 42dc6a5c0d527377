import type { Command } from 'commander'
import type { CommandRegistry } from '../command-registry.ts'
import type { GrantOptions } from '../commands/grants.ts'

/** Adds `tallyman migrate`, `grants` and `vacuum`. */
export const addAdministration = ({ program, defineCommand, runAction }: CommandRegistry): void => {
  defineCommand(program, 'migrate', 'applies missing migrations to DATABASE_URL').action((_options: object, command: Command) =>
    runAction(command, async (context) => {
      const { runMigrate } = await import('../commands/migrate.ts')
      await runMigrate(context)
    }),
  )
  defineCommand(
    program,
    'grants',
    'creates the roles tallyman_daemon, tallyman_erp and tallyman_bi on DATABASE_URL, and grants their rights',
  )
    .option('--print', 'only prints the SQL, for an administrator')
    .option('--bi-login <name>', 'also creates a login with the role tallyman_bi, and prints its password once')
    .option('--seller <id...>', 'restricts this login to these sellers; default: all')
    .action((options: GrantOptions, command: Command) =>
      runAction(command, async (context) => {
        const { runGrants } = await import('../commands/grants.ts')
        await runGrants(context, options)
      }),
    )
  defineCommand(
    program,
    'vacuum',
    "rewrites the tables with buyers' data, so that the files of Postgres contain no erased data; locks each table while it is rewritten",
  ).action((_options: object, command: Command) =>
    runAction(command, async (context) => {
      const { runVacuum } = await import('../commands/vacuum.ts')
      await runVacuum(context)
    }),
  )
}
