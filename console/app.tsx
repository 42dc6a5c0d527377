import { useEffect, useRef, useState } from 'preact/hooks'
import { contact, loadSession, type Schemas, session, signOut } from './lib/api.ts'
import { errorMessage } from './lib/errors.ts'
import { useHeading } from './lib/heading.ts'
import { startLive } from './lib/live.ts'
import { startPresses } from './lib/press.ts'
import { clearQueries } from './lib/query.ts'
import { findMissingRights } from './lib/rights.ts'
import { matchPath, startRouter, useAddress } from './lib/router.ts'
import { useShared } from './lib/state.ts'
import { applyTheme, chooseTheme, readTheme, type Theme } from './lib/theme.ts'
import { MenuButton, Sidebar } from './parts/navigation.tsx'
import { Search } from './parts/search.tsx'
import { ShadowNotice } from './parts/shadow.tsx'
import { Empty, Loading, lastSeen } from './parts/states.tsx'
import { Toasts, toast } from './parts/toasts.tsx'
import { SignIn } from './sign-in.tsx'
import { listNeeds, views } from './views.ts'

/** Interval at which a daemon that does not answer is requested again, in milliseconds. */
const retryMs = 2_000
/** Interval at which the session is read and the clocks are set, in milliseconds. */
const clockMs = 300_000

const logo = new URL('./logo.svg', import.meta.url).href

const ThemeSwitch = () => {
  const [theme, setTheme] = useState(readTheme)
  return (
    <label class="theme">
      <span class="visually-hidden">Colours</span>
      <select
        value={theme}
        onChange={(change) => {
          const { value } = change.currentTarget
          const next: Theme = value === 'light' || value === 'dark' ? value : 'system'
          chooseTheme(next)
          setTheme(next)
        }}
      >
        <option value="system">As the system</option>
        <option value="light">Light</option>
        <option value="dark">Dark</option>
      </select>
    </label>
  )
}

/** Shows that the daemon does not answer, and retries. */
const UnavailableNotice = () => {
  const { unreachable, lastAt } = useShared(contact)
  useEffect(() => {
    if (!unreachable) return
    const timer = setInterval(() => {
      // If it still does not answer, the notice stays.
      loadSession().catch(() => undefined)
    }, retryMs)
    return () => clearInterval(timer)
  }, [unreachable])
  return (
    <div role="alert">{unreachable && <p class="notice bad">{lastSeen(lastAt)} The page may show old data; retrying.</p>}</div>
  )
}

const View = ({ path, session: known }: { readonly path: string; readonly session: Schemas['Session'] }) => {
  for (const view of views) {
    const { component: Component, menu } = view
    const parts = matchPath(view.path, path)
    if (parts === null) continue
    const missing = findMissingRights(known, listNeeds(view))
    if (missing === null) return <Component parts={parts} />
    return (
      <>
        <h1 tabIndex={-1}>{menu ?? 'Not for this key'}</h1>
        <Empty>{missing}</Empty>
      </>
    )
  }
  return (
    <>
      <h1 tabIndex={-1}>Page not found</h1>
      <Empty>
        The console has no page at this address. <a href="/">Go to the overview</a>.
      </Empty>
    </>
  )
}

const signOutAndClear = async (): Promise<void> => {
  try {
    await signOut()
    clearQueries()
  } catch (error) {
    toast(errorMessage(error), 'bad')
  }
}

/** The whole page. */
export const App = () => {
  const { path } = useAddress()
  const known = useShared(session)
  const main = useRef<HTMLElement>(null)
  const [isMenuOpen, setMenuOpen] = useState(false)
  useEffect(() => setMenuOpen(false), [path])

  useEffect(() => {
    applyTheme(readTheme())
    startPresses()
    startRouter()
    startLive()
    // The notice shows that the daemon does not answer.
    const load = (): void => void loadSession().catch(() => undefined)
    load()
    const timer = setInterval(load, clockMs)
    return () => clearInterval(timer)
  }, [])

  const isSignedIn = known?.signedIn === true
  useHeading(main, known === null ? null : `${path} ${known.signedIn}`)

  return (
    <>
      <a class="skip" href="#main">
        Skip to content
      </a>
      <header>
        {isSignedIn && <MenuButton open={isMenuOpen} toggle={() => setMenuOpen(!isMenuOpen)} />}
        <a class="brand" href="/">
          <img src={logo} alt="" width="28" height="28" />
          Tallyman
        </a>
        {isSignedIn && known.scopes.includes('read') && <Search />}
        <div class="corner">
          <ThemeSwitch />
          {isSignedIn && known.expiresAt !== null && (
            <button type="button" onClick={() => void signOutAndClear()}>
              Sign out{known.name === null ? '' : ` ${known.name}`}
            </button>
          )}
        </div>
      </header>
      <div class="shell">
        {isSignedIn && <Sidebar path={path} open={isMenuOpen} />}
        <main id="main" class={isSignedIn ? '' : 'alone'} ref={main} tabIndex={-1}>
          <UnavailableNotice />
          {isSignedIn && <ShadowNotice />}
          {known === null ? (
            <Loading />
          ) : isSignedIn ? (
            path === '/console/sign-in' ? (
              <SignIn />
            ) : (
              <View path={path} session={known} />
            )
          ) : (
            <SignIn />
          )}
        </main>
      </div>
      <Toasts />
    </>
  )
}
