import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Database, openDatabase } from '../../src/store/database.ts'
import { startTestPostgres, type TestPostgres } from '../support/postgres.ts'
import { faultsOf, play } from './play.ts'
import { worldOf } from './world.ts'

/** How many of them; `npm run worlds -- --count 1000` plays more. */
const count = 50

let postgres: TestPostgres
let database: Database

beforeAll(async () => {
  postgres = await startTestPostgres()
  database = openDatabase({ url: await postgres.database() })
})
afterAll(async () => {
  await database.close()
  await postgres.stop()
})

test('in random worlds all that reports and log can show is found, and nothing else, to the unit and to the cent', async () => {
  const faults: string[] = []
  for (let seed = 1; seed <= count; seed += 1) {
    const world = worldOf(seed)
    const found = faultsOf(world, await play(database, world))
    if (found.length > 0) faults.push(`npm run worlds -- --only ${seed}: ${found.slice(0, 5).join('; ')}`)
  }
  expect(faults).toEqual([])
}, 600_000)
