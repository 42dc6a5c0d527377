import type { ComponentChildren } from 'preact'
import { useMarketplaceNow, useNow } from '../lib/clock.ts'
import { formatDuration, formatLocal, formatMoney, formatUtc } from '../lib/format.ts'

/** A dash for a missing value. */
export const None = () => <span class="faint none">–</span>

/** A time in the viewer's zone, with UTC on hover. */
export const Time = ({ at }: { readonly at: string | null | undefined }) => {
  const now = useNow()
  if (at === null || at === undefined) return <None />
  const time = new Date(at)
  return (
    <time dateTime={at} title={formatUtc(time)}>
      {formatLocal(time, new Date(now))}
    </time>
  )
}

const sentencePart = /(`[^`]+`|\d{4}-\d\d-\d\dT[\d:.]+Z|\S*[\d-]\S*)/

/** A sentence of the daemon: parts in backticks are code, times are in the viewer's zone, and ids, SKUs and numbers stay on one line. */
export const Sentence = ({ text }: { readonly text: string }) => (
  <>
    {text.split(sentencePart).map((part, index) => {
      const key = `${index} ${part}`
      if (index % 2 === 0) return part
      if (part.startsWith('`')) return <code key={key}>{part.slice(1, -1)}</code>
      if (/T.*Z$/.test(part)) return <Time key={key} at={part} />
      return (
        <span key={key} class="whole">
          {part}
        </span>
      )
    })}
  </>
)

/** The time that has passed by the daemon's clock, with the time itself on hover. */
export const Ago = ({ at }: { readonly at: string | null | undefined }) => {
  const now = useMarketplaceNow()
  if (at === null || at === undefined) return <None />
  return (
    <time dateTime={at} title={formatUtc(new Date(at))}>
      {formatDuration(now - Date.parse(at))} ago
    </time>
  )
}

/** Time until a deadline, by the marketplace's clock for the seller. */
export const Countdown = ({ to, sellerId }: { readonly to: string | null | undefined; readonly sellerId?: string }) => {
  const now = useMarketplaceNow(sellerId)
  if (to === null || to === undefined) return <None />
  const leftMs = Date.parse(to) - now
  const tone = leftMs < 0 ? 'bad' : leftMs < 2 * 3_600_000 ? 'warn' : ''
  return (
    <time dateTime={to} title={formatUtc(new Date(to))} class={`countdown ${tone}`}>
      {leftMs < 0 ? `${formatDuration(leftMs)} late` : `in ${formatDuration(leftMs)}`}
    </time>
  )
}

/** An amount of money. */
export const Money = ({ amount, currency }: { readonly amount: string | null | undefined; readonly currency: string | null }) =>
  amount === null || amount === undefined ? <None /> : <span class="number">{formatMoney(amount, currency ?? '')}</span>

/** Meaning of a colour. */
export type Tone = 'good' | 'warn' | 'bad' | 'plain'

/** The text of a state, with a colour of the same meaning. */
export const Badge = ({ tone = 'plain', children }: { readonly tone?: Tone; readonly children: ComponentChildren }) => (
  <span class={`badge ${tone}`}>{children}</span>
)

/** Stored data, collapsed. */
export const Raw = ({ summary, value }: { readonly summary: string; readonly value: unknown }) => (
  <details class="raw">
    <summary>{summary}</summary>
    {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling element must be reachable by keyboard */}
    <pre tabIndex={0}>{typeof value === 'string' ? value : JSON.stringify(value, null, 2)}</pre>
  </details>
)
