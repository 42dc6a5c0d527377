import { isDeepStrictEqual } from 'node:util'
import { z } from 'zod'
import { type ChangeType, changeTypes, isChangeType } from '../../src/domain/changes/catalogue.ts'
import { numberChanges } from '../../src/store/changes/change-numbers.ts'
import type { SqlRunner, Transaction } from '../../src/store/db/database.ts'

/** What a change may have instead of its data: nothing, of a test that writes rows by SQL, and the mark of an erased buyer. */
const isEmptied = (data: unknown): boolean => isDeepStrictEqual(data, {}) || isDeepStrictEqual(data, { erased: true })

/** What is wrong with a change, by the catalogue: its type, its data, members that the catalogue does not name; null: nothing. */
export const faultOfChange = ({ type, data }: { readonly type: string; readonly data: unknown }): string | null => {
  if (!isChangeType(type)) return `${type} is not in the catalogue`
  if (isEmptied(data)) return null
  const parsed = changeTypes[type].data.safeParse(data)
  if (!parsed.success) return `${type}: ${z.prettifyError(parsed.error)}`
  return isDeepStrictEqual(parsed.data, data)
    ? null
    : `${type} has members that the catalogue does not name: ${JSON.stringify(data)}`
}

/** Records a change without its data, as one of an erased buyer is. */
export const recordEmptied = (
  tx: Transaction,
  change: { readonly sellerId: string; readonly type: ChangeType; readonly purchaseOrderId?: string },
): void => Reflect.apply(tx.record, tx, [{ ...change, data: {} }])

/** The same database, once all that was recorded is numbered: `warehouse.changes` may be read now. */
export const numbered = async <Sql extends SqlRunner>(sql: Sql): Promise<Sql> => {
  await numberChanges(sql)
  return sql
}

/** Whatever a test has recorded is of a type of the catalogue, with its data: thirty of each type are looked at. */
export const expectCatalogued = async (sql: SqlRunner): Promise<void> => {
  const rows = await (await numbered(sql)).query<{ type: string; data: unknown }>(
    `SELECT type, data FROM (SELECT type, data, row_number() OVER (PARTITION BY type ORDER BY seq DESC) AS place FROM warehouse.changes) c
     WHERE place <= 30`,
  )
  const faults = rows.flatMap((row) => faultOfChange(row) ?? [])
  if (faults.length > 0) throw new Error(`changes that do not fit the catalogue:\n${faults.slice(0, 5).join('\n')}`)
}
