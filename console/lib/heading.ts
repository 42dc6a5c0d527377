import type { RefObject } from 'preact'
import { useEffect, useRef } from 'preact/hooks'

const name = 'Tallyman'

/**
 * Keeps the title of the page that of the view's h1, whenever that comes or changes, and gives the h1 the focus after a way within the page.
 * A heading that comes late does not take the focus from where the person has gone meanwhile. `place`: what is shown; null: nothing yet. The
 * first place keeps the focus that the browser gives it, so that the way to the content begins at the top.
 */
export const useHeading = (main: RefObject<HTMLElement | null>, place: string | null): void => {
  const hasShown = useRef(false)
  useEffect(() => {
    const within = main.current
    if (within === null || place === null) return
    // The element that had the focus is gone, or is the link that led here.
    const before = document.activeElement
    let isWanted = hasShown.current
    hasShown.current = true
    let focused: HTMLElement | null = null
    const review = (): void => {
      const heading = within.querySelector('h1')
      const title = heading === null ? name : `${heading.textContent} · ${name}`
      if (document.title !== title) document.title = title
      if (heading === null) return
      const at = document.activeElement
      const isFree = at === null || at === document.body || at === before
      // Another heading has taken the place of the one that had the focus.
      if (focused !== null && focused !== heading && !focused.isConnected && isFree) isWanted = true
      if (!isWanted) return
      isWanted = false
      if (!isFree) return
      heading.focus()
      focused = heading
    }
    review()
    const observer = new MutationObserver(review)
    observer.observe(within, { subtree: true, childList: true, characterData: true })
    return () => observer.disconnect()
  }, [main, place])
}
