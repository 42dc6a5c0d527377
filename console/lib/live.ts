import { contact, loadSession, session } from './api.ts'
import { invalidate } from './query.ts'

/** Changes that arrive within this time, in milliseconds, cause one update. */
const batchMs = 400
/** Delay before the stream is opened again if the browser does not reconnect, in milliseconds. */
const reconnectMs = 5_000
/** Number and interval (in milliseconds) of the probes of the daemon after the stream broke. */
const maxProbes = 3
const probeMs = 1_000

/** Follows the change feed while the page is visible, and reloads the data that a change concerns. */
export const startLive = (): void => {
  let source: EventSource | null = null
  let retry: ReturnType<typeof setTimeout> | undefined
  let probeTimer: ReturnType<typeof setTimeout> | undefined
  let batchTimer: ReturnType<typeof setTimeout> | undefined
  let isBroken = false
  let wasUnreachable = false
  const topics = new Set<string>()

  const onMessage = (message: MessageEvent<string>): void => {
    const change: unknown = JSON.parse(message.data)
    if (typeof change !== 'object' || change === null || !('type' in change)) return
    topics.add(String(change.type).split(/[._]/)[0] ?? '')
    if (batchTimer !== undefined) return
    batchTimer = setTimeout(() => {
      batchTimer = undefined
      const batch = new Set(topics)
      topics.clear()
      invalidate(batch)
    }, batchMs)
  }

  /** Checks whether the daemon answers while the stream is broken: it may have ended the stream on purpose, or may be stopping. */
  const probe = async (times: number): Promise<void> => {
    clearTimeout(probeTimer)
    // If the daemon does not answer, the notice shows it and retries.
    await loadSession().catch(() => undefined)
    if (times > 1 && source !== null && source.readyState !== EventSource.OPEN)
      probeTimer = setTimeout(() => void probe(times - 1), probeMs)
  }

  /** Opens the stream if it is needed and closed; closes it if it is not needed. */
  const updateStream = (): void => {
    clearTimeout(retry)
    retry = undefined
    const isNeeded = !document.hidden && session.get()?.signedIn === true && session.get()?.scopes.includes('read') === true
    if (!isNeeded) {
      // A browser has few connections to a host; a hidden page must not occupy one.
      source?.close()
      source = null
      return
    }
    if (source !== null && source.readyState !== EventSource.CLOSED) return
    source = new EventSource('/v1/changes?after=now')
    source.onmessage = onMessage
    source.onopen = () => {
      // Changes during the interruption may have been missed.
      if (isBroken) invalidate()
      isBroken = false
    }
    source.onerror = () => {
      isBroken = true
      if (source?.readyState === EventSource.CLOSED) retry = setTimeout(updateStream, reconnectMs)
      void probe(maxProbes)
    }
  }

  document.addEventListener('visibilitychange', () => {
    updateStream()
    if (!document.hidden) invalidate()
  })
  session.watch(() => {
    // A refused stream waits for its retry: each probe sets the session, and must not open the stream earlier.
    if (retry === undefined) updateStream()
  })
  contact.watch(() => {
    const { unreachable } = contact.get()
    const answersAgain = wasUnreachable && !unreachable
    wasUnreachable = unreachable
    if (!answersAgain) return
    updateStream()
    // What was asked meanwhile has failed.
    invalidate()
  })
  updateStream()
}
