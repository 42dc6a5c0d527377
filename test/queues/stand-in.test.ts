import { setImmediate as turn } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import type { JobToEnqueue, QueueName } from '../../src/queues/jobs.ts'
import type { RunHere } from '../../src/queues/runs.ts'
import { createStandIn } from '../../src/queues/stand-in.ts'

const command = (commandId: string): JobToEnqueue => ({ name: 'command.run', data: { commandId } })
const event = (id: string): JobToEnqueue => ({ name: 'event.process', data: { source: 'erp', id } })

const setUp = (concurrency = 4) => {
  const begun: string[] = []
  const faults: string[] = []
  const failed: number[] = []
  const ends = new Map<string, (end: RunHere) => void>()
  const standIn = createStandIn({
    queues: () =>
      new Map<QueueName, number>([
        ['commands', concurrency],
        ['housekeeping', 1],
      ]),
    run: ({ data }, failedAttempts) => {
      const id = 'commandId' in data ? data.commandId : 'task' in data ? data.task : ''
      failed.push(failedAttempts)
      begun.push(id)
      if (id === 'broken') throw new Error('no handler')
      return new Promise((resolve) => ends.set(id, resolve))
    },
    onFault: ({ message }) => faults.push(message),
    random: () => 0,
  })
  const end = async (id: string, againInMs: number | null = null): Promise<void> => {
    ends.get(id)?.({ againInMs, failed: false })
    await turn()
  }
  const fail = async (id: string, againInMs: number): Promise<void> => {
    ends.get(id)?.({ againInMs, failed: true })
    await turn()
  }
  return { standIn, begun, failed, faults, end, fail }
}

describe('the stand-in', () => {
  beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }))
  afterEach(() => void vi.useRealTimers())

  test('runs the first first, half of what the queue has at once, and nothing of queues that this process does not run', async () => {
    const { standIn, begun, end } = setUp()
    standIn.take([...['a', 'b', 'c', 'd'].map(command), event('e')])
    expect(begun).toEqual(['a', 'b'])
    await end('a')
    expect(begun).toEqual(['a', 'b', 'c'])
    await end('b')
    await end('c')
    expect(begun).toEqual(['a', 'b', 'c', 'd'])
  })

  test('a queue of one at a time has one', () => {
    const { standIn, begun } = setUp(1)
    standIn.take(['a', 'b'].map(command))
    expect(begun).toEqual(['a'])
  })

  test('what has not begun gives way to what is due the next time', async () => {
    const { standIn, begun, end } = setUp()
    standIn.take(['a', 'b', 'c'].map(command))
    standIn.take(['d', 'e'].map(command))
    await end('a')
    await end('b')
    expect(begun).toEqual(['a', 'b', 'd', 'e'])
  })

  test('what is to be run again is run then, and not before; what is due far off when it is named again after half a minute', async () => {
    const { standIn, begun, end } = setUp(8)
    const due = ['soon', 'late', 'done'].map(command)
    standIn.take(due)
    await end('soon', 1_000)
    await end('late', 3_600_000)
    await end('done')
    standIn.take(due)
    expect(begun.splice(0)).toEqual(['soon', 'late', 'done', 'done'])
    await end('done')
    await vi.advanceTimersByTimeAsync(999)
    expect(begun).toEqual([])
    await vi.advanceTimersByTimeAsync(1)
    expect(begun.splice(0)).toEqual(['soon'])
    await end('soon')
    await vi.advanceTimersByTimeAsync(29_000)
    expect(begun).toEqual([])
    standIn.take([command('late')])
    expect(begun).toEqual(['late'])
  })

  test('begins nothing any more once the queues take jobs again, until they do not', async () => {
    const { standIn, begun, end } = setUp(4)
    standIn.take(['a', 'again', 'c'].map(command))
    await end('again', 1_000)
    standIn.stop()
    await end('a', 1_000)
    await vi.advanceTimersByTimeAsync(60_000)
    expect(begun).toEqual(['a', 'again', 'c'])
    standIn.take(['a', 'again'].map(command))
    expect(begun.slice(3)).toEqual(['a'])
  })

  test('what has failed rests for longer each time, and then runs when it is named', async () => {
    const { standIn, begun, failed, end, fail } = setUp()
    const due = [command('a')]
    for (const restMs of [1_000, 2_000, 240_000]) {
      standIn.take(due)
      await fail('a', restMs)
      standIn.take(due)
      await vi.advanceTimersByTimeAsync(restMs - 1)
      standIn.take(due)
      await vi.advanceTimersByTimeAsync(1)
    }
    // The database says when it is due: not by itself.
    expect([begun.length, failed]).toEqual([3, [0, 1, 2]])
    standIn.take(due)
    await end('a')
    standIn.take(due)
    expect(failed).toEqual([0, 1, 2, 3, 0])
  })

  test('what is under way is not begun again, and what it is named for does not end its failures', async () => {
    const { standIn, begun, failed, fail } = setUp()
    standIn.take([command('a')])
    standIn.take([command('a')])
    await fail('a', 1_000)
    await vi.advanceTimersByTimeAsync(1_000)
    standIn.take([command('a')])
    expect([begun, failed]).toEqual([
      ['a', 'a'],
      [0, 1],
    ])
  })

  test('what comes by the clock stays until it has run, behind whatever; with more to do it goes on', async () => {
    const { standIn, begun, end } = setUp()
    const task = (name: string): JobToEnqueue => ({ name: 'housekeeping.run', data: { task: name } })
    standIn.take([task('probe')], [task('trim'), task('review')])
    for (let pass = 0; pass < 3; pass += 1) standIn.take([task('probe')])
    await end('trim', 50)
    standIn.take([task('probe')])
    await end('review')
    expect(begun).toEqual(['trim', 'review', 'probe'])
    await vi.advanceTimersByTimeAsync(50)
    standIn.take([task('probe')])
    await end('probe')
    expect(begun).toEqual(['trim', 'review', 'probe', 'trim'])
  })

  test('what cannot be begun is told, and holds no room', async () => {
    const { standIn, begun, faults } = setUp(2)
    standIn.take(['broken', 'next'].map(command))
    await turn()
    expect([begun, faults]).toEqual([['broken', 'next'], ['no handler']])
  })
})
