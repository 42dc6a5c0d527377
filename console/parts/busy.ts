import { useState } from 'preact/hooks'

/** Whether an act is under way: `busy` while `run` does it. What goes wrong is for the act to say. */
export const useBusy = () => {
  const [busy, setBusy] = useState(false)
  const run = (act: () => Promise<void>): void => {
    setBusy(true)
    act().finally(() => setBusy(false))
  }
  return { busy, run }
}
