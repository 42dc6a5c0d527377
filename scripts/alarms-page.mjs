// Writes docs/alarms.md from the rules of alarms.
import { writeFileSync } from 'node:fs'
import { alarmsPage } from '../src/domain/alarm-page.ts'

writeFileSync(new URL('../docs/alarms.md', import.meta.url), alarmsPage())
