import { errorMessage } from '../lib/errors.ts'
import { useBusy } from './busy.ts'
import { toast } from './toasts.tsx'

/** An action: `busy` while it runs. An error is shown as a toast, after `prefix`. */
export const useAction = (prefix = '') => {
  const { busy, run } = useBusy()
  const runAction = (work: () => Promise<void>): void =>
    run(() => work().catch((error: unknown) => toast(`${prefix}${errorMessage(error)}`, 'bad')))
  return { busy, runAction }
}
