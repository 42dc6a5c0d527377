import { readFile } from 'node:fs/promises'
import { expect, test } from 'vitest'
import { buildAlarmsPage } from '../../src/domain/alarms/alarm-page.ts'
import { alarmKinds, buildAlarmListPath, findAlarmRule, unreadableOrdersMessage } from '../../src/domain/alarms/alarm-rules.ts'

test('docs/alarms.md is what the rules make of it: npm run alarms-page writes it', async () => {
  expect(await readFile('docs/alarms.md', 'utf8')).toBe(buildAlarmsPage())
})

test('every kind says what opens it, whom it concerns and what to do, in whole sentences', () => {
  for (const kind of alarmKinds) {
    const { title, opens, toDo, subject } = findAlarmRule(kind)
    expect(title, kind).toMatch(/^[A-Z].*[^.]$/)
    expect(opens, kind).toMatch(/^[A-Z].*\.$/)
    expect(toDo, kind).toMatch(/^[A-Z].*\.$/)
    expect(subject, kind).not.toBe('')
  }
})

test('an alarm of another version is shown, and left to a person', () => {
  expect(findAlarmRule('toString')).toMatchObject({ closes: 'person', title: 'An alarm of another version' })
  expect(buildAlarmListPath('toString', 's', 'x')).toBeNull()
})

test('the path of a list names seller and subject, whatever they are', () => {
  expect(buildAlarmListPath('ship-by', 'a/b&c', 'orders')).toBe('/v1/orders?sellerId=a%2Fb%26c&open=true&sort=shipBy')
  expect(buildAlarmListPath('command-held', 's-1', 'c 1')).toBe('/v1/commands/c%201')
})

test.each([
  [['7'], 'order 7 cannot be read'],
  [['9', '8', null], 'orders 8, 9, and 1 order without a readable id cannot be read'],
  [[null, null], '2 orders without a readable id cannot be read'],
  [['6', '5', '4', '3', '2', '1'], 'orders 1, 2, 3, 4, 5 and 1 more cannot be read'],
])('of unreadable orders %j it is said: %s', (keys, said) => {
  expect(unreadableOrdersMessage(keys)).toBe(`${said}: the marketplace's records are in quarantine and not stored`)
})
