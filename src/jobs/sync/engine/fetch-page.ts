import type { SyncWindow } from '../../../store/sync/sync-states.ts'
import type { FetchedPage } from './stream.ts'
import type { PagedRun } from './stream-run.ts'

/** Fetches the page of a window at a cursor (null: the first page), with the window's page size. Never rejects. */
export const fetchPage = async <T>(
  { context, stream, calls }: PagedRun<T>,
  window: SyncWindow,
  cursor: string | null,
): Promise<PromiseSettledResult<FetchedPage<T>>> => {
  const { limit } = window
  const limited = limit === undefined ? context : { ...context, settings: { ...context.settings, pageSize: limit } }
  const [result] = await Promise.allSettled([stream.read(limited, window, cursor, calls)])
  return result
}
