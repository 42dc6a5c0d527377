import { expect, test } from 'vitest'
import { makeWaitingCommandsDue } from '../../src/store/commands/waiting-commands.ts'
import { withDatabase } from '../support/database.ts'

const stage = withDatabase({ each: 'test' })

test('only what waits for budget is made due, and only of the sellers that were named', async () => {
  const plant = (id: string, sellerId: string, state: string, more: string) =>
    stage.database.execute(
      `INSERT INTO tallyman.commands (id, seller_id, purchase_order_id, kind, state, payload, next_action_at, troubled_since, leased_until)
       VALUES ($1, $2, $1, 'acknowledge', $3, '{}', now() + interval '1 hour',
         CASE WHEN $4 = 'troubled' THEN now() END, CASE WHEN $4 = 'leased' THEN now() + interval '1 minute' END)`,
      id,
      sellerId,
      state,
      more,
    )
  await plant('waits', 'a', 'pending', '')
  await plant('in trouble', 'a', 'pending', 'troubled')
  await plant('leased', 'a', 'pending', 'leased')
  await plant('read back', 'a', 'verifying', '')
  await plant('of another', 'b', 'pending', '')
  expect(await makeWaitingCommandsDue(stage.database, ['a'])).toEqual(['waits'])
  const due = await stage.database.query<{ id: string }>('SELECT id FROM tallyman.commands WHERE next_action_at <= now()')
  expect(due.map(({ id }) => id)).toEqual(['waits'])
})
