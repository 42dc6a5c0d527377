import type { ComponentChildren } from 'preact'
import { contact, Unreachable } from '../lib/api.ts'
import { formatLocal } from '../lib/format.ts'
import type { Query } from '../lib/query.ts'
import { useShared } from '../lib/state.ts'

/** A text instead of an empty list. */
export const Empty = ({ children }: { readonly children: ComponentChildren }) => <p class="empty">{children}</p>

/** A text until the first answer. */
export const Loading = () => (
  <p class="loading" role="status">
    Loading…
  </p>
)

/** A sentence with the time at which the daemon last answered. */
export const lastSeen = (at: Date | null): string =>
  at === null
    ? 'The daemon does not answer.'
    : `The daemon does not answer; its last answer was at ${formatLocal(at, new Date())}.`

/** The reason why data could not be read, with a button to try again. */
export const Failed = ({ error, reload }: { readonly error: Error; readonly reload: () => void }) => {
  const { lastAt } = useShared(contact)
  return (
    <div class="notice bad" role="alert">
      <p>{error instanceof Unreachable ? lastSeen(lastAt) : error.message}</p>
      <button type="button" onClick={reload}>
        Try again
      </button>
    </div>
  )
}

/** Renders a query: loading, failed, or its data by `children`. */
export const Loaded = <Data,>({
  query,
  heading,
  children,
}: {
  readonly query: Query<Data>
  /** Heading above a failure, for views whose heading depends on the data. */
  readonly heading?: string
  readonly children: (data: Data) => ComponentChildren
}) => {
  if (query.data !== undefined) {
    return (
      <>
        {query.error !== null && !(query.error instanceof Unreachable) && <Failed error={query.error} reload={query.reload} />}
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
