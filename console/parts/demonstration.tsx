import { useState } from 'preact/hooks'
import { session } from '../lib/api.ts'
import { useShared } from '../lib/state.ts'

const hiddenKept = 'tallyman-demonstration-hidden'

const ways = [
  ['/console/today', 'To do today', 'what a warehouse lead looks at: open orders, the earliest deadline first'],
  [
    '/console/orders',
    'Orders',
    'open one: its timeline shows what the marketplace reported, what the ERP said and what was sent',
  ],
  ['/console/commands', 'Commands', 'each acknowledgement, shipment, cancellation and refund with its requests and answers'],
  ['/console/alarms', 'Alarms', 'what needs a person'],
  ['/docs', 'API', 'the interface by which your ERP does what the demonstration does'],
] as const

/** Tells whoever sees a demonstration for the first time what it is, and where to look. */
export const Demonstration = () => {
  const known = useShared(session)
  const [hidden, setHidden] = useState(localStorage.getItem(hiddenKept) !== null)
  if (known?.marketplace !== 'demonstration') return null
  if (hidden) return <p class="faint">A demonstration: the orders are of a sandbox on this machine.</p>
  return (
    <section class="card" aria-label="What you see">
      <h2>This is a demonstration</h2>
      <p>
        A sandbox on this machine plays the marketplace and places an order every few seconds. A small ERP accepts, ships, cancels
        and refunds them. Tallyman stands between the two, as it will between yours: it reads the orders into Postgres, and sends
        each decision exactly once. Nothing leaves this machine.
      </p>
      <ul class="plain">
        {ways.map(([address, name, what]) => (
          <li key={address}>
            <a href={address}>{name}</a>: {what}
          </li>
        ))}
      </ul>
      <p>
        To read from your own account, set <code>MARKETPLACE_URL</code>, <code>CLIENT_ID</code> and <code>CLIENT_SECRET</code>,
        and start again: the sandbox and its ERP are then left out.
      </p>
      <button
        type="button"
        onClick={() => {
          localStorage.setItem(hiddenKept, 'yes')
          setHidden(true)
        }}
      >
        Hide this
      </button>
    </section>
  )
}
