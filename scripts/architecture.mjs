// Writes the map of the rooms into ARCHITECTURE.md. Usage: node_modules/.bin/node scripts/architecture.mjs
import { readFileSync, writeFileSync } from 'node:fs'
import { withMap } from './pages/architecture-map.ts'

const page = new URL('../ARCHITECTURE.md', import.meta.url)
writeFileSync(page, withMap(readFileSync(page, 'utf8')))
