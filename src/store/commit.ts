import type { SqlDriverAdapterFactory, Transaction } from '@prisma/driver-adapter-utils'

/**
 * Holds one statement of a transaction back until its COMMIT and sends the two as one message. A process that freezes between two
 * messages would keep what the statement locked until the server ends its session; between two statements of one message there is no
 * process to wait for.
 *
 * @param statement its text, with the one parameter `$1`, a text
 */
export const committingWith = (factory: SqlDriverAdapterFactory, statement: string): SqlDriverAdapterFactory => ({
  provider: factory.provider,
  adapterName: factory.adapterName,
  connect: async () => {
    const adapter = await factory.connect()
    const startTransaction = adapter.startTransaction.bind(adapter)
    adapter.startTransaction = async (isolationLevel) => holdingBack(await startTransaction(isolationLevel), statement)
    return adapter
  },
})

/** A text as a literal of SQL, whatever the server takes backslashes for. `pg` has one too, which goes character by character: too slow for megabytes. */
const literalOf = (text: string): string => `E'${text.replaceAll('\\', '\\\\').replaceAll("'", "''")}'`

const holdingBack = (transaction: Transaction, statement: string): Transaction => {
  const executeRaw = transaction.executeRaw.bind(transaction)
  const commit = transaction.commit.bind(transaction)
  let held: string | null = null
  transaction.executeRaw = async (query) => {
    if (query.sql === statement) {
      held = String(query.args[0])
      return 0
    }
    if (query.sql !== 'COMMIT' || held === null) return executeRaw(query)
    const literal = literalOf(held)
    held = null
    try {
      // Without arguments it travels as one simple query, which may hold several statements; the first that fails is the last.
      return await executeRaw({ ...query, sql: `${statement.replace('$1', () => literal)};\nCOMMIT` })
    } catch (error) {
      // A COMMIT that fails ends its transaction, so whoever sent it only gives the connection back. This one may have failed before it.
      // Where the connection is lost the server rolls back by itself, and the pool drops it.
      await executeRaw({ sql: 'ROLLBACK', args: [], argTypes: [] }).catch(() => undefined)
      throw error
    }
  }
  transaction.commit = async () => {
    await commit()
    if (held !== null) throw new Error('a transaction was committed without the statement that was held back for its COMMIT')
  }
  return transaction
}

/** Sends statements of its own at the beginning of each transaction, as one message; none where they are empty. */
export const beginningWith = (factory: SqlDriverAdapterFactory, statements: () => string): SqlDriverAdapterFactory => ({
  provider: factory.provider,
  adapterName: factory.adapterName,
  connect: async () => {
    const adapter = await factory.connect()
    const startTransaction = adapter.startTransaction.bind(adapter)
    adapter.startTransaction = async (isolationLevel) => {
      const transaction = await startTransaction(isolationLevel)
      const sql = statements()
      if (sql === '') return transaction
      try {
        await transaction.executeRaw({ sql, args: [], argTypes: [] })
        return transaction
      } catch (error) {
        // Nobody else knows of it yet. Where the connection is lost the server rolls back by itself, and the pool drops it.
        await transaction.executeRaw({ sql: 'ROLLBACK', args: [], argTypes: [] }).catch(() => undefined)
        await transaction.rollback()
        throw error
      }
    }
    return adapter
  },
})
