import { useState } from 'preact/hooks'
import { errorMessage } from '../lib/errors.ts'
import { useBusy } from './busy.ts'

interface Outcome {
  readonly good: boolean
  readonly text: string
}

/** An action whose outcome stays visible beside its button: the sentence that `work` returns, or its error. */
export const useOutcome = () => {
  const { busy, run } = useBusy()
  const [outcome, setOutcome] = useState<Outcome | null>(null)
  const runAction = (work: () => Promise<string>): void =>
    run(() =>
      work().then(
        (text) => setOutcome({ good: true, text }),
        (error: unknown) => setOutcome({ good: false, text: errorMessage(error) }),
      ),
    )
  return { busy, outcome, runAction }
}

/** The outcome of {@link useOutcome}. */
export const OutcomeNotice = ({ outcome }: { readonly outcome: Outcome | null }) =>
  outcome === null ? null : (
    <p class={`notice ${outcome.good ? 'good' : 'bad'}`} role={outcome.good ? 'status' : 'alert'}>
      {outcome.text}
    </p>
  )
