import type { Command } from 'commander'
import type { Program } from '../parts.ts'

/** Adds `tallyman migrate`, `grants` and `vacuum`. */
export const addAdministration = ({ program, leaf, act }: Program): void => {
  leaf(program, 'migrate', 'applies missing migrations to DATABASE_URL').action((_options: object, command: Command) =>
    act(command, async (context) => {
      const { runMigrate } = await import('../migrate.ts')
      await runMigrate(context)
    }),
  )
  leaf(
    program,
    'grants',
    'creates the roles tallyman_daemon, tallyman_erp and tallyman_bi on DATABASE_URL, and grants their rights',
  )
    .option('--print', 'only prints the SQL, for an administrator')
    .action((options: { print?: true }, command: Command) =>
      act(command, async (context) => {
        const { runGrants } = await import('../grants.ts')
        await runGrants(context, options.print === true)
      }),
    )
  leaf(
    program,
    'vacuum',
    'rewrites the tables that may hold buyers, so that the files of Postgres hold nothing of erased ones; locks each meanwhile',
  ).action((_options: object, command: Command) =>
    act(command, async (context) => {
      const { runVacuum } = await import('../vacuum.ts')
      await runVacuum(context)
    }),
  )
}
