import { useState } from 'preact/hooks'
import { messageOf } from '../lib/faults.ts'
import { useBusy } from './busy.ts'

interface Said {
  readonly good: boolean
  readonly text: string
}

/** An act whose outcome stays beside its button: the sentence that `work` ends with, or what went wrong. */
export const useTold = () => {
  const { busy, run } = useBusy()
  const [told, setTold] = useState<Said | null>(null)
  const tell = (work: () => Promise<string>): void =>
    run(() =>
      work().then(
        (text) => setTold({ good: true, text }),
        (error: unknown) => setTold({ good: false, text: messageOf(error) }),
      ),
    )
  return { busy, told, tell }
}

/** What {@link useTold} has to say. */
export const Told = ({ told }: { readonly told: Said | null }) =>
  told === null ? null : (
    <p class={`notice ${told.good ? 'good' : 'bad'}`} role={told.good ? 'status' : 'alert'}>
      {told.text}
    </p>
  )
