import { contact, loadSession, session } from './api.ts'
import { invalidate } from './query.ts'

/** Changes that come within this time, in milliseconds, lead to one reading. */
const gatherMs = 400
/** Pause before another try, in milliseconds, where the browser does not try by itself. */
const againMs = 5_000
/** How often, and at which interval in milliseconds, the daemon is asked whether it is there when the stream breaks. */
const asksOfBreak = 3
const askMs = 1_000

/** Follows the change feed while the page is visible, and asks again for what a change concerns. */
export const startLive = (): void => {
  let source: EventSource | null = null
  let retry: ReturnType<typeof setTimeout> | undefined
  let asking: ReturnType<typeof setTimeout> | undefined
  let gathering: ReturnType<typeof setTimeout> | undefined
  let isBroken = false
  let wasAway = false
  const topics = new Set<string>()

  const heard = (message: MessageEvent<string>): void => {
    const change: unknown = JSON.parse(message.data)
    if (typeof change !== 'object' || change === null || !('type' in change)) return
    topics.add(String(change.type).split(/[._]/)[0] ?? '')
    if (gathering !== undefined) return
    gathering = setTimeout(() => {
      gathering = undefined
      const gathered = new Set(topics)
      topics.clear()
      invalidate(gathered)
    }, gatherMs)
  }

  /** Whether the daemon answers while the stream is broken: it may have ended the stream on purpose, or be about to stop. */
  const ask = async (times: number): Promise<void> => {
    clearTimeout(asking)
    // What does not answer is told by the notice, which asks on.
    await loadSession().catch(() => undefined)
    if (times > 1 && source !== null && source.readyState !== EventSource.OPEN)
      asking = setTimeout(() => void ask(times - 1), askMs)
  }

  const review = (): void => {
    clearTimeout(retry)
    retry = undefined
    const wanted = !document.hidden && session.get()?.signedIn === true && session.get()?.scopes.includes('read') === true
    if (!wanted) {
      // A hidden page would hold one of the few connections that a browser has for a host.
      source?.close()
      source = null
      return
    }
    if (source !== null && source.readyState !== EventSource.CLOSED) return
    source = new EventSource('/v1/changes?after=now')
    source.onmessage = heard
    source.onopen = () => {
      // What has changed meanwhile may have been missed.
      if (isBroken) invalidate()
      isBroken = false
    }
    source.onerror = () => {
      isBroken = true
      if (source?.readyState === EventSource.CLOSED) retry = setTimeout(review, againMs)
      void ask(asksOfBreak)
    }
  }

  document.addEventListener('visibilitychange', () => {
    review()
    if (!document.hidden) invalidate()
  })
  session.watch(() => {
    // A stream that was refused waits: each question whether the daemon is there sets the session anew.
    if (retry === undefined) review()
  })
  contact.watch(() => {
    const { away } = contact.get()
    if (wasAway && !away) review()
    wasAway = away
  })
  review()
}
