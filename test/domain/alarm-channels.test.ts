import { describe, expect, test } from 'vitest'
import {
  type ChannelHours,
  channelHoursSchema,
  channelRetryDelayMs,
  isWithinHours,
  listChannelKinds,
} from '../../src/domain/alarms/alarm-channels.ts'
import { type AlarmNotice, buildAlarmMessage } from '../../src/domain/alarms/alarm-message.ts'
import { alarmKinds } from '../../src/domain/alarms/alarm-rules.ts'

const office: ChannelHours = { from: '08:00', to: '18:00', timeZone: 'Europe/Berlin', weekdays: [1, 2, 3, 4, 5] }
const night: ChannelHours = { from: '22:00', to: '06:00', timeZone: 'America/Los_Angeles', weekdays: [5] }
const allDay: ChannelHours = { from: '00:00', to: '24:00', timeZone: 'UTC', weekdays: [7] }
const around: ChannelHours = { from: '09:00', to: '09:00', timeZone: 'UTC', weekdays: [1] }

describe('the hours of a channel', () => {
  test.each([
    // Monday, 2 March 2026. Berlin is one hour ahead of UTC.
    ['before they begin', office, '2026-03-02T06:59:59Z', false],
    ['when they begin', office, '2026-03-02T07:00:00Z', true],
    ['just before they end', office, '2026-03-02T16:59:59Z', true],
    ['when they end', office, '2026-03-02T17:00:00Z', false],
    ['on a Saturday', office, '2026-03-07T12:00:00Z', false],
    ['an hour earlier by UTC in summer', office, '2026-06-01T06:00:00Z', true],
    ['before that in summer', office, '2026-06-01T05:59:00Z', false],
    // Friday, 6 March 2026, 22:00 in Los Angeles is Saturday, 06:00 UTC.
    ['before a night begins', night, '2026-03-07T05:59:00Z', false],
    ['in a night', night, '2026-03-07T06:00:00Z', true],
    ['on the day after a night began', night, '2026-03-07T13:59:00Z', true],
    ['when the night ends', night, '2026-03-07T14:00:00Z', false],
    ['in the night to Friday, which begins on Thursday', night, '2026-03-06T08:00:00Z', false],
    ['in the last minute of a whole day', allDay, '2026-03-08T23:59:59Z', true],
    ['after a whole day', allDay, '2026-03-09T00:00:00Z', false],
    ['in a day from nine to nine', around, '2026-03-02T09:00:00Z', true],
    ['on the next day until nine', around, '2026-03-03T08:59:00Z', true],
    ['on the next day from nine', around, '2026-03-03T09:00:00Z', false],
  ])('%s', (_name, hours, now, expected) => {
    expect(isWithinHours(hours, new Date(now))).toBe(expected)
  })

  test('none: always', () => {
    expect(isWithinHours(null, new Date('2026-03-07T03:00:00Z'))).toBe(true)
  })

  test('have every day by default, and valid times, days and a time zone', () => {
    const given = { from: '08:00', to: '24:00', timeZone: 'Asia/Kolkata' }
    expect(channelHoursSchema.parse(given)).toEqual({ ...given, weekdays: [1, 2, 3, 4, 5, 6, 7] })
    for (const wrong of [{ from: '24:00' }, { to: '8:00' }, { timeZone: 'Europe/Atlantis' }, { weekdays: [0] }, { weekdays: [] }])
      expect(channelHoursSchema.safeParse({ ...given, ...wrong }).success, JSON.stringify(wrong)).toBe(false)
  })
})

test('the kinds of a channel follow from severities and audiences; a kind of another version is a warning for the operator', () => {
  expect(listChannelKinds({ severities: ['critical', 'warning', 'notice'], concerns: [] })).toEqual({
    kinds: alarmKinds,
    includesUnknown: true,
  })
  const warehouse = listChannelKinds({ severities: ['critical'], concerns: ['warehouse'] })
  expect(warehouse).toEqual({ kinds: ['acknowledge-deadline', 'ship-by', 'auto-cancel'], includesUnknown: false })
  expect(listChannelKinds({ severities: ['warning'], concerns: ['operator', 'warehouse'] }).includesUnknown).toBe(true)
  expect(listChannelKinds({ severities: ['critical'], concerns: [] }).includesUnknown).toBe(false)
})

