// Writes the tables of docs/syncs.md that follow from the list of resources.
import { readFileSync, writeFileSync } from 'node:fs'
import { withTables } from '../src/jobs/sync/resources/resources-table.ts'

const page = new URL('../docs/syncs.md', import.meta.url)
writeFileSync(page, withTables(readFileSync(page, 'utf8')))
