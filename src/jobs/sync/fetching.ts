import type { SyncWindow } from '../../store/sync-states.ts'
import type { FetchedPage } from './stream.ts'
import type { PagedRun } from './stream-run.ts'

/** A page of a window, its first one or the one at a cursor, with as many records as the window says; or what kept it from coming. */
export const fetchPage = async <T>(
  { context, stream, calls }: PagedRun<T>,
  window: SyncWindow,
  cursor: string | null,
): Promise<PromiseSettledResult<FetchedPage<T>>> => {
  const { limit } = window
  const asking = limit === undefined ? context : { ...context, settings: { ...context.settings, pageSize: limit } }
  const [result] = await Promise.allSettled([stream.read(asking, window, cursor, calls)])
  return result
}
