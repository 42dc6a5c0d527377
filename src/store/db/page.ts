/** One page of a list, and the key after which the next page begins; null: the last page. */
export interface ListPage<Item, Key> {
  readonly items: readonly Item[]
  readonly next: Key | null
}

/** Builds a page from rows that were read with a limit of one more: an extra row means that there is a next page. */
export const buildPage = <Item, Key>(
  rows: readonly Item[],
  limit: number,
  buildKey: (item: Item) => Key,
): ListPage<Item, Key> => {
  const items = rows.slice(0, limit)
  const last = items.at(-1)
  return { items, next: rows.length > limit && last !== undefined ? buildKey(last) : null }
}

/** A condition of a typed query on a time column: at or after `from`, and before `to`. */
export const isWithin = ({ from, to }: Period): { readonly gte?: Date; readonly lt?: Date } => ({
  ...(from === null ? {} : { gte: from }),
  ...(to === null ? {} : { lt: to }),
})

/** A period; null: unbounded. */
export interface Period {
  readonly from: Date | null
  readonly to: Date | null
}

/** A condition of a typed query on a column: this value; null: any. (In Prisma null means "no value", and undefined means any.) */
export const isOrAny = <Value>(value: Value | null): { readonly equals?: Value } => (value === null ? {} : { equals: value })
