import { useRef } from 'preact/hooks'
import { type Freshness, type Query, useQuery } from './query.ts'
import { type Address, readParameters } from './router.ts'

const rowsPerPage = 50

/** Parameters of a list: its filters, the cursor and the length of the page. */
export type PageQuery<Filters> = Filters & { readonly cursor?: string; readonly limit: number }

/**
 * The page of a list for the cursor in the address. `list` and the filters identify the query. The previous page is returned, as stale, until the
 * new one is loaded.
 */
export const usePage = <Filters extends object, Page>(
  list: string,
  at: Address,
  filters: Filters,
  fetchPage: (query: PageQuery<Filters>) => Promise<Page>,
  { limit = rowsPerPage, ...freshness }: Freshness & { readonly limit?: number } = {},
): Query<Page> => {
  const query = { ...filters, ...readParameters(at, ['cursor']), limit }
  const current = useQuery(`${list} ${JSON.stringify(query)}`, () => fetchPage(query), freshness)
  const previous = useRef<{ readonly list: string; readonly data: Page } | null>(null)
  if (current.data !== undefined) previous.current = { list, data: current.data }
  else if (current.loading && previous.current?.list === list)
    return { ...current, data: previous.current.data, loading: false, stale: true }
  return current
}
