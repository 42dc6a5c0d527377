import type { ComponentChildren } from 'preact'
import { useMarketplaceNow, useNow } from '../lib/clock.ts'
import { inUtc, inZone, money, span } from '../lib/format.ts'

/** Where there is no value. */
export const None = () => <span class="faint">–</span>

/** A moment in the viewer's zone, with UTC on hover. */
export const Time = ({ at }: { readonly at: string | null | undefined }) => {
  const now = useNow()
  if (at === null || at === undefined) return <None />
  const moment = new Date(at)
  return (
    <time dateTime={at} title={inUtc(moment)}>
      {inZone(moment, new Date(now))}
    </time>
  )
}

/** How long ago a moment was by the daemon's clock, with the moment on hover. */
export const Ago = ({ at }: { readonly at: string | null | undefined }) => {
  const now = useMarketplaceNow()
  if (at === null || at === undefined) return <None />
  return (
    <time dateTime={at} title={inUtc(new Date(at))}>
      {span(now - Date.parse(at))} ago
    </time>
  )
}

/** Time that is left up to a deadline, by the marketplace's clock for the seller. */
export const Countdown = ({ to, sellerId }: { readonly to: string | null | undefined; readonly sellerId?: string }) => {
  const now = useMarketplaceNow(sellerId)
  if (to === null || to === undefined) return <None />
  const leftMs = Date.parse(to) - now
  const tone = leftMs < 0 ? 'bad' : leftMs < 2 * 3_600_000 ? 'warn' : ''
  return (
    <time dateTime={to} title={inUtc(new Date(to))} class={`countdown ${tone}`}>
      {leftMs < 0 ? `${span(leftMs)} late` : `in ${span(leftMs)}`}
    </time>
  )
}

/** An amount of money. */
export const Money = ({ amount, currency }: { readonly amount: string | null | undefined; readonly currency: string | null }) =>
  amount === null || amount === undefined ? <None /> : <span class="number">{money(amount, currency ?? '')}</span>

/** How good something is. */
export type Tone = 'good' | 'warn' | 'bad' | 'plain'

/** A word for a state, with a colour that repeats what it says. */
export const Badge = ({ tone = 'plain', children }: { readonly tone?: Tone; readonly children: ComponentChildren }) => (
  <span class={`badge ${tone}`}>{children}</span>
)

/** Data as it is stored, folded away. */
export const Raw = ({ summary, value }: { readonly summary: string; readonly value: unknown }) => (
  <details class="raw">
    <summary>{summary}</summary>
    {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard */}
    <pre tabIndex={0}>{typeof value === 'string' ? value : JSON.stringify(value, null, 2)}</pre>
  </details>
)
