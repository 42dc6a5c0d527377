import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  type CampaignUrgency,
  campaignStatuses,
  campaignUrgencies,
  describeAnomaly,
  findUrgency,
  judgeMove,
  mayMove,
  nextStatuses,
  statesBetween,
} from '../../src/domain/campaigns/campaign.ts'

/** The table "States and transitions" of the specification, row by row: state, moves to. */
const table = `
  READY RUNNING
  READY DELETED
  SCHEDULED RUNNING
  SCHEDULED DELETED
  RUNNING LIMITED_BY_BUDGET
  RUNNING BUDGET_EXHAUSTED
  RUNNING CAMPAIGN_ENDING_SOON
  RUNNING COMPLETED
  RUNNING STOPPED
  LIMITED_BY_BUDGET RUNNING
  LIMITED_BY_BUDGET BUDGET_EXHAUSTED
  LIMITED_BY_BUDGET CAMPAIGN_ENDING_SOON
  LIMITED_BY_BUDGET COMPLETED
  LIMITED_BY_BUDGET STOPPED
  BUDGET_EXHAUSTED RUNNING
  BUDGET_EXHAUSTED COMPLETED
  BUDGET_EXHAUSTED STOPPED
  CAMPAIGN_ENDING_SOON RUNNING
  CAMPAIGN_ENDING_SOON COMPLETED
  CAMPAIGN_ENDING_SOON STOPPED
`
  .trim()
  .split('\n')
  .map((row) => row.trim())
const listed = new Set(table)
const terminal = ['COMPLETED', 'STOPPED', 'DELETED']
const everyState = [...new Set([...table.flatMap((row) => row.split(' ')), ...terminal])].sort()

const status = fc.constantFrom(...campaignStatuses)
const anyStatus = fc.oneof({ weight: 4, arbitrary: status }, fc.string({ maxLength: 12 }))
const day = fc
  .date({ min: new Date('2024-01-01T00:00:00Z'), max: new Date('2028-12-31T00:00:00Z'), noInvalidDate: true })
  .map((date) => date.toISOString().slice(0, 10))

describe('moves', () => {
  test('the states are those of the table', () => {
    expect([...campaignStatuses].sort()).toEqual(everyState)
  })

  test('of every pair of states exactly the listed moves are allowed', () => {
    const allowed = campaignStatuses.flatMap((from) =>
      campaignStatuses.filter((to) => mayMove(from, to)).map((to) => `${from} ${to}`),
    )
    expect(allowed.sort()).toEqual([...listed].sort())
    for (const from of campaignStatuses) {
      expect(nextStatuses(from).map((to) => `${from} ${to}`)).toEqual(table.filter((row) => row.startsWith(`${from} `)))
    }
  })

  test('no move leads out of a terminal state, to the same state, or to or from an unknown one', () => {
    fc.assert(
      fc.property(anyStatus, anyStatus, (from, to) => {
        expect(mayMove(from, to)).toBe(listed.has(`${from} ${to}`))
        expect(mayMove(from, from)).toBe(false)
        for (const end of terminal) expect(mayMove(end, to)).toBe(false)
      }),
    )
  })

  test('what lies between two states is a chain of listed moves, and the shortest', () => {
    fc.assert(
      fc.property(anyStatus, anyStatus, (from, to) => {
        const between = statesBetween(from, to)
        if (between === null) return
        const chain = [from, ...between, to]
        for (const [index, at] of chain.slice(1).entries()) expect(listed.has(`${chain[index]} ${at}`)).toBe(true)
        if (between.length > 0) expect(mayMove(from, to)).toBe(false)
        expect(new Set(between).size).toBe(between.length)
      }),
    )
  })

  test('there is a chain exactly where a walk over the table leads', () => {
    const reachable = (from: string): Set<string> => {
      const reached = new Set<string>()
      for (let size = -1; size !== reached.size; ) {
        size = reached.size
        for (const row of table) {
          const [state = '', to = ''] = row.split(' ')
          if (state === from || reached.has(state)) reached.add(to)
        }
      }
      return reached
    }
    for (const from of everyState) {
      for (const to of everyState)
        expect([from, to, statesBetween(from, to) !== null]).toEqual([from, to, reachable(from).has(to)])
    }
    expect(statesBetween('SCHEDULED', 'LIMITED_BY_BUDGET')).toEqual(['RUNNING'])
    expect(statesBetween('COMPLETED', 'RUNNING')).toBeNull()
  })

  test('a move is legal, explained by what was missed, or explained by nothing', () => {
    expect(judgeMove('RUNNING', 'COMPLETED')).toEqual({ legal: true, missed: [] })
    expect(judgeMove('SCHEDULED', 'BUDGET_EXHAUSTED')).toEqual({ legal: false, missed: ['RUNNING'] })
    expect(judgeMove('STOPPED', 'RUNNING')).toEqual({ legal: false, missed: null })
    expect(judgeMove('RUNNING', 'PAUSED')).toEqual({ legal: false, missed: null })
  })

  test('the message names the campaign and says whether listed moves can explain it', () => {
    expect(describeAnomaly('C-1', 'SCHEDULED', 'LIMITED_BY_BUDGET')).toContain('SCHEDULED -> RUNNING -> LIMITED_BY_BUDGET')
    expect(describeAnomaly('C-1', 'COMPLETED', 'RUNNING')).toMatch(/campaign C-1 .*no chain of listed moves explains it/)
    expect(describeAnomaly('C-1', 'RUNNING', 'PAUSED')).toContain('the state PAUSED is not known')
    expect(describeAnomaly('C-1', 'PAUSED', 'RUNNING')).toContain('the state PAUSED is not known')
  })
})

