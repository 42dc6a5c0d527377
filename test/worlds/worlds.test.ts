import { expect, test } from 'vitest'
import { withDatabase } from '../support/database.ts'
import { listFaults, play } from './play.ts'
import { buildWorld } from './world.ts'

/** How many of them; `npm run worlds -- --count 1000` plays more. */
const count = 15

const stage = withDatabase()

test('in random worlds all that reports and log can show is found, and nothing else, to the unit and to the cent', async () => {
  const faults: string[] = []
  for (let seed = 1; seed <= count; seed += 1) {
    const world = buildWorld(seed)
    const found = listFaults(world, await play(stage.database, world))
    if (found.length > 0) faults.push(`npm run worlds -- --only ${seed}: ${found.slice(0, 5).join('; ')}`)
  }
  expect(faults).toEqual([])
}, 600_000)
