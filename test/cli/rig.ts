import { everyPoll, startTestDaemon, type TestDaemon } from '../support/daemon.ts'
import { startTestPostgres } from '../support/postgres.ts'
import { query } from '../support/query.ts'
import { startTestSandbox, type TestSandbox } from '../support/sandbox.ts'

/** A daemon of its own on a sandbox and a database of their own, and what a command line needs to reach them. */
export interface Rig {
  readonly sandbox: TestSandbox
  readonly daemon: TestDaemon
  readonly databaseUrl: string
  /** Environment for the command line. */
  readonly environment: Readonly<Record<string, string>>
  /** Runs SQL behind the daemon's back; answers the rows. */
  sql(text: string, ...values: readonly unknown[]): Promise<readonly Record<string, unknown>[]>
  /** A database without any table. */
  emptyDatabase(): Promise<string>
  stop(): Promise<void>
}

const apiKey = 'a-key-of-the-tests'
const eventsSecret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'

/** Starts all of it. */
export const startRig = async (): Promise<Rig> => {
  const postgres = await startTestPostgres()
  const sandbox = await startTestSandbox()
  const databaseUrl = await postgres.database()
  const marketplace = {
    DATABASE_URL: databaseUrl,
    MARKETPLACE_URL: sandbox.url,
    SELLER_ID: 'sandbox-seller',
    CLIENT_ID: 'sandbox-client',
    CLIENT_SECRET: 'sandbox-secret',
    API_KEY: apiKey,
    EVENTS_SECRET: eventsSecret,
  }
  const daemon = await startTestDaemon({ ...everyPoll, ...marketplace, POLL_ORDERS: '1s', DATA_DIR: sandbox.folder })
  return {
    sandbox,
    daemon,
    databaseUrl,
    environment: { ...marketplace, TALLYMAN_URL: daemon.url, SANDBOX_URL: sandbox.url },
    sql: (text, ...values) => query(databaseUrl, text, values),
    emptyDatabase: () => postgres.emptyDatabase(),
    stop: async () => {
      await daemon.program.stop()
      await sandbox.stop()
      await postgres.stop()
    },
  }
}
