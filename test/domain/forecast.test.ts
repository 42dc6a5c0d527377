import { describe, expect, test } from 'vitest'
import { forecastWork, type OpenCommand, type OpenWork, sentAtMs } from '../../src/domain/commands/forecast.ts'

const [list, send, read] = [{ name: 'list' }, { name: 'send' }, { name: 'read' }]
type Call = typeof list
const fromMs = Date.parse('2026-04-02T08:00:00Z')
const minuteMs = 60_000
const at = (minutes: number): Date => new Date(fromMs + minutes * minuteMs)

/** A limit of 6 a minute, of which nothing is left. */
const empty = { tokens: 6, perMs: minuteMs, available: 0, perMinute: 6, blockedUntil: null }

const command = (sequence: number, more: Partial<OpenCommand> = {}): OpenCommand => ({
  ...{ id: `c${sequence}`, sequence, sellerId: 'a', purchaseOrderId: `o${sequence}`, previousId: null, kind: 'ship' },
  ...{ state: 'pending', attempts: 0, actBy: null, nextActionAt: at(0), lines: ['1'], isBehindHeld: false, ...more },
})
const commands = (count: number, more: Partial<OpenCommand> = {}) =>
  Array.from({ length: count }, (_, sequence) => command(sequence, more))

const forecast = (work: Partial<OpenWork<Call>>) =>
  forecastWork<Call>({
    ...{ fromMs, untilMs: fromMs + 60 * minuteMs, commands: [], count: work.commands?.length ?? 0, commandId: undefined },
    ...{ polls: [], backfills: [], isWorking: () => true, listCalls: () => [send], findBudget: () => empty, aheadMs: () => 0 },
    ...work,
  })
const backfill = (pages: number, sellerId = 'a') => ({
  ...{ sellerId, resource: 'orders', stream: `backfill:${pages}`, windowsLeft: 1, pages, basis: 'nothing' as const, call: list },
})

describe('a request in a queue', () => {
  test('is sent at once as long as some are available, then one interval after another', () => {
    const some = { ...empty, available: 3 }
    expect([1, 3, 4, 9].map((place) => sentAtMs(some, place, fromMs) - fromMs)).toEqual([0, 0, 10_000, 60_000])
  })

  test('is sent at the learned rate where that is lower than the limit', () => {
    expect(sentAtMs({ ...empty, perMinute: 1.5 }, 3, fromMs)).toBe(fromMs + 2 * minuteMs)
  })

  test('counts from the end of a block', () => {
    const blocked = { ...empty, blockedUntil: at(5) }
    expect([1, 2, 7].map((place) => sentAtMs(blocked, place, fromMs))).toEqual([at(5), at(5 + 1 / 6), at(6)].map(Number))
    expect(sentAtMs({ ...empty, blockedUntil: at(-5) }, 6, fromMs)).toBe(fromMs + minuteMs)
  })
})

