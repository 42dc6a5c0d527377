// Writes docs/alarms.md from the rules of alarms.
import { writeFileSync } from 'node:fs'
import { buildAlarmsPage } from '../src/domain/alarms/alarm-page.ts'

writeFileSync(new URL('../docs/alarms.md', import.meta.url), buildAlarmsPage())
