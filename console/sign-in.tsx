import { useEffect, useState } from 'preact/hooks'
import { session, signIn } from './lib/api.ts'
import { errorMessage } from './lib/errors.ts'
import { navigate, useAddress } from './lib/router.ts'
import { useShared } from './lib/state.ts'

/** The address after the sign-in; only addresses of this daemon are allowed. */
const findTarget = (to: string | null): string => (to !== null && /^\/(?![/\\])/.test(to) ? to : '/')

/** Exchanges a key for a session, then opens the requested address. */
export const SignIn = () => {
  const { path, parameters } = useAddress()
  const signedIn = useShared(session)?.signedIn === true
  const [problem, setProblem] = useState('')
  const [busy, setBusy] = useState(false)

  useEffect(() => {
    if (!signedIn || path !== '/console/sign-in') return
    const to = findTarget(parameters.get('to'))
    if (to === '/' || to.startsWith('/console/')) navigate(to, { replace: true })
    else location.replace(to)
  }, [signedIn, path, parameters])

  const submit = async (form: HTMLFormElement): Promise<void> => {
    setBusy(true)
    setProblem('')
    try {
      await signIn(String(new FormData(form).get('key') ?? ''))
    } catch (error) {
      setProblem(errorMessage(error))
    }
    setBusy(false)
  }

  return (
    <section class="sign-in">
      <h1 tabIndex={-1}>Sign in</h1>
      <p>
        The daemon needs a key: <code>API_KEY</code> of its settings, or your own key, which an operator adds with{' '}
        <code>tallyman keys add</code>.
      </p>
      <form
        onSubmit={(event) => {
          event.preventDefault()
          void submit(event.currentTarget)
        }}
      >
        <div class="field">
          <label for="key">Key</label>
          <input id="key" name="key" type="password" autocomplete="current-password" required aria-describedby="key-note" />
          <p id="key-note" class="faint">
            It is exchanged for a cookie that is valid for 12 hours. The browser does not store the key.
          </p>
        </div>
        {problem !== '' && (
          <p class="notice bad" role="alert">
            {problem}
          </p>
        )}
        <button type="submit" class="primary" disabled={busy}>
          Sign in
        </button>
      </form>
    </section>
  )
}
