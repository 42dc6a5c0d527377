/**
 * A day of many sellers in virtual hours, and how the database stands after each. `npm run life -- --sellers 1000 --hours 24`; exits with 1 when what
 * is kept for a while does not reach a level and stay there, and with 0 when there are too few hours to tell.
 */

import { parseArgs } from 'node:util'
import { retainedData } from '../../src/domain/sync/retention.ts'
import { openDatabase } from '../../src/store/db/database.ts'
import { startTestPostgres } from '../support/postgres.ts'
import { findVocabulary } from '../support/vocabulary.ts'
import { type HourEnd, liveThrough } from './hours.ts'
import { grown, hoursToTell } from './level.ts'

const { values } = parseArgs({
  options: {
    sellers: { type: 'string', default: '1000' },
    hours: { type: 'string', default: '24' },
    keep: { type: 'string', default: '6' },
    news: { type: 'string', default: '8' },
    orders: { type: 'string', default: '1' },
    polls: { type: 'string', default: '3' },
  },
})
const life = {
  sellers: Number(values.sellers),
  hours: Number(values.hours),
  keepHours: Number(values.keep),
  newsEveryHours: Number(values.news),
  orders: Number(values.orders),
  pollsAnHour: Number(values.polls),
}
if (Object.values(life).some((value) => !Number.isSafeInteger(value) || value < 1))
  throw new Error('each option is a whole number')

const thousands = (value: number): string => Math.round(value).toLocaleString('en-US')
const show = ({ hour, rows, bytes, orders, tookMs, retentionMs }: HourEnd): void => {
  const cells = retainedData.map((data) => `${data} ${thousands(rows[data])} (${(bytes[data] / 1e6).toFixed(1)} MB)`)
  console.log(
    `hour ${hour + 1} in ${thousands(tookMs)} ms, retention ${thousands(retentionMs)} ms: ${thousands(orders)} orders; ${cells.join(', ')}`,
  )
}

const postgres = await startTestPostgres()
const database = openDatabase({ findVocabulary, url: await postgres.database(), connections: 12 })
try {
  const faults = grown(await liveThrough(database, life, show), life.keepHours)
  for (const fault of faults ?? []) console.error(fault)
  console.log(
    faults === null
      ? `it is not known whether it grows: that takes ${hoursToTell(life.keepHours)} hours with what is kept for ${life.keepHours}`
      : faults.length === 0
        ? 'everything that is kept for a while has reached a level and stayed there'
        : 'it grows',
  )
  if (faults !== null && faults.length > 0) process.exitCode = 1
} finally {
  await database.close()
  await postgres.stop()
}
