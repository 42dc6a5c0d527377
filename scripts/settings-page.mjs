// Writes docs/settings.md from the parsers of the settings.
import { writeFileSync } from 'node:fs'
import { settingsPage } from './pages/settings-page.ts'

writeFileSync(new URL('../docs/settings.md', import.meta.url), settingsPage())
