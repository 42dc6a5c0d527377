import { toast } from './toasts.tsx'

/** A secret that is shown once, until the person has put it away. */
export const SecretOnce = ({
  what,
  secret,
  done,
}: {
  /** What it is, at the beginning of a sentence. */
  readonly what: string
  readonly secret: string
  readonly done: () => void
}) => {
  const copy = async (): Promise<void> => {
    try {
      await navigator.clipboard.writeText(secret)
      toast('Copied.')
    } catch {
      // A browser may refuse it, for example without TLS; the text can be selected instead.
      toast('The browser does not allow copying here: select the text.', 'bad')
    }
  }
  return (
    <section class="notice warn" aria-label={what} role="alert">
      <p>
        <strong>{what}.</strong> It is shown this once: store it now.
      </p>
      <code class="secret">{secret}</code>
      <p class="row">
        <button type="button" onClick={() => void copy()}>
          Copy
        </button>
        <button type="button" onClick={done}>
          I have stored it
        </button>
      </p>
    </section>
  )
}