describe('a forecast', () => {
  test('of nothing open says what may be sent, and that nothing is', () => {
    expect(forecast({})).toMatchObject({ operations: [], backfills: [], commands: { open: 0, sent: 0, unsent: 0, late: 0 } })
    const { operations } = forecast({ polls: [{ sellerId: 'a', call: list, perMinute: 2 }] })
    expect(operations).toMatchObject([{ operation: 'list', open: 0, lastAt: null, calls: 120, allowed: 360, share: 1 / 3 }])
  })

  test('says the place of a command, and when it is sent, by what comes before it', () => {
    const { command: asked, operations, commands: told } = forecast({ commands: commands(400), commandId: 'c29' })
    expect(asked).toMatchObject({ commandId: 'c29', position: 30, operation: 'send', expectedAt: at(5) })
    expect(operations).toMatchObject([{ open: 400, lastAt: at(400 / 6), perMinute: 6, calls: 360, share: 1 }])
    expect(told).toMatchObject({ open: 400, sent: 360, unsent: 40 })
    expect(forecast({ commands: commands(400), commandId: 'c399' }).command?.expectedAt).toEqual(at(400 / 6))
    expect(forecast({ commands: commands(4), commandId: 'c4' }).command).toBeNull()
  })

  test('counts commands of all kinds that share an operation in one queue, and those of other sellers in their own', () => {
    const shared = [...commands(6), ...commands(6, { sellerId: 'b' }), command(6, { kind: 'cancel' })]
    const { operations } = forecast({
      commands: shared,
      findBudget: (sellerId) => (sellerId === 'a' ? empty : { ...empty, perMinute: 2 }),
    })
    expect(operations.find(({ sellerId }) => sellerId === 'a')).toMatchObject({ open: 7, lastAt: at(7 / 6) })
    expect(operations.find(({ sellerId }) => sellerId === 'b')).toMatchObject({ open: 6, lastAt: at(3) })
  })

  test('sends a command after its read, after the one before it of its subject, and not before its next attempt', () => {
    const first = command(0)
    const second = command(1, { previousId: 'c0', kind: 'refund' })
    const failed = command(2, { attempts: 2, nextActionAt: at(30) })
    const when = (commandId: string) =>
      forecast({
        commands: [second, first, failed],
        commandId,
        listCalls: ({ kind }) => (kind === 'ship' ? [read, send] : [list]),
        findBudget: (_, { name }) => (name === 'read' ? { ...empty, perMinute: 1 } : empty),
      }).command?.expectedAt
    expect([when('c0'), when('c1'), when('c2')]).toEqual([at(1), at(1), at(30)])
  })

  test('names commands that are sent after the marketplace wants them, on its clock', () => {
    const wanted = [command(0, { actBy: at(0) }), command(1, { actBy: at(1) }), command(2, { actBy: at(90), kind: 'cancel' })]
    const late = (work: Partial<OpenWork<Call>>) => {
      const told = forecast({ commands: wanted, ...work })
      return [told.commands.lateOnes.map(({ commandId }) => commandId), told.atRisk.length]
    }
    expect(late({})).toEqual([['c0'], 1])
    expect(late({ aheadMs: () => 55_000 })).toEqual([['c0', 'c1'], 2])
    expect(late({ findBudget: () => ({ ...empty, blockedUntil: at(120) }) })).toEqual([['c0', 'c1'], 2])
    const never = forecast({ commands: wanted, listCalls: () => [], commandId: 'c1' })
    expect(never.commands).toMatchObject({ open: 3, sent: 0, unsent: 3, late: 2 })
    expect(never.command).toMatchObject({ position: null, operation: null, expectedAt: null })
  })

  test('reads backfills with what commands and polls leave, in turns', () => {
    const polls = [{ sellerId: 'a', call: list, perMinute: 3 }]
    const ends = (work: Partial<OpenWork<Call>>) => forecast(work).backfills.map(({ endsAt }) => endsAt)
    expect(ends({ backfills: [backfill(30)] })).toEqual([at(5)])
    expect(ends({ backfills: [backfill(30)], polls })).toEqual([at(10)])
    expect(ends({ backfills: [backfill(30)], commands: commands(30), listCalls: () => [list] })).toEqual([at(10)])
    expect(ends({ backfills: [backfill(6), backfill(30), backfill(12, 'b')] })).toEqual([at(2), at(6), at(2)])
    // One of several is reserved for commands; pages are asked one after another.
    expect(ends({ backfills: [backfill(30)], findBudget: () => ({ ...empty, available: 7 }) })).toEqual([at(4)])
    expect(ends({ backfills: [backfill(30)], findBudget: () => ({ ...empty, perMinute: 6_000 }) })).toEqual([at(0.25)])
  })

  test('says that a backfill never ends where polls take all, or where nothing is done for its seller', () => {
    const told = forecast({ backfills: [backfill(30)], polls: [{ sellerId: 'a', call: list, perMinute: 8 }] })
    expect(told.backfills).toMatchObject([{ operation: 'list', pages: 30, endsAt: null }])
    expect(told.operations).toMatchObject([{ open: 30, lastAt: null, calls: 360, share: 1 }])
    const idle = forecast({ backfills: [backfill(30)], isWorking: () => false })
    expect([idle.backfills[0]?.endsAt, idle.operations]).toEqual([null, []])
  })
})
