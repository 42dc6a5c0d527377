import { createState, useShared } from '../lib/state.ts'

interface Toast {
  readonly id: number
  readonly text: string
  readonly tone: 'good' | 'bad'
}

const shownMs = 8_000
const toasts = createState<readonly Toast[]>([])
let lastId = 0

const drop = (id: number): void => toasts.set(toasts.get().filter((toast) => toast.id !== id))

/** Shows a message at the edge of the page for some seconds; screen readers read it. */
export const toast = (text: string, tone: Toast['tone'] = 'good'): void => {
  lastId += 1
  const id = lastId
  toasts.set([...toasts.get(), { id, text, tone }])
  setTimeout(() => drop(id), shownMs)
}

/** The list of toasts. */
export const Toasts = () => (
  <div class="toasts" role="status" aria-live="polite">
    {useShared(toasts).map(({ id, text, tone }) => (
      <p key={id} class={`toast ${tone}`}>
        <span>{text}</span>
        <button type="button" class="plain" aria-label="Close the message" onClick={() => drop(id)}>
          ×
        </button>
      </p>
    ))}
  </div>
)
