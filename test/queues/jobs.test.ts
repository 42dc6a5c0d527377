import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { buildJobId, isJobName, jobDefinitions, jobSchemas, queueNames } from '../../src/queues/jobs.ts'

const text = fc.string({ minLength: 1, maxLength: 300, unit: 'binary' }).filter((value) => value.isWellFormed())

describe('ids of jobs', () => {
  test('the same work has the same id, other work another one, and BullMQ accepts it', () => {
    fc.assert(
      fc.property(text, text, text, text, (source, id, otherSource, otherId) => {
        const one = buildJobId('event.process', { source, id })
        expect(buildJobId('event.process', { id, source })).toBe(one)
        expect(one).not.toContain(':')
        expect(one).not.toMatch(/^\d+$/)
        expect(one.length).toBeLessThanOrEqual(200)
        const same = source === otherSource && id === otherId
        expect(buildJobId('event.process', { source: otherSource, id: otherId }) === one).toBe(same)
      }),
    )
  })

  test('a text with half of a pair has an id too, and one of its own', () => {
    const findId = (sellerId: string): string => buildJobId('sync.run', { sellerId, resource: 'orders', stream: 'changed' })
    const ids = ['\ud800', '\udfff', '\ud801', '%ud800', '\ufffd', 'a\ud800😀', 'a😀\ud800'].map(findId)
    expect(new Set(ids).size).toBe(ids.length)
    expect(findId('a😀\ud800~')).toBe('sync.run~orders~a%F0%9F%98%80%ud800%7E~changed')
  })

  test('parts cannot run into each other', () => {
    expect(buildJobId('event.process', { source: 'a~b', id: 'c' })).not.toBe(
      buildJobId('event.process', { source: 'b', id: 'c~a' }),
    )
    expect(buildJobId('sync.run', { sellerId: 's 1', resource: 'orders', stream: 'changed' })).toBe(
      'sync.run~orders~s%201~changed',
    )
  })
})

describe('kinds of jobs', () => {
  test('every kind lives in a queue and carries ids only', () => {
    for (const { queue } of Object.values(jobDefinitions)) expect(queueNames).toContain(queue)
    expect(jobSchemas['command.run'].safeParse({ commandId: '1' }).success).toBe(true)
    expect(jobSchemas['command.run'].safeParse({ commandId: '1', amount: '3.10' }).success).toBe(false)
    expect(jobSchemas['command.run'].safeParse({ commandId: 1 }).success).toBe(false)
    expect(jobSchemas['sync.run'].safeParse({ sellerId: '', resource: 'orders', stream: 'x' }).success).toBe(false)
  })

  test('names inherited from objects are no kinds', () => {
    expect(isJobName('sync.run')).toBe(true)
    expect(isJobName('toString')).toBe(false)
  })
})
