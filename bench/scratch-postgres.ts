import { randomBytes } from 'node:crypto'
import { rm } from 'node:fs/promises'
import pg from 'pg'
import { startEmbeddedPostgres } from '../src/embedded/postgres.ts'
import { eventually } from '../test/support/eventually.ts'
import { benchFolder } from './measure.ts'

/** An embedded Postgres for one bench. */
export interface ScratchPostgres {
  readonly pid: number
  /** Runs with the address of an empty database, which goes with the run: it would be vacuumed and written out during the later ones. */
  inDatabase<Result>(run: (databaseUrl: string) => Promise<Result>): Promise<Result>
  /** Ends it and removes all that it held. */
  stop(): Promise<void>
}

/** Starts one with these settings, as `name=value`. */
export const startScratchPostgres = async (settings: readonly string[] = []): Promise<ScratchPostgres> => {
  const folder = await benchFolder()
  const shutdownHooks: (() => Promise<unknown>)[] = [() => rm(folder, { recursive: true, force: true })]
  const stop = async (): Promise<void> => {
    for (const close of shutdownHooks.splice(0).reverse()) await close()
  }
  try {
    const server = await startEmbeddedPostgres({ dataDir: folder, say: () => undefined, settings })
    shutdownHooks.push(() => server.stop())
    const admin = new pg.Client({ connectionString: server.url })
    await admin.connect()
    shutdownHooks.push(() => admin.end())
    return {
      pid: server.pid() ?? 0,
      inDatabase: async (run) => {
        const name = `bench_${randomBytes(4).toString('hex')}`
        await admin.query(`CREATE DATABASE ${name}`)
        try {
          return await run(server.url.replace(/\/tallyman$/, `/${name}`))
        } finally {
          // Closed pools are still saying goodbye.
          await eventually(() => admin.query(`DROP DATABASE ${name}`))
        }
      },
      stop,
    }
  } catch (error) {
    await stop()
    throw error
  }
}
