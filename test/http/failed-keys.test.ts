import { expect, test } from 'vitest'
import { countedAddress, createFailedKeys } from '../../src/http/auth/failed-keys.ts'

const clocked = () => {
  const clock = { nowMs: 0 }
  return { clock, failed: createFailedKeys({ warn: () => undefined }, () => clock.nowMs) }
}

test('an address may fail twenty times, then once in three seconds', () => {
  const { clock, failed } = clocked()
  for (let index = 0; index < 20; index += 1) {
    expect(failed.waitMs('1.2.3.4')).toBeNull()
    failed.add('1.2.3.4', '/')
  }
  expect(failed.waitMs('1.2.3.4')).toBe(3_000)
  expect(failed.waitMs('1.2.3.5')).toBeNull()
  clock.nowMs += 3_000
  expect(failed.waitMs('1.2.3.4')).toBeNull()
  failed.add('1.2.3.4', '/')
  expect(failed.waitMs('1.2.3.4')).toBe(3_000)
  clock.nowMs += 60_000
  for (let index = 0; index < 20; index += 1) failed.add('1.2.3.4', '/')
  expect(failed.waitMs('1.2.3.4')).toBe(3_000)
})

test('ten thousand addresses are remembered, the latest', () => {
  const { failed } = clocked()
  const exhaust = (address: string): void => {
    for (let index = 0; index < 20; index += 1) failed.add(address, '/')
  }
  exhaust('first')
  for (let index = 0; index < 9_999; index += 1) failed.add(`address-${index}`, '/')
  expect(failed.waitMs('first')).not.toBeNull()
  failed.add('one-more', '/')
  expect(failed.waitMs('first')).toBeNull()
})

test.each([
  ['127.0.0.1', '127.0.0.1'],
  ['::ffff:10.0.0.7', '10.0.0.7'],
  ['::1', '0:0:0:0::/64'],
  ['2001:db8:0:1:aaaa:bbbb:cccc:dddd', '2001:db8:0:1::/64'],
  ['2001:0DB8::1', '2001:db8:0:0::/64'],
  ['fe80::1:2:3:4', 'fe80:0:0:0::/64'],
])('%s counts as %s', (address, counted) => {
  expect(countedAddress(address)).toBe(counted)
})
