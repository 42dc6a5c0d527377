import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { reviewOverdueCommands } from '../../../src/jobs/commands/overdue.ts'
import { insertCommands, readCommand } from '../../../src/store/commands.ts'
import { type Database, openDatabase } from '../../../src/store/database.ts'
import { startTestPostgres, type TestPostgres } from '../../support/postgres.ts'

let postgres: TestPostgres
let database: Database

beforeAll(async () => {
  postgres = await startTestPostgres()
})
afterAll(() => postgres.stop())
beforeEach(async () => {
  database = openDatabase({ url: await postgres.database() })
})
afterEach(() => database.close())

const submit = async (): Promise<string> => {
  const [id = ''] = await database.transaction((tx) =>
    insertCommands(tx, {
      sellerId: 'nobody-serves-me',
      purchaseOrderId: '1',
      event: null,
      commands: [{ kind: 'acknowledge', payload: {} }],
    }),
  )
  return id
}
const due = (id: string, interval: string) =>
  database.execute(`UPDATE tallyman.commands SET next_action_at = now() - $2::interval WHERE id = $1`, id, interval)
const openAlarms = async () =>
  (await database.query<{ kind: string }>('SELECT kind FROM tallyman.alarms WHERE resolved_at IS NULL')).map(({ kind }) => kind)

test('a command that is due and that no process works on raises an alarm, and ends with a person', async () => {
  const id = await submit()
  const parts = { database, settleTimeMs: 120_000 }
  expect(await reviewOverdueCommands(parts)).toBe(0)
  await due(id, '20 minutes')
  expect(await reviewOverdueCommands(parts)).toBe(1)
  expect(await openAlarms()).toEqual(['command-waiting'])
  expect((await readCommand(database, id))?.state).toBe('pending')
  await due(id, '25 hours')
  await reviewOverdueCommands(parts)
  expect((await readCommand(database, id))?.state).toBe('held')
  expect(await openAlarms()).toContain('command-held')
})
