import { session } from './api.ts'
import { invalidate } from './query.ts'

/** Changes that come within this time, in milliseconds, lead to one reading. */
const gatherMs = 400
/** Pause before another try, in milliseconds, where the browser does not try by itself. */
const againMs = 5_000

/** Follows the change feed while the page is visible, and asks again for what a change concerns. */
export const startLive = (): void => {
  let source: EventSource | null = null
  let retry: ReturnType<typeof setTimeout> | undefined
  let gathering: ReturnType<typeof setTimeout> | undefined
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

  const review = (): void => {
    clearTimeout(retry)
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
    source.onerror = () => {
      if (source?.readyState === EventSource.CLOSED) retry = setTimeout(review, againMs)
    }
  }

  document.addEventListener('visibilitychange', () => {
    review()
    if (!document.hidden) invalidate()
  })
  session.watch(review)
  review()
}
