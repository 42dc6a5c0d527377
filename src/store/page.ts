/** One page of a list, and the key after which the next one begins; null on the last page. */
export interface ListPage<Item, Key> {
  readonly items: readonly Item[]
  readonly next: Key | null
}

/** Cuts a page out of rows that were read with one more than asked: whether there is more is known without counting. */
export const pageOf = <Item, Key>(rows: readonly Item[], limit: number, keyOf: (item: Item) => Key): ListPage<Item, Key> => {
  const items = rows.slice(0, limit)
  const last = items.at(-1)
  return { items, next: rows.length > limit && last !== undefined ? keyOf(last) : null }
}

/** A condition of a typed query on a time: at or after `from`, and before `to`; null: unbounded. */
export const isWithin = ({ from, to }: Period): { readonly gte?: Date; readonly lt?: Date } => ({
  ...(from === null ? {} : { gte: from }),
  ...(to === null ? {} : { lt: to }),
})

/** Bounds of a time; null: none. */
export interface Period {
  readonly from: Date | null
  readonly to: Date | null
}

/** A condition of a typed query on a column: this value; null: any. Prisma itself takes null for "no value", and undefined for any. */
export const isOrAny = <Value>(value: Value | null): { readonly equals?: Value } => (value === null ? {} : { equals: value })
