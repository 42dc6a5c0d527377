import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { createOverdueWatch, reviewOverdueCommands } from '../../../src/jobs/commands/overdue.ts'
import { insertCommands, moveCommand, readCommand } from '../../../src/store/commands.ts'
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
  const watch = createOverdueWatch()
  expect(await reviewOverdueCommands(parts, watch)).toBe(0)
  await due(id, '20 minutes')
  expect(await reviewOverdueCommands(parts, watch)).toBe(1)
  expect(await openAlarms()).toEqual(['command-waiting'])
  expect((await readCommand(database, id))?.state).toBe('pending')
  await due(id, '25 hours')
  await reviewOverdueCommands(parts, watch)
  expect((await readCommand(database, id))?.state).toBe('held')
  expect(await openAlarms()).toContain('command-held')
})

const parts = () => ({ database, settleTimeMs: 120_000 })

test('after a long downtime nothing is held before the processes that are up have left it alone', async () => {
  const id = await submit()
  await due(id, '3 days')
  const watch = createOverdueWatch()
  await reviewOverdueCommands(parts(), watch)
  expect((await readCommand(database, id))?.state).toBe('pending')
  await due(id, '3 days 5 minutes')
  await reviewOverdueCommands(parts(), watch)
  expect((await readCommand(database, id))?.state).toBe('pending')
  await due(id, '3 days 11 minutes')
  await reviewOverdueCommands(parts(), watch)
  expect((await readCommand(database, id))?.state).toBe('held')
})

test('an interrupted sending that nobody reads back ends with a person, too', async () => {
  const id = await submit()
  await database.execute(`UPDATE tallyman.commands SET state = 'sending', attempts = 1 WHERE id = $1`, id)
  const watch = createOverdueWatch()
  for (const interval of ['1 hour', '1 hour 15 minutes']) {
    await database.execute(
      `UPDATE tallyman.commands SET next_action_at = now() - $2::interval, leased_until = now() - $2::interval WHERE id = $1`,
      id,
      interval,
    )
    await reviewOverdueCommands(parts(), watch)
  }
  expect((await readCommand(database, id))?.state).toBe('held')
  expect(await openAlarms()).toEqual(['command-held'])
})

test('the alarm closes when the command goes on after all', async () => {
  const id = await submit()
  await due(id, '20 minutes')
  await reviewOverdueCommands(parts(), createOverdueWatch())
  expect(await openAlarms()).toEqual(['command-waiting'])
  const command = await readCommand(database, id)
  if (command === null) throw new Error('the command is gone')
  await database.transaction((tx) => moveCommand(tx, command, { state: 'confirmed', reason: 'seen' }))
  expect(await openAlarms()).toEqual([])
})
