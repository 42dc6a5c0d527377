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

/** Applies a theme to the page. */
export const applyTheme = (theme: Theme): void => {
  if (theme === 'system') delete document.documentElement.dataset['theme']
  else document.documentElement.dataset['theme'] = theme
}
