import { useState } from 'preact/hooks'
import { messageOf } from '../lib/faults.ts'
import { toast } from './toasts.tsx'

/** An act of a person: `busy` while it runs; what goes wrong is said at the edge of the page, after `about`. */
export const useAct = (about = '') => {
  const [busy, setBusy] = useState(false)
  const act = (work: () => Promise<void>): void => {
    setBusy(true)
    work()
      .catch((error: unknown) => toast(`${about}${messageOf(error)}`, 'bad'))
      .finally(() => setBusy(false))
  }
  return { busy, act }
}
