import { useEffect, useRef, useState } from 'preact/hooks'
import { contact, loadSession, type Schemas, session, signOut } from './lib/api.ts'
import { messageOf } from './lib/faults.ts'
import { useHeading } from './lib/heading.ts'
import { startLive } from './lib/live.ts'
import { forgetAll, invalidate } from './lib/query.ts'
import { lackOf, useMay } from './lib/rights.ts'
import { matchPath, startRouter, useAddress } from './lib/router.ts'
import { useShared } from './lib/state.ts'
import { applyTheme, chooseTheme, readTheme, type Theme } from './lib/theme.ts'
import { Empty, Loading, lastSeen } from './parts/states.tsx'
import { Toasts, toast } from './parts/toasts.tsx'
import { SignIn } from './sign-in.tsx'
import { needsOf, views } from './views.ts'

/** Interval at which a daemon that does not answer is asked again, and the clocks are set, in milliseconds. */
const retryMs = 2_000
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

/** Says that the daemon does not answer, and asks it again. */
const AwayNotice = () => {
  const { away, lastAt } = useShared(contact)
  useEffect(() => {
    if (!away) return
    const timer = setInterval(() => {
      loadSession().then(
        () => invalidate(),
        // It is still away, as the notice says.
        () => undefined,
      )
    }, retryMs)
    return () => clearInterval(timer)
  }, [away])
  return <div role="alert">{away && <p class="notice bad">{lastSeen(lastAt)} What is shown may be old; trying again.</p>}</div>
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
            return menu === null || !may(...needsOf(view))
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
    const { component: Shown, menu } = view
    const parts = matchPath(view.path, path)
    if (parts === null) continue
    const lack = lackOf(known, needsOf(view))
    if (lack === null) return <Shown parts={parts} />
    return (
      <>
        <h1 tabIndex={-1}>{menu ?? 'Not for this key'}</h1>
        <Empty>{lack}</Empty>
      </>
    )
  }
  return (
    <>
      <h1 tabIndex={-1}>Nothing is here</h1>
      <Empty>
        The console has no page at this address. <a href="/">Go to the overview</a>.
      </Empty>
    </>
  )
}

const leave = async (): Promise<void> => {
  try {
    await signOut()
    forgetAll()
  } catch (error) {
    toast(messageOf(error), 'bad')
  }
}

/** The whole page. */
export const App = () => {
  const { path } = useAddress()
  const known = useShared(session)
  const main = useRef<HTMLElement>(null)

  useEffect(() => {
    applyTheme(readTheme())
    startRouter()
    startLive()
    // A daemon that does not answer is told by the notice.
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
            <button type="button" onClick={() => void leave()}>
              Sign out{known.name === null ? '' : ` ${known.name}`}
            </button>
          )}
        </div>
      </header>
      <main id="main" ref={main} tabIndex={-1}>
        <AwayNotice />
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
