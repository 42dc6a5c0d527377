/**
 * The click after a press arrives within this time, in milliseconds: immediately from a mouse, a little later from a finger. The page must not move
 * before it, or the click would miss its target.
 */
const maxClickDelayMs = 100

let pressed: PromiseWithResolvers<void> | null = null
let releasing: ReturnType<typeof setTimeout> | undefined

const press = ({ isPrimary, button }: PointerEvent): void => {
  if (!isPrimary || button !== 0) return
  clearTimeout(releasing)
  releasing = undefined
  pressed ??= Promise.withResolvers()
}

const release = (): void => {
  if (pressed === null) return
  releasing ??= setTimeout(() => {
    releasing = undefined
    pressed?.resolve()
    pressed = null
  }, maxClickDelayMs)
}

/** Tracks presses of the pointer. */
export const startPresses = (): void => {
  addEventListener('pointerdown', press, true)
  addEventListener('pointerup', release, true)
  addEventListener('pointercancel', release, true)
  // The pointer may have been released outside of the page.
  addEventListener('blur', release)
  addEventListener('pointermove', ({ buttons }) => {
    if (buttons === 0) release()
  })
}

/** Resolves when no press is in progress, so that the page may change. */
export const untilReleased = async (): Promise<void> => {
  while (pressed !== null) await pressed.promise
}
