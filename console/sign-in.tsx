import { useEffect, useState } from 'preact/hooks'
import { session, signIn } from './lib/api.ts'
import { messageOf } from './lib/faults.ts'
import { navigate, useAddress } from './lib/router.ts'
import { useShared } from './lib/state.ts'

/** Where to go after the sign-in: only addresses of this daemon. */
const wayOn = (to: string | null): string => (to !== null && /^\/(?![/\\])/.test(to) ? to : '/')

/** Takes a key for a session, then goes on to where the person was going. */
export const SignIn = () => {
  const { path, parameters } = useAddress()
  const signedIn = useShared(session)?.signedIn === true
  const [problem, setProblem] = useState('')
  const [busy, setBusy] = useState(false)

  useEffect(() => {
    if (!signedIn || path !== '/console/sign-in') return
    const to = wayOn(parameters.get('to'))
    if (to === '/' || to.startsWith('/console/')) navigate(to, { replace: true })
    else location.replace(to)
  }, [signedIn, path, parameters])

  const submit = async (form: HTMLFormElement): Promise<void> => {
    setBusy(true)
    setProblem('')
    try {
      await signIn(String(new FormData(form).get('key') ?? ''))
    } catch (error) {
      setProblem(messageOf(error))
    }
    setBusy(false)
  }

  return (
    <section class="sign-in">
      <h1 tabIndex={-1}>Sign in</h1>
      <p>
        The daemon asks for a key: <code>API_KEY</code> of its settings, or a key of your own, which an operator makes with{' '}
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
            It is exchanged for a cookie that lasts 12 hours, and is not kept in the browser.
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
