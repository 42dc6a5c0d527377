import { cutSlice } from '../../domain/windows.ts'
import type { SyncWindow } from '../../store/sync-states.ts'

/**
 * What is to be read, with a first window that can be asked for: of a range that is still to be cut the first slice is made now, and the rest
 * waits behind the other ranges, so that all of them are read oldest first. However long a range is, it takes the room of one window.
 */
export const withNextSlice = (pending: readonly SyncWindow[]): readonly SyncWindow[] => {
  const [range, ...others] = pending
  if (range?.sliceMs === undefined) return pending
  const { sliceMs, ...window } = range
  const { slice, rest } = cutSlice(range, sliceMs)
  return [{ ...window, ...slice }, ...others, ...(rest === null ? [] : [{ ...range, ...rest }])]
}
