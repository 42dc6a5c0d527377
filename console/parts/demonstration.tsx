import { useState } from 'preact/hooks'
import { api, readAnswer, session } from '../lib/api.ts'
import { useMay } from '../lib/rights.ts'
import { useShared } from '../lib/state.ts'
import { useAction } from './action.ts'
import { toast } from './toasts.tsx'

const hiddenKey = 'tallyman-demonstration-hidden'

const links = [
  ['/console/today', 'Today', 'for a warehouse lead: open orders, the earliest deadline first'],
  [
    '/console/orders',
    'Orders',
    'open one: its timeline shows the reports of the marketplace, the events of the ERP and the requests that were sent',
  ],
  ['/console/commands', 'Commands', 'each acknowledgement, shipment, cancellation and refund with its requests and answers'],
  ['/console/alarms', 'Alarms', 'conditions that need a person'],
  ['/docs', 'API', 'the interface that your ERP will use, as the demonstration does'],
] as const

/** Makes trouble to look at. */
const MakeTrouble = () => {
  const { busy, runAction } = useAction('There is no trouble: ')
  const may = useMay()
  if (!may('operate', 'all')) return null
  const make = (): void =>
    runAction(async () => {
      await readAnswer(api.POST('/v1/demonstration/trouble'))
      toast(
        'A late order and a rejected event appear within a minute, a return in quarantine and a held shipment within a few minutes.',
      )
    })
  return (
    <button type="button" class="primary" disabled={busy} onClick={make}>
      Make some trouble
    </button>
  )
}

/** Explains the demonstration to a first-time user. */
export const Demonstration = () => {
  const known = useShared(session)
  const [hidden, setHidden] = useState(localStorage.getItem(hiddenKey) !== null)
  if (known?.marketplace !== 'demonstration') return null
  if (hidden)
    return (
      <p class="row">
        <span class="faint">A demonstration: the orders come from a sandbox on this machine.</span> <MakeTrouble />
      </p>
    )
  return (
    <section class="card" aria-label="About the demonstration">
      <h2>This is a demonstration</h2>
      <p>
        A sandbox on this machine plays the marketplace and places an order every few seconds. A small ERP accepts, ships, cancels
        and refunds them. Tallyman connects the two: it reads the orders into Postgres, and sends each decision exactly once. No
        data leave this machine.
      </p>
      <ul class="plain">
        {links.map(([address, name, what]) => (
          <li key={address}>
            <a href={address}>{name}</a>: {what}
          </li>
        ))}
      </ul>
      <p>
        To read from your own account, set <code>MARKETPLACE_URL</code>, <code>CLIENT_ID</code> and <code>CLIENT_SECRET</code>,
        and restart: the sandbox and its ERP are then off.
      </p>
      <MakeTrouble />{' '}
      <button
        type="button"
        onClick={() => {
          localStorage.setItem(hiddenKey, 'yes')
          setHidden(true)
        }}
      >
        Hide this
      </button>
    </section>
  )
}
