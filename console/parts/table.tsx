import { type ComponentChildren, Fragment } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import { pluralize } from '../lib/format.ts'
import type { Query } from '../lib/query.ts'
import { type Address, listFilters, navigate, setParameters, withoutFilters, withParameters } from '../lib/router.ts'
import { useSellerIds } from '../lib/shared-queries.ts'
import { useAction } from './action.ts'
import { Empty, Loaded, Loading } from './states.tsx'
import { None } from './text.tsx'

/** A column of a table. */
export interface Column<Row> {
  readonly head: string
  readonly cell: (row: Row) => ComponentChildren
  /** Numbers are aligned to the right. */
  readonly number?: boolean
  /** Sentences, lists and buttons may take several lines. An id, a time, an amount of money or a count stays on one. */
  readonly wraps?: boolean
  /** Value of `sort` in the address that sorts by this column, and the direction. */
  readonly sort?: { readonly by: string; readonly ascending: boolean }
}

/** The seller of a row. A table leaves it out where there is a single seller. */
export const sellerColumn: Column<{ readonly sellerId: string | null }> = {
  head: 'Seller',
  cell: ({ sellerId }) => (sellerId === null || sellerId === '' ? <None /> : sellerId),
}

/** A box that scrolls a table that is too wide, also by keyboard. */
const ScrollBox = ({ label, children }: { readonly label: string; readonly children: ComponentChildren }) => {
  const box = useRef<HTMLDivElement>(null)
  useEffect(() => {
    const { current } = box
    if (current === null) return
    const observer = new ResizeObserver(() => {
      if (current.scrollWidth > current.clientWidth) current.tabIndex = 0
      else current.removeAttribute('tabindex')
    })
    for (const one of [current, ...current.children]) observer.observe(one)
    return () => observer.disconnect()
  }, [])
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset is for the fields of a form
    <div ref={box} class="sideways" role="group" aria-label={label}>
      {children}
    </div>
  )
}

/** A table of complete rows, without pages. */
export const Rows = <Row,>({
  caption,
  columns: all,
  rows,
  buildKey,
  at,
  groupBy,
}: {
  /** Name of the table, for screen readers. */
  readonly caption: string
  readonly columns: readonly Column<Row>[]
  readonly rows: readonly Row[]
  readonly buildKey: (row: Row) => string
  /** The address with the parameter `sort`. */
  readonly at?: Address
  /** Name of the group of a row; the rows of a group follow each other. */
  readonly groupBy?: ((row: Row) => string) | undefined
}) => {
  const { ids, isComplete } = useSellerIds()
  const columns = isComplete && ids.length <= 1 ? all.filter((column) => !Object.is(column, sellerColumn)) : all
  return (
    <ScrollBox label={caption}>
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
                    <button type="button" class="plain sort" onClick={() => setParameters({ sort: isSorted ? '' : sort.by })}>
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
          {rows.map((row, index) => {
            const group = groupBy?.(row)
            const before = rows[index - 1]
            const isFirst = group !== undefined && (before === undefined || groupBy?.(before) !== group)
            return (
              <Fragment key={buildKey(row)}>
                {isFirst && (
                  <tr class="group">
                    <th colSpan={columns.length} scope="rowgroup">
                      {group}
                    </th>
                  </tr>
                )}
                <tr>
                  {columns.map(({ head, cell, number, wraps }) => (
                    <td key={head} data-head={head} class={number === true ? 'number' : wraps === true ? 'wraps' : ''}>
                      {wraps === true ? <div>{cell(row)}</div> : cell(row)}
                    </td>
                  ))}
                </tr>
              </Fragment>
            )
          })}
        </tbody>
      </table>
    </ScrollBox>
  )
}

/** A page of a list of the interface. */
export interface ListAnswer<Row> {
  readonly items: readonly Row[]
  readonly nextCursor: string | null
}

const readTrail = (state: unknown): readonly string[] =>
  typeof state === 'object' && state !== null && 'trail' in state && Array.isArray(state.trail)
    ? state.trail.filter((cursor) => typeof cursor === 'string')
    : []

/** Buttons for the pages of a list. The browser's history stores the cursors of the previous pages. */
const Pages = ({
  at,
  nextCursor,
  stale,
}: {
  readonly at: Address
  readonly nextCursor: string | null
  /** The cursor belongs to other filters than the address has. */
  readonly stale: boolean
}) => {
  const cursor = at.parameters.get('cursor') ?? ''
  if (cursor === '' && nextCursor === null) return null
  const trail = readTrail(history.state)
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
        <button type="button" disabled={stale} onClick={() => go(nextCursor, [...trail, cursor])}>
          Next page
        </button>
      )}
    </nav>
  )
}

/** A button that saves all rows of a list as a file. `path`: address of the list in the interface. */
export const CsvButton = ({ path, name }: { readonly path: string; readonly name: string }) => {
  const { busy, runAction } = useAction('The table could not be saved: ')
  const save = (): void =>
    runAction(async () => {
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
  buildKey,
  at,
  empty,
  filtered = listFilters(at).length > 0,
  csv,
  groupBy,
}: {
  readonly caption: string
  readonly columns: readonly Column<Row>[]
  readonly query: Query<ListAnswer<Row>>
  readonly buildKey: (row: Row) => string
  readonly at: Address
  /** Text of an empty list; with filters, a link to clear them follows. */
  readonly empty: ComponentChildren
  /** Whether parameters of the address filter the list; default: all parameters except page, order and part of a view are filters. */
  readonly filtered?: boolean
  /** Address of the list in the interface, with its filters and without paging, and the name of the file. */
  readonly csv?: { readonly path: string; readonly name: string }
  /** Name of the group of a row; the rows of a group follow each other. */
  readonly groupBy?: ((row: Row) => string) | undefined
}) => (
  <Loaded query={query}>
    {({ items, nextCursor }) =>
      items.length === 0 && query.stale ? (
        // It is not known yet whether rows match the new filters.
        <Loading />
      ) : items.length === 0 ? (
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
          <Pages at={at} nextCursor={nextCursor} stale={query.stale} />
        </>
      ) : (
        <div aria-busy={query.stale}>
          <Rows caption={caption} columns={columns} rows={items} buildKey={buildKey} at={at} groupBy={groupBy} />
          <div class="under">
            <p class="faint">
              {pluralize(items.length, 'row')} on this page{nextCursor === null ? '' : ', and more'}
            </p>
            <Pages at={at} nextCursor={nextCursor} stale={query.stale} />
            {csv !== undefined && <CsvButton {...csv} />}
          </div>
        </div>
      )
    }
  </Loaded>
)
