import { useState } from 'preact/hooks'

/** `busy` is true while `run` runs an action. The action handles its own errors. */
export const useBusy = () => {
  const [busy, setBusy] = useState(false)
  const run = (action: () => Promise<void>): void => {
    setBusy(true)
    action().finally(() => setBusy(false))
  }
  return { busy, run }
}
