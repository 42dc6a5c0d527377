import type { ComponentChildren } from 'preact'
import { Away, contact } from '../lib/api.ts'
import { inZone } from '../lib/format.ts'
import type { Query } from '../lib/query.ts'
import { useShared } from '../lib/state.ts'

/** What stands where nothing is. */
export const Empty = ({ children }: { readonly children: ComponentChildren }) => <p class="empty">{children}</p>

/** What stands until the first answer. */
export const Loading = () => (
  <p class="loading" role="status">
    Loading…
  </p>
)

/** When the daemon last answered, in words. */
export const lastSeen = (at: Date | null): string =>
  at === null ? 'The daemon does not answer.' : `The daemon does not answer; last seen ${inZone(at, new Date())}.`

/** Why something could not be read, and a way to try again. */
export const Failed = ({ error, reload }: { readonly error: Error; readonly reload: () => void }) => {
  const { lastAt } = useShared(contact)
  return (
    <div class="notice bad" role="alert">
      <p>{error instanceof Away ? lastSeen(lastAt) : error.message}</p>
      <button type="button" onClick={reload}>
        Try again
      </button>
    </div>
  )
}

/** Shows the data of a query once it is there: loading, failed, or what `children` makes of it. */
export const Loaded = <Data,>({
  query,
  heading,
  children,
}: {
  readonly query: Query<Data>
  /** Of a view whose heading comes with the data: the one that stands above the failure instead. */
  readonly heading?: string
  readonly children: (data: Data) => ComponentChildren
}) => {
  if (query.data !== undefined) {
    return (
      <>
        {query.error !== null && !(query.error instanceof Away) && <Failed error={query.error} reload={query.reload} />}
        {children(query.data)}
      </>
    )
  }
  if (query.error === null) return <Loading />
  return (
    <>
      {heading !== undefined && <h1 tabIndex={-1}>{heading}</h1>}
      <Failed error={query.error} reload={query.reload} />
    </>
  )
}
