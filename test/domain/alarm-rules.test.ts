import { readFile } from 'node:fs/promises'
import { expect, test } from 'vitest'
import { alarmsPage } from '../../src/domain/alarm-page.ts'
import { alarmKinds, alarmList, ruleOf } from '../../src/domain/alarm-rules.ts'

test('docs/alarms.md is what the rules make of it: npm run alarms-page writes it', async () => {
  expect(await readFile('docs/alarms.md', 'utf8')).toBe(alarmsPage())
})

test('every kind says what opens it, whom it concerns and what to do, in whole sentences', () => {
  for (const kind of alarmKinds) {
    const { title, opens, toDo, subject } = ruleOf(kind)
    expect(title, kind).toMatch(/^[A-Z].*[^.]$/)
    expect(opens, kind).toMatch(/^[A-Z].*\.$/)
    expect(toDo, kind).toMatch(/^[A-Z].*\.$/)
    expect(subject, kind).not.toBe('')
  }
})

test('an alarm of another version is shown, and left to a person', () => {
  expect(ruleOf('toString')).toMatchObject({ closes: 'person', title: 'An alarm of another version' })
  expect(alarmList('toString', 's', 'x')).toBeNull()
})

test('the path of a list names seller and subject, whatever they are', () => {
  expect(alarmList('ship-by', 'a/b&c', 'orders')).toBe('/v1/orders?sellerId=a%2Fb%26c&open=true&sort=shipBy')
  expect(alarmList('command-held', 's-1', 'c 1')).toBe('/v1/commands/c%201')
})
