import { createState, useShared } from './state.ts'

const name = 'tallyman-theme'

/** Colours of the page: by the system, or chosen. */
export type Theme = 'system' | 'light' | 'dark'

const isTheme = (text: string | null): text is Theme => text === 'system' || text === 'light' || text === 'dark'

/** The chosen theme, stored in this browser. */
export const readTheme = (): Theme => {
  const stored = localStorage.getItem(name)
  return isTheme(stored) ? stored : 'system'
}

/** Stores and applies a theme. */
export const chooseTheme = (theme: Theme): void => {
  localStorage.setItem(name, theme)
  applyTheme(theme)
}

let applied = 0
const colours = createState(applied)
const announce = (): void => {
  applied += 1
  colours.set(applied)
}
matchMedia('(prefers-color-scheme: dark)').addEventListener('change', announce)

/** A number that changes with the colours of the page, for what draws with them. */
export const useColours = (): number => useShared(colours)

/** Applies a theme to the page. */
export const applyTheme = (theme: Theme): void => {
  if (theme === 'system') delete document.documentElement.dataset['theme']
  else document.documentElement.dataset['theme'] = theme
  announce()
}
