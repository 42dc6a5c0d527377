import { expect, test } from 'vitest'
import { leaseMs, type SendingDeadline, startDeadline } from '../../../src/jobs/commands/engine/deadline.ts'
import type { CommandParts } from '../../../src/jobs/commands/engine/engine.ts'
import type { After } from '../../../src/util/clock.ts'

interface Attempt {
  readonly deadline: SendingDeadline
  /** Time passes on both clocks. */
  pass(ms: number): void
  /** The clock of the machine is set on, or goes on where the other one stands still. */
  setOn(ms: number): void
  /** What a timer is set to do next, and after how long; null: none is set. */
  next(): { readonly delayMs: number; readonly work: () => Promise<void> } | null
}

const attempt = (requestTimeoutMs = 30_000): Attempt => {
  const now = { wallMs: 1_000_000, monotonicMs: 50 }
  let next: ReturnType<Attempt['next']> = null
  const after: After = (delayMs, work) => {
    next = { delayMs, work }
    return () => {
      next = null
    }
  }
  const clock = { wallMs: () => now.wallMs, monotonicMs: () => now.monotonicMs }
  const parts: Pick<CommandParts, 'requestTimeoutMs' | 'clock' | 'after'> = { requestTimeoutMs, clock, after }
  return {
    deadline: startDeadline(parts),
    pass: (ms) => {
      now.wallMs += ms
      now.monotonicMs += ms
    },
    setOn: (ms) => {
      now.wallMs += ms
    },
    next: () => next,
  }
}

/** Lets time pass until a timer is due, and has it do its work. */
const happen = async ({ pass, next }: Attempt): Promise<void> => {
  const timer = next()
  if (timer === null) throw new Error('no timer is set')
  pass(timer.delayMs)
  await timer.work()
}

test('without a renewal it passes before the lease is over', () => {
  const { deadline, pass } = attempt()
  expect(leaseMs({ requestTimeoutMs: 30_000 })).toBe(15_000)
  pass(13_999)
  expect(deadline.passed()).toBe(false)
  pass(1)
  expect(deadline.passed()).toBe(true)
  deadline.end()
})

test('a renewal counts from before it was asked for', async () => {
  const sending = attempt()
  const { deadline, pass } = sending
  deadline.keep(async (forMs) => {
    expect(forMs).toBe(15_000)
    pass(5_000)
    return true
  })
  await happen(sending)
  pass(8_999)
  expect(deadline.passed()).toBe(false)
  pass(1)
  expect(deadline.passed()).toBe(true)
  deadline.end()
})

test('one that is acknowledged after the deadline does not count, and no other is tried', async () => {
  const sending = attempt()
  sending.deadline.keep(async () => {
    sending.pass(20_000)
    return true
  })
  await happen(sending)
  expect(sending.deadline.passed()).toBe(true)
  sending.deadline.end()
})

test('one that fails is tried again until the deadline', async () => {
  const sending = attempt()
  const { deadline } = sending
  let tries = 0
  deadline.keep(async () => {
    tries += 1
    return false
  })
  for (let round = 0; round < 10; round += 1) await happen(sending)
  expect(tries).toBe(10)
  expect(deadline.passed()).toBe(false)
  await happen(sending)
  expect(deadline.passed()).toBe(true)
  deadline.end()
})

test('a clock that is set ends it, and a lease that Postgres still holds lets it go on', async () => {
  const sending = attempt()
  const { deadline, setOn } = sending
  deadline.keep(async () => true)
  setOn(60_000)
  expect(deadline.passed()).toBe(true)
  await happen(sending)
  expect(deadline.passed()).toBe(false)
  setOn(-60_000)
  expect(deadline.passed()).toBe(true)
  deadline.end()
})

test('a machine that slept after a renewal was stored has no time left', async () => {
  const sending = attempt()
  sending.deadline.keep(async () => {
    sending.setOn(60_000)
    return true
  })
  await happen(sending)
  expect(sending.deadline.passed()).toBe(true)
  sending.deadline.end()
})

test.each([30_000, 45_000])(
  'however often it is renewed it ends when a request of at most %i ms must have',
  async (timeoutMs) => {
    const sending = attempt(timeoutMs)
    const { deadline, pass, next } = sending
    let renewedForMs = 0
    deadline.keep(async (forMs) => {
      renewedForMs = forMs
      return true
    })
    let passedMs = 0
    for (let timer = next(); timer !== null && passedMs < 200_000; timer = next() === timer ? null : next()) {
      passedMs += timer.delayMs
      await happen(sending)
    }
    expect(passedMs + renewedForMs).toBe(2 * timeoutMs + 2_000)
    pass(renewedForMs - 1_001)
    expect(deadline.passed()).toBe(false)
    pass(1)
    expect(deadline.passed()).toBe(true)
    deadline.end()
  },
)

test('short time-outs need no renewal, and nothing is renewed when the request has ended', async () => {
  const short = attempt(400)
  short.deadline.keep(async () => true)
  expect(leaseMs({ requestTimeoutMs: 400 })).toBe(2_800)
  expect(short.next()).toBeNull()
  short.deadline.end()
  const ended = attempt()
  ended.deadline.keep(async () => true)
  expect(ended.next()).not.toBeNull()
  ended.deadline.end()
  expect(ended.next()).toBeNull()
})
