import { setTimeout as delay } from 'node:timers/promises'
import { afterEach, describe, expect, test } from 'vitest'
import type { FaultPoint } from '../../src/util/fault-points.ts'
import { chooseSeed, type Rehearsal, stage } from './rehearsal.ts'

const writes = {
  method: 'POST',
  operation: 'orders.*',
  serverErrorAfter: 0.06,
  timeoutAfter: 0.05,
  dropAfter: 0.05,
  serverErrorBefore: 0.04,
  timeoutBefore: 0.03,
  dropBefore: 0.03,
  truncatedJson: 0.03,
  html: 0.02,
  emptyBody: 0.02,
  tooManyRequests: { share: 0.04, delayMs: 200 },
  lateEffect: { share: 0.03, delayMs: 900 },
}
const reads = {
  method: 'GET',
  serverErrorBefore: 0.04,
  dropBefore: 0.02,
  truncatedJson: 0.02,
  html: 0.02,
  slow: { share: 0.1, delayMs: 150 },
  unknownValue: 0.1,
  duplicateRows: 0.1,
}
// A seller may create settings five times a minute: now and then a refusal for asking too often would only cost time.
const { tooManyRequests: _, ...others } = writes
const creations = { ...others, operation: 'shipping-settings.create' }
const tokens = { operation: 'token', serverErrorBefore: 0.05 }
const faults = { rules: [writes, creations, reads, tokens] }

let rehearsal: Rehearsal | undefined
afterEach(async () => {
  await rehearsal?.end()
  rehearsal = undefined
})

describe.each(['postgres', 'redis'] as const)('two daemons with queues in %s', (queues) => {
  test('killed at random, events twice and out of order, Redis flushed, Postgres killed: nothing twice, nothing lost', {
    timeout: 400_000,
  }, async () => {
    const play = await stage(chooseSeed(`kills, queues in ${queues}`), { queues, faults, sellers: 4 })
    rehearsal = play
    await Promise.all([play.start(0), play.start(1)])
    let round = 0
    await play.work({ orders: 16, settings: 4 }, async () => {
      await delay(400 + play.dice.roll(1_200))
      round += 1
      if (round === 3) play.killPostgres()
      else if (round % 3 === 2) await play.flushRedis()
      else if (round < 8) await play.kill(play.dice.roll(2))
    })
    const result = await play.settleAndCompare()
    console.info(`${queues}: ${JSON.stringify(result)}`)
    expect(result.commands).toBeGreaterThan(0)
  })
})

const points: readonly FaultPoint[] = [
  'command.before-intent',
  'command.after-intent',
  'command.after-send',
  'command.before-settle',
  'command.after-settle',
  'event.before-commit',
  'event.after-commit',
  'sync.before-save',
  'sync.after-save',
]

test('killed at each named point in turn: no unit and no settings twice, none lost', { timeout: 400_000 }, async () => {
  const play = await stage(chooseSeed('named points'), { queues: 'postgres', faults: { rules: [] }, sellers: points.length })
  rehearsal = play
  await play.start(1)
  for (const point of points) {
    // Either the command on shipping settings dies there, or one of those on orders.
    const settingsFirst = play.dice.chance(0.5)
    const pass = settingsFirst || point.startsWith('sync.') ? 0 : play.dice.roll(2)
    await play.start(0, { TALLYMAN_DIE_AT: `${point}#${pass}`, NODE_ENV: 'test' })
    const daemon = play.daemons[0]
    if (daemon === null || daemon === undefined) throw new Error('the daemon did not start')
    // Alone, so that it is this one that passes the point.
    const other = play.daemons[1]
    play.daemons[1] = null
    await other?.program.kill()
    const died = daemon.program.ended
    await play.work({ orders: 3, settings: 1, settingsFirst }, async () => {
      await delay(100)
      if (daemon.program.child.signalCode !== null && play.daemons[0] === daemon) {
        play.daemons[0] = null
        await play.start(1)
      }
    })
    // A page is saved when a sync finds an order before an event names it.
    if (point.startsWith('sync.')) await play.placeUnasked(2)
    await Promise.race([died, delay(30_000)])
    expect(daemon.program.child.signalCode, `${point} was never passed`).toBe('SIGKILL')
    if (play.daemons[1] === null) await play.start(1)
    play.daemons[0] = null
  }
  const result = await play.settleAndCompare()
  console.info(`named points: ${JSON.stringify(result)}`)
  expect(result.held).toBe(0)
})
