import { toast } from './toasts.tsx'

/** A secret that is shown once, until the person confirms that it is stored. */
export const SecretOnce = ({
  name,
  secret,
  done,
}: {
  /** Name of the secret, at the beginning of a sentence. */
  readonly name: string
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
    <section class="notice warn" aria-label={name} role="alert">
      <p>
        <strong>{name}.</strong> It is shown only once: store it now.
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
