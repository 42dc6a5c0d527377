import { useEffect, useRef, useState } from 'preact/hooks'
import { contact, loadSession, type Schemas, session, signOut } from './lib/api.ts'
import { errorMessage } from './lib/errors.ts'
import { useHeading } from './lib/heading.ts'
import { startLive } from './lib/live.ts'
import { startPresses } from './lib/press.ts'
import { clearQueries, invalidate } from './lib/query.ts'
import { findMissingRights, useMay } from './lib/rights.ts'
import { matchPath, startRouter, useAddress } from './lib/router.ts'
import { useShared } from './lib/state.ts'
import { applyTheme, chooseTheme, readTheme, type Theme } from './lib/theme.ts'
import { ShadowNotice } from './parts/shadow.tsx'
import { Empty, Loading, lastSeen } from './parts/states.tsx'
import { Toasts, toast } from './parts/toasts.tsx'
import { SignIn } from './sign-in.tsx'
import { listNeeds, views } from './views.ts'

/** Interval at which a daemon that does not answer is requested again, in milliseconds. */
const retryMs = 2_000
/** Interval at which the session is read and the clocks are set, in milliseconds. */
const clockMs = 300_000

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
      loadSession().then(
        () => invalidate(),
        // It still does not answer: the notice stays.
        () => undefined,
      )
    }, retryMs)
    return () => clearInterval(timer)
  }, [unreachable])
  return (
    <div role="alert">{unreachable && <p class="notice bad">{lastSeen(lastAt)} The page may show old data; retrying.</p>}</div>
  )
}

const Navigation = ({ path }: { readonly path: string }) => {
  const [open, setOpen] = useState(false)
  const may = useMay()
  useEffect(() => setOpen(false), [path])
  const base = `/${path.split('/').slice(1, 3).join('/')}`
  return (
    <>
      <button type="button" class="menu" aria-expanded={open} aria-controls="navigation" onClick={() => setOpen(!open)}>
        Menu
      </button>
      <nav id="navigation" aria-label="Views" class={open ? 'open' : ''}>
        <ul>
          {views.flatMap((view) => {
            const { path: to, menu } = view
            return menu === null || !may(...listNeeds(view))
              ? []
              : [
                  <li key={to}>
                    <a href={to} {...(to === base || to === path ? { 'aria-current': 'page' as const } : {})}>
                      {menu}
                    </a>
                  </li>,
                ]
          })}
          {may('read', 'all') && (
            <li>
              <a href="/queues">Queues</a>
            </li>
          )}
          {may('read') && (
            <li>
              <a href="/docs">API</a>
            </li>
          )}
        </ul>
      </nav>
    </>
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

  useHeading(main, known === null ? null : `${path} ${known.signedIn}`)

  return (
    <>
      <a class="skip" href="#main">
        Skip to content
      </a>
      <header>
        <a class="brand" href="/">
          Tallyman
        </a>
        {known?.signedIn === true && <Navigation path={path} />}
        <div class="corner">
          <ThemeSwitch />
          {known?.signedIn === true && known.expiresAt !== null && (
            <button type="button" onClick={() => void signOutAndClear()}>
              Sign out{known.name === null ? '' : ` ${known.name}`}
            </button>
          )}
        </div>
      </header>
      <main id="main" ref={main} tabIndex={-1}>
        <UnavailableNotice />
        {known?.signedIn === true && <ShadowNotice />}
        {known === null ? (
          <Loading />
        ) : known.signedIn ? (
          path === '/console/sign-in' ? (
            <SignIn />
          ) : (
            <View path={path} session={known} />
          )
        ) : (
          <SignIn />
        )}
      </main>
      <Toasts />
    </>
  )
}
