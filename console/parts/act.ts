import { messageOf } from '../lib/faults.ts'
import { useBusy } from './busy.ts'
import { toast } from './toasts.tsx'

/** An act of a person: `busy` while it runs; what goes wrong is said at the edge of the page, after `about`. */
export const useAct = (about = '') => {
  const { busy, run } = useBusy()
  const act = (work: () => Promise<void>): void =>
    run(() => work().catch((error: unknown) => toast(`${about}${messageOf(error)}`, 'bad')))
  return { busy, act }
}
