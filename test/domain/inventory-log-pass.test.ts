import fc from 'fast-check'
import { expect, test } from 'vitest'
import { advancePass, beginPass, type LogPass, passAfter } from '../../src/domain/inventory/inventory-log-pass.ts'

const window = { from: new Date('2026-01-01T00:00:00Z'), to: new Date('2026-02-01T00:00:00Z') }
const noLimit = Number.POSITIVE_INFINITY

/** A log that answers by limit and offset, and what happens to it before each of its answers. */
const readAll = (
  log: string[],
  pageSize: number,
  happens: (page: number, log: string[]) => void,
  counts: (log: readonly string[]) => number | null = (entries) => entries.length,
) => {
  const received = new Set<string>()
  const offsets: number[] = []
  let pass: LogPass = beginPass(window, window.to)
  for (;;) {
    happens(offsets.length, log)
    offsets.push(pass.offset)
    const keys = log.slice(pass.offset, pass.offset + pageSize)
    for (const key of keys) received.add(key)
    const step = advancePass(pass, { keys, unreadable: 0, totalCount: counts(log) }, noLimit)
    if (step.kind !== 'on') return { received, offsets, end: step.kind }
    pass = step.pass
    if (offsets.length > 500) throw new Error('it does not end')
  }
}

const numbered = (count: number): string[] => Array.from({ length: count }, (_, index) => `e${index}`)
const still = (): void => undefined

test('pages follow one another by what was received; one page is one call', () => {
  expect(readAll(numbered(50), 50, still)).toMatchObject({ offsets: [0], end: 'settled' })
  expect(readAll(numbered(0), 50, still)).toMatchObject({ offsets: [0], end: 'settled' })
  expect(readAll(numbered(120), 50, still)).toMatchObject({ offsets: [0, 50, 100], end: 'settled' })
  // Without a total only an empty page says that there is no more.
  expect(readAll(numbered(60), 50, still, () => null)).toMatchObject({ offsets: [0, 50, 60], end: 'settled' })
})

test('entries added between two pages are found by another pass', () => {
  const { received, offsets, end } = readAll(numbered(100), 40, (page, log) => {
    if (page === 1) log.unshift('late')
  })
  expect(end).toBe('settled')
  expect(received.has('late')).toBe(true)
  expect(offsets).toEqual([0, 40, 80, 0, 40, 80])
})

test('an entry that is taken back between two pages makes no other one slip', () => {
  // As many come as the last page announces, and yet the one after the first page is not among them.
  const { received, offsets, end } = readAll(numbered(100), 40, (page, log) => {
    if (page === 1) log.shift()
  })
  expect(end).toBe('settled')
  expect(received).toEqual(new Set(numbered(100)))
  expect(offsets).toEqual([0, 40, 80, 0, 40, 80])
})

test('however entries are added between pages, a settled window has all of them', () => {
  const additions = fc.array(fc.record({ page: fc.nat({ max: 20 }), at: fc.nat({ max: 200 }) }), { maxLength: 6 })
  fc.assert(
    fc.property(fc.nat({ max: 150 }), fc.integer({ min: 1, max: 60 }), additions, (count, pageSize, added) => {
      const log = numbered(count)
      const { received, end } = readAll(log, pageSize, (page, entries) => {
        for (const [index, { at }] of added.filter((addition) => addition.page === page).entries()) {
          entries.splice(at % (entries.length + 1), 0, `new ${page} ${index}`)
        }
      })
      if (end === 'settled') expect(received).toEqual(new Set(log))
    }),
  )
})

test('a log that never stands still is given up after three passes; one that always announces too many is not', () => {
  const restless = readAll(numbered(100), 40, (page, log) => {
    if (page % 3 === 1) log.unshift(`late ${page}`)
  })
  expect(restless).toMatchObject({ end: 'unsettled', offsets: [0, 40, 80, 0, 40, 80, 0, 40, 80] })
  const boastful = readAll(numbered(60), 40, still, (log) => log.length + 5)
  expect(boastful).toMatchObject({ end: 'settled', offsets: [0, 40, 60, 0, 40, 60] })
})

test('rows that come twice on a page make no other row slip', () => {
  const log = numbered(100)
  const received = new Set<string>()
  let pass = beginPass(window, window.to)
  for (;;) {
    const [first = '', ...others] = log.slice(pass.offset, pass.offset + 40)
    const keys = [first, first, ...others]
    for (const key of keys) received.add(key)
    const step = advancePass(pass, { keys, unreadable: 0, totalCount: 100 }, noLimit)
    if (step.kind !== 'on') break
    pass = step.pass
  }
  expect(received).toEqual(new Set(log))
})

test('entries that cannot be read are asked for once more: some become readable, others stay as they are', () => {
  const read = (readable: (pass: number, key: string) => boolean) => {
    const log = numbered(100)
    const received = new Set<string>()
    let pass = beginPass(window, window.to)
    let calls = 0
    for (;;) {
      const page = log.slice(pass.offset, pass.offset + 50)
      const keys = page.filter((key) => readable(pass.earlier.length, key))
      for (const key of keys) received.add(key)
      calls += 1
      const step = advancePass(pass, { keys, unreadable: page.length - keys.length, totalCount: 100 }, noLimit)
      if (step.kind !== 'on') return { received: received.size, calls, end: step.kind }
      pass = step.pass
    }
  }
  expect(read(() => true)).toEqual({ received: 100, calls: 2, end: 'settled' })
  expect(read((_pass, key) => key !== 'e7')).toEqual({ received: 99, calls: 4, end: 'settled' })
  expect(read((pass, key) => Number(key.slice(1)) % 10 !== pass)).toEqual({ received: 100, calls: 4, end: 'settled' })
})

test('a marketplace that does not know offsets is not asked for ever', () => {
  let pass = beginPass(window, window.to)
  let calls = 0
  for (;;) {
    const step = advancePass(pass, { keys: numbered(50), unreadable: 0, totalCount: 120 }, noLimit)
    calls += 1
    if (step.kind === 'settled') break
    if (step.kind !== 'on') throw new Error(step.kind)
    pass = step.pass
  }
  expect(calls).toBe(4)
})

test('a window with too many entries is told so with its first page; the rest of a stretch begins where a window ends', () => {
  expect(advancePass(beginPass(window, window.to), { keys: numbered(50), unreadable: 0, totalCount: 1_001 }, 1_000)).toEqual({
    kind: 'large',
  })
  const until = new Date('2026-03-01T00:00:00Z')
  expect(passAfter(beginPass(window, until), 'second')?.window).toEqual({ from: new Date('2026-01-31T23:59:59Z'), to: until })
  expect(passAfter(beginPass(window, until), 'day')?.window.from).toEqual(new Date('2026-01-31T00:00:00Z'))
  expect(passAfter(beginPass(window, window.to), 'second')).toBeNull()
})