describe('urgency', () => {
  const today = '2026-03-10'
  const of = (state: string, startDate: string | null, endDate: string | null, missing = false) =>
    findUrgency({ status: state, startDate, endDate, missing }, today)

  test('a campaign that was never read comes first; one that the marketplace does not know waits', () => {
    expect(findUrgency(null, today)).toBe('near')
    expect(of('RUNNING', null, today, true)).toBe('waiting')
  })

  test.each([
    ['LIMITED_BY_BUDGET', 'near'],
    ['BUDGET_EXHAUSTED', 'near'],
    ['CAMPAIGN_ENDING_SOON', 'near'],
    ['RUNNING', 'running'],
    ['SOMETHING_NEW', 'running'],
    ['COMPLETED', 'ended'],
    ['STOPPED', 'ended'],
    ['DELETED', 'ended'],
  ])('%s with an open end is %s', (state, urgency) => {
    expect(of(state, '2026-01-01', null)).toBe(urgency)
  })

  test.each([
    ['2026-03-13', 'running'],
    ['2026-03-12', 'near'],
    ['2026-03-10', 'near'],
    ['2026-03-09', 'near'],
  ])('a running campaign that ends on %s is %s', (endDate, urgency) => {
    expect(of('RUNNING', '2026-01-01', endDate)).toBe(urgency)
  })

  test.each([
    ['2026-03-11', 'waiting'],
    ['2026-03-10', 'near'],
    ['2026-03-01', 'near'],
    [null, 'running'],
  ])('a campaign that is to start on %s is %s', (startDate, urgency) => {
    expect(of('READY', startDate, null)).toBe(urgency)
    expect(of('SCHEDULED', startDate, null)).toBe(urgency)
  })

  test('it is always one of the four, terminal ones never anything but ended, and it only rises as the days go by', () => {
    const rank = (urgency: CampaignUrgency) => campaignUrgencies.indexOf(urgency)
    fc.assert(
      fc.property(
        anyStatus,
        fc.option(day),
        fc.option(day),
        fc.boolean(),
        day,
        day,
        (state, startDate, endDate, missing, one, other) => {
          const campaign = { status: state, startDate, endDate, missing }
          const [earlier, later] = one < other ? [one, other] : [other, one]
          const [before, after] = [findUrgency(campaign, earlier), findUrgency(campaign, later)]
          expect(rank(before)).toBeGreaterThanOrEqual(0)
          expect(rank(after)).toBeLessThanOrEqual(rank(before))
          if (terminal.includes(state) && !missing) expect(before).toBe('ended')
        },
      ),
    )
  })
})
