import type { ComponentChildren } from 'preact'
import { several } from '../lib/format.ts'
import type { Query } from '../lib/query.ts'
import { type Address, filtersOf, navigate, setParameters, withoutFilters, withParameters } from '../lib/router.ts'
import { useAct } from './act.ts'
import { Empty, Loaded } from './states.tsx'

/** A column of a table. */
export interface Column<Row> {
  readonly head: string
  readonly cell: (row: Row) => ComponentChildren
  /** Numbers stand to the right. */
  readonly number?: boolean
  /** Value of `sort` in the address by which the server sorts by this column; `ascending` says how. */
  readonly sort?: { readonly by: string; readonly ascending: boolean }
}

/** Rows that are all there. */
export const Rows = <Row,>({
  caption,
  columns,
  rows,
  keyOf,
  at,
}: {
  /** What the rows are; for screen readers. */
  readonly caption: string
  readonly columns: readonly Column<Row>[]
  readonly rows: readonly Row[]
  readonly keyOf: (row: Row) => string
  /** The address that has the `sort`. */
  readonly at?: Address
}) => (
  <table class="rows">
    <caption class="visually-hidden">{caption}</caption>
    <thead>
      <tr>
        {columns.map(({ head, number, sort }) => {
          const isSorted = sort !== undefined && at?.parameters.get('sort') === sort.by
          return (
            <th
              key={head}
              scope="col"
              class={number === true ? 'number' : ''}
              {...(isSorted ? { 'aria-sort': sort.ascending ? 'ascending' : 'descending' } : {})}
            >
              {sort === undefined || at === undefined ? (
                head
              ) : (
                <button type="button" class="plain sort" onClick={() => setParameters(at, { sort: isSorted ? '' : sort.by })}>
                  {head}
                  <span aria-hidden="true">{isSorted ? (sort.ascending ? ' ↑' : ' ↓') : ' ↕'}</span>
                </button>
              )}
            </th>
          )
        })}
      </tr>
    </thead>
    <tbody>
      {rows.map((row) => (
        <tr key={keyOf(row)}>
          {columns.map(({ head, cell, number }) => (
            <td key={head} data-head={head} class={number === true ? 'number' : ''}>
              {cell(row)}
            </td>
          ))}
        </tr>
      ))}
    </tbody>
  </table>
)

/** A page of a list of the interface. */
export interface ListAnswer<Row> {
  readonly items: readonly Row[]
  readonly nextCursor: string | null
}

const trailOf = (state: unknown): readonly string[] =>
  typeof state === 'object' && state !== null && 'trail' in state && Array.isArray(state.trail)
    ? state.trail.filter((cursor) => typeof cursor === 'string')
    : []

/** Leads from page to page; the cursors of those before stand in the browser's history. */
const Pages = ({ at, nextCursor }: { readonly at: Address; readonly nextCursor: string | null }) => {
  const cursor = at.parameters.get('cursor') ?? ''
  if (cursor === '' && nextCursor === null) return null
  const trail = trailOf(history.state)
  const go = (to: string, next: readonly string[]): void =>
    navigate(withParameters(at, { cursor: to }), { state: { trail: next } })
  return (
    <nav class="pages" aria-label="Pages">
      {cursor !== '' && (
        <button type="button" onClick={() => go('', [])}>
          First page
        </button>
      )}
      {trail.length > 0 && (
        <button type="button" onClick={() => go(trail.at(-1) ?? '', trail.slice(0, -1))}>
          Previous page
        </button>
      )}
      {nextCursor !== null && (
        <button type="button" onClick={() => go(nextCursor, [...trail, cursor])}>
          Next page
        </button>
      )}
    </nav>
  )
}

/** Writes all rows of a list into a file: `path` is the list's address in the interface. */
export const CsvButton = ({ path, name }: { readonly path: string; readonly name: string }) => {
  const { busy, act } = useAct('The table could not be saved: ')
  const save = (): void =>
    act(async () => {
      const answer = await fetch(path, { headers: { accept: 'text/csv' } })
      if (!answer.ok) throw new Error(`The daemon answered with HTTP ${answer.status}.`)
      const link = document.createElement('a')
      link.href = URL.createObjectURL(await answer.blob())
      link.download = `${name}.csv`
      link.click()
      setTimeout(() => URL.revokeObjectURL(link.href), 60_000)
    })
  return (
    <button type="button" disabled={busy} onClick={save}>
      {busy ? 'Saving…' : 'Save as CSV'}
    </button>
  )
}

/** A list of the interface, page by page, as a table, with a button for all of it as CSV. */
export const List = <Row,>({
  caption,
  columns,
  query,
  keyOf,
  at,
  empty,
  filtered = filtersOf(at).length > 0,
  csv,
}: {
  readonly caption: string
  readonly columns: readonly Column<Row>[]
  readonly query: Query<ListAnswer<Row>>
  readonly keyOf: (row: Row) => string
  readonly at: Address
  /** What stands instead of no rows; under filters it is followed by a way to clear them. */
  readonly empty: ComponentChildren
  /** Whether parameters of the address filter the list; by default every one that is no page, order or part of a view does. */
  readonly filtered?: boolean
  /** Address of the list in the interface, with its filters and without paging, and the name of the file. */
  readonly csv?: { readonly path: string; readonly name: string }
}) => (
  <Loaded query={query}>
    {({ items, nextCursor }) =>
      items.length === 0 ? (
        <>
          <Empty>
            {empty}
            {filtered && (
              <>
                {' '}
                <a href={withoutFilters(at)}>Clear the filters</a>
              </>
            )}
          </Empty>
          <Pages at={at} nextCursor={nextCursor} />
        </>
      ) : (
        <>
          <Rows caption={caption} columns={columns} rows={items} keyOf={keyOf} at={at} />
          <div class="under">
            <p class="faint">
              {several(items.length, 'row')} on this page{nextCursor === null ? '' : ', and more'}
            </p>
            <Pages at={at} nextCursor={nextCursor} />
            {csv !== undefined && <CsvButton {...csv} />}
          </div>
        </>
      )
    }
  </Loaded>
)
