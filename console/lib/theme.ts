const name = 'tallyman-theme'

/** How the page looks: as the system says, or as chosen. */
export type Theme = 'system' | 'light' | 'dark'

const isTheme = (text: string | null): text is Theme => text === 'system' || text === 'light' || text === 'dark'

/** The chosen theme, kept in this browser. */
export const readTheme = (): Theme => {
  const stored = localStorage.getItem(name)
  return isTheme(stored) ? stored : 'system'
}

/** Chooses a theme. */
export const chooseTheme = (theme: Theme): void => {
  localStorage.setItem(name, theme)
  applyTheme(theme)
}

/** Shows the page in a theme. */
export const applyTheme = (theme: Theme): void => {
  if (theme === 'system') delete document.documentElement.dataset['theme']
  else document.documentElement.dataset['theme'] = theme
}
