import { type Freshness, type Query, useQuery } from './query.ts'
import { type Address, given } from './router.ts'

const rowsOfPage = 50

/** What a list of the interface is asked for: its filters, and which page. */
export type PageQuery<Filters> = Filters & { readonly cursor?: string; readonly limit: number }

/** The page of a list that the address names by its cursor. `list` and the filters name the question. */
export const usePage = <Filters extends object, Page>(
  list: string,
  at: Address,
  filters: Filters,
  ask: (query: PageQuery<Filters>) => Promise<Page>,
  { limit = rowsOfPage, ...freshness }: Freshness & { readonly limit?: number } = {},
): Query<Page> => {
  const query = { ...filters, ...given(at, ['cursor']), limit }
  return useQuery(`${list} ${JSON.stringify(query)}`, () => ask(query), freshness)
}
