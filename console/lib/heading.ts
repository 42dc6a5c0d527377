import type { RefObject } from 'preact'
import { useEffect, useRef } from 'preact/hooks'

const name = 'Tallyman'

/**
 * Copies the view's h1 to the title of the page whenever it appears or changes, and focuses the h1 after a navigation within the page. A heading
 * that appears late does not take a focus that the person has moved in between. `view`: name of the shown view; null: none yet. The first view
 * keeps the browser's focus, so that keyboard navigation begins at the top of the page.
 */
export const useHeading = (main: RefObject<HTMLElement | null>, view: string | null): void => {
  const hasShown = useRef(false)
  useEffect(() => {
    const within = main.current
    if (within === null || view === null) return
    // The link that led here, or the body if the focused element was removed.
    const before = document.activeElement
    let mustFocus = hasShown.current
    hasShown.current = true
    let focused: HTMLElement | null = null
    const update = (): void => {
      const heading = within.querySelector('h1')
      const title = heading === null ? name : `${heading.textContent} · ${name}`
      if (document.title !== title) document.title = title
      if (heading === null) return
      const active = document.activeElement
      const isFree = active === null || active === document.body || active === before
      // The focused heading was replaced by another one.
      if (focused !== null && focused !== heading && !focused.isConnected && isFree) mustFocus = true
      if (!mustFocus) return
      mustFocus = false
      if (!isFree) return
      heading.focus()
      focused = heading
    }
    update()
    const observer = new MutationObserver(update)
    observer.observe(within, { subtree: true, childList: true, characterData: true })
    return () => observer.disconnect()
  }, [main, view])
}
