import { expect, test } from 'vitest'
import { createOverdueWatch, reviewOverdueCommands } from '../../../src/jobs/commands/engine/overdue.ts'
import { moveCommand } from '../../../src/store/commands/command-steps.ts'
import { readCommand } from '../../../src/store/commands/commands.ts'
import { acknowledgement, storeCommand } from '../../support/commands.ts'
import { withDatabase } from '../../support/database.ts'

const stage = withDatabase({ each: 'test' })

const submit = (): Promise<string> =>
  storeCommand(stage.database, { sellerId: 'nobody-serves-me', purchaseOrderId: '1' }, acknowledgement)
const due = (id: string, interval: string) =>
  stage.database.execute(`UPDATE tallyman.commands SET next_action_at = now() - $2::interval WHERE id = $1`, id, interval)
const openAlarms = async () =>
  (await stage.database.query<{ kind: string }>('SELECT kind FROM tallyman.alarms WHERE resolved_at IS NULL')).map(
    ({ kind }) => kind,
  )

const parts = () => ({ database: stage.database, settleTimeMs: 120_000, log: { warn: () => undefined } })

test('a command that is due and that no process works on raises an alarm, and ends with a person', async () => {
  const id = await submit()
  const lines: (readonly [object, string])[] = []
  const log = { warn: (fields: object, message: string) => void lines.push([fields, message]) }
  const watch = createOverdueWatch()
  expect(await reviewOverdueCommands({ ...parts(), log }, watch)).toBe(0)
  await due(id, '20 minutes')
  expect(await reviewOverdueCommands({ ...parts(), log }, watch)).toBe(1)
  expect(lines).toEqual([])
  expect(await openAlarms()).toEqual(['command-waiting'])
  expect((await readCommand(stage.database, id))?.state).toBe('pending')
  await due(id, '25 hours')
  await reviewOverdueCommands({ ...parts(), log }, watch)
  expect((await readCommand(stage.database, id))?.state).toBe('held')
  expect(lines).toEqual([
    [
      { seller_id: 'nobody-serves-me', purchase_order_id: '1', command_id: id, kind: 'acknowledge' },
      'command held: an operator must confirm, reject or retry it',
    ],
  ])
  expect(await openAlarms()).toContain('command-held')
})

test('after a long downtime nothing is held before the processes that are up have left it alone', async () => {
  const id = await submit()
  await due(id, '3 days')
  const watch = createOverdueWatch()
  await reviewOverdueCommands(parts(), watch)
  expect((await readCommand(stage.database, id))?.state).toBe('pending')
  await due(id, '3 days 5 minutes')
  await reviewOverdueCommands(parts(), watch)
  expect((await readCommand(stage.database, id))?.state).toBe('pending')
  await due(id, '3 days 11 minutes')
  await reviewOverdueCommands(parts(), watch)
  expect((await readCommand(stage.database, id))?.state).toBe('held')
})

test('an interrupted sending that nobody reads back ends with a person, too', async () => {
  const id = await submit()
  await stage.database.execute(`UPDATE tallyman.commands SET state = 'sending', attempts = 1 WHERE id = $1`, id)
  const watch = createOverdueWatch()
  for (const interval of ['1 hour', '1 hour 15 minutes']) {
    await stage.database.execute(
      `UPDATE tallyman.commands SET next_action_at = now() - $2::interval, leased_until = now() - $2::interval WHERE id = $1`,
      id,
      interval,
    )
    await reviewOverdueCommands(parts(), watch)
  }
  expect((await readCommand(stage.database, id))?.state).toBe('held')
  expect(await openAlarms()).toEqual(['command-held'])
})

test('the alarm closes when the command goes on after all', async () => {
  const id = await submit()
  await due(id, '20 minutes')
  await reviewOverdueCommands(parts(), createOverdueWatch())
  expect(await openAlarms()).toEqual(['command-waiting'])
  const command = await readCommand(stage.database, id)
  if (command === null) throw new Error('the command is gone')
  await stage.database.transaction((tx) => moveCommand(tx, command, { state: 'confirmed', reason: 'seen' }))
  expect(await openAlarms()).toEqual([])
})