test.each([
  [1, null, 30_000],
  [2, null, 60_000],
  [4, null, 900_000],
  [5, null, 3_600_000],
  [500, null, 3_600_000],
  [1, 45_000, 45_000],
  [1, 1_000, 30_000],
  [2, 86_400_000, 3_600_000],
])('after %i failures and a requested wait of %s ms the next attempt is due after %i ms', (failures, asked, expected) => {
  expect(channelRetryDelayMs(failures, asked)).toBe(expected)
})

describe('a message', () => {
  const notice = (more: Partial<AlarmNotice>): AlarmNotice => ({
    alarmId: 1n,
    reason: 'new',
    sellerId: 's-1',
    kind: 'ship-by',
    subject: 'orders',
    count: 3,
    dueAt: new Date('2026-03-02T10:00:00Z'),
    raisedAt: new Date('2026-03-02T08:00:00Z'),
    resolvedAt: null,
    ...more,
  })

  test('about one alarm has its title, seller, number, deadline and what to do', () => {
    const { title, sections, link } = buildAlarmMessage([notice({})], 'https://tallyman.shop.example/')
    expect(title).toBe('critical: Orders must be shipped (new)')
    expect(link).toBe('https://tallyman.shop.example/console/alarms')
    expect(sections).toEqual([
      {
        heading: 'New',
        lines: [
          expect.stringMatching(
            /^critical: Orders must be shipped \(seller s-1, 3 affected, due 2026-03-02 10:00 UTC\)\. Pack and ship /,
          ),
        ],
      },
    ])
  })

  test('about several has sections, the most severe alarm first, and names an alarm that is over without what to do', () => {
    const over = { reason: 'over', resolvedAt: new Date('2026-03-02T09:00:00Z') } as const
    const { title, sections, link } = buildAlarmMessage(
      [
        notice({ kind: 'campaign-ending', subject: '77', count: null, dueAt: null }),
        notice({ kind: 'command-held', subject: 'c-1', count: null, dueAt: null, sellerId: '' }),
        notice({ ...over, kind: 'sync-behind', subject: 'orders/changed', count: null, dueAt: null }),
        notice({ reason: 'open' }),
      ],
      null,
    )
    expect(title).toBe('critical: 4 alarms (2 new, 1 still open, 1 over)')
    expect(link).toBeNull()
    expect(sections.map(({ heading }) => heading)).toEqual(['New', 'Still open', 'Over'])
    expect(sections.flatMap(({ lines }) => lines)).toEqual([
      expect.stringMatching(
        /^critical: A command waits for a decision \(c-1\)\. Compare the command with the order \(tallyman commands show\), /,
      ),
      expect.stringMatching(/^notice: A campaign is about to end \(seller s-1, 77\)\. /),
      'critical: Orders must be shipped (seller s-1, 3 affected, due 2026-03-02 10:00 UTC, since 2026-03-02 08:00 UTC)',
      'warning: A sync is behind (seller s-1, orders/changed, until 2026-03-02 09:00 UTC)',
    ])
    expect(buildAlarmMessage([notice({ ...over })], null).title).toBe('Orders must be shipped (over)')
  })

  test('does not contain the id that an ERP has given an event', () => {
    const { sections } = buildAlarmMessage([notice({ kind: 'event-rejected', subject: 'urn:erp Jane Doe', count: null })], null)
    expect(JSON.stringify(sections)).not.toContain('Jane')
  })

  test('shows the first twenty alarms of a section and counts the others', () => {
    const many = Array.from({ length: 25 }, (_, i) => notice({ alarmId: BigInt(i), kind: 'command-held', subject: `c-${i}` }))
    const [section] = buildAlarmMessage(many, null).sections
    expect(section?.lines).toHaveLength(21)
    expect(section?.lines.at(-1)).toBe('and 5 more')
  })
})
