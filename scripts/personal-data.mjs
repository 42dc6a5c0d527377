// Writes docs/personal-data.md from the marked schema.
import { writeFileSync } from 'node:fs'
import { personalDataPage } from '../src/store/privacy/personal-data.ts'

writeFileSync(new URL('../docs/personal-data.md', import.meta.url), await personalDataPage())
