import { useState } from 'preact/hooks'
import { messageOf } from '../lib/faults.ts'

interface Said {
  readonly good: boolean
  readonly text: string
}

/** An act whose outcome stays beside its button: the sentence that `work` ends with, or what went wrong. */
export const useTold = () => {
  const [busy, setBusy] = useState(false)
  const [told, setTold] = useState<Said | null>(null)
  const tell = (work: () => Promise<string>): void => {
    setBusy(true)
    work()
      .then(
        (text) => setTold({ good: true, text }),
        (error: unknown) => setTold({ good: false, text: messageOf(error) }),
      )
      .finally(() => setBusy(false))
  }
  return { busy, told, tell }
}

/** What {@link useTold} has to say. */
export const Told = ({ told }: { readonly told: Said | null }) =>
  told === null ? null : (
    <p class={`notice ${told.good ? 'good' : 'bad'}`} role={told.good ? 'status' : 'alert'}>
      {told.text}
    </p>
  )
