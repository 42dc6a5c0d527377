import { expect, test } from 'vitest'
import { readGaugeValues } from '../../src/store/sellers/gauge-values.ts'
import { pauseSeller, recordSellers } from '../../src/store/sellers/sellers.ts'
import { withDatabase } from '../support/database.ts'

const stage = withDatabase({ each: 'test' })

const command = (order: string, place: number, state: string, secondsAgo: number, leasedForSeconds = 0) =>
  stage.database.execute(
    `INSERT INTO tallyman.commands (id, seller_id, purchase_order_id, kind, state, payload, created_at, next_action_at, leased_until)
     VALUES ($1 || '-' || $2::int, 's-1', $1, 'acknowledge', $3, '{}', now() - interval '1 day', now() - $4::int * interval '1 second',
       CASE WHEN $5::int > 0 THEN now() + $5::int * interval '1 second' END)`,
    order,
    place,
    state,
    secondsAgo,
    leasedForSeconds,
  )

/** How long the work that waits has waited, in whole tens of seconds. */
const waited = async (): Promise<number> => Math.round((await readGaugeValues(stage.database)).longestWaitMs / 10_000) * 10

test('work waits from when it is due, as far as more processes would help', async () => {
  await recordSellers(stage.database, [{ sellerId: 's-1', credentialsFingerprint: 'f' }])
  expect(await waited()).toBe(0)
  // Due later, being sent, held, and behind a held one: none of these waits for a process.
  await command('po-1', 1, 'pending', -600)
  await command('po-2', 1, 'sending', 300, 60)
  await command('po-3', 1, 'held', 900)
  await command('po-3', 2, 'pending', 900)
  expect(await waited()).toBe(0)
  await command('po-4', 1, 'pending', 120)
  await command('po-5', 1, 'verifying', 60)
  expect(await waited()).toBe(120)
  await stage.database.execute(
    `INSERT INTO tallyman.erp_event (source, id, type, data, due_at) VALUES ('/erp', '1', 'x', '{}', now() - interval '200 seconds')`,
  )
  expect(await waited()).toBe(200)
  await stage.database.execute(`UPDATE tallyman.erp_event SET due_at = now() + interval '1 minute'`)
  await pauseSeller(stage.database, { sellerId: 's-1', actor: 'ann', reason: 'stocktaking' })
  expect(await waited()).toBe(0)
})
