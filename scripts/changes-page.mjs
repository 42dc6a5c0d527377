// Writes docs/changes.md from the catalogue of changes.
import { writeFileSync } from 'node:fs'
import { buildChangesPage } from '../src/domain/changes/page.ts'

writeFileSync(new URL('../docs/changes.md', import.meta.url), buildChangesPage())
