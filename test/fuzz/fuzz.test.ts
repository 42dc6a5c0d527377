import { afterAll, beforeAll, expect, test } from 'vitest'
import { eventually } from '../support/eventually.ts'
import { query } from '../support/query.ts'
import { fuzz } from './fuzz.ts'
import { openStage, type Stage } from './stage.ts'

let stage: Stage
beforeAll(async () => {
  stage = await openStage()
})
afterAll(() => stage.stop())

const megabyte = 1_048_576

test('whatever is sent to any route or written into the inbox breaks nothing, and every row of the inbox ends', async () => {
  const seed = Math.floor(Math.random() * 1_000_000)
  const before = await stage.heapInUse()
  const { broken, requests, rows, statuses } = await fuzz(stage.target, seed, (batches) => batches < 15)
  expect(broken, `seed ${seed}`).toEqual([])
  expect(requests).toBeGreaterThan(400)
  expect(rows).toBe(150)
  expect([...statuses.keys()]).toContain(200)
  expect(stage.daemon.program.child.exitCode).toBeNull()
  await eventually(async () => {
    const waiting = await query(
      stage.target.databaseUrl,
      `SELECT source, id FROM tallyman.erp_event WHERE status = 'received' AND due_at < now()`,
    )
    expect(waiting, `seed ${seed}`).toEqual([])
  })
  // Memory is back where it was, once large events have been worked off.
  await eventually(async () => expect(await stage.heapInUse()).toBeLessThan(before + 16 * megabyte))
  const errors = stage.daemon.program
    .output()
    .split('\n')
    .filter((line) => /^\{"level":"(error|fatal)"/.test(line))
  expect(errors, `seed ${seed}`).toEqual([])
})
