import { openDatabase } from '../../src/store/db/database.ts'
import { isDatabaseUnavailable } from '../../src/store/db/errors.ts'
import { findVocabulary } from '../support/vocabulary.ts'

// A daemon that the test freezes in the middle of a transaction. It has written something, and locks the row of the seller s-1.
const url = process.env['DATABASE_URL'] ?? ''
const database = openDatabase({ findVocabulary, url, connections: 1 })
try {
  await database.transaction(async (tx) => {
    await tx.execute(`INSERT INTO tallyman.sellers (seller_id, state) VALUES ('half', 'active')`)
    await tx.query(`SELECT 1 AS locked FROM tallyman.sellers WHERE seller_id = 's-1' FOR UPDATE`)
    tx.record({ sellerId: 'half', type: 'order.missing', data: {} })
    if (process.env['STOP'] === 'in-transaction') process.kill(process.pid, 'SIGSTOP')
  })
  console.log('committed')
} catch (error) {
  console.log(`failed, unavailable: ${isDatabaseUnavailable(error)}`)
}
await database.close()
