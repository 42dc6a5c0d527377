import { describe, expect, test } from 'vitest'
import { type BackfillProgress, pagesLeft } from '../../src/domain/sync/backfill-pages.ts'

const begun: BackfillProgress = { windowsLeft: 10, windowsDone: 0, seen: 0, windowSeen: 0, windowTotal: null, pageSize: 200 }

describe('pages that are left of a backfill', () => {
  test('are one a window while nothing is known', () => {
    expect(pagesLeft(begun)).toEqual({ pages: 10, basis: 'nothing' })
    expect(pagesLeft({ ...begun, windowsLeft: 0 })).toEqual({ pages: 0, basis: 'nothing' })
  })

  test('are those of the window in progress, as its first page counted it, for each of the others', () => {
    // Three pages of 450 records, one of which has come.
    expect(pagesLeft({ ...begun, windowTotal: 450, seen: 200, windowSeen: 200 })).toEqual({
      pages: 2 + 9 * 3,
      basis: 'window-under-way',
    })
  })

  test('are as many as the windows that were read had on average', () => {
    const read = { ...begun, windowsDone: 4, seen: 2_000 }
    expect(pagesLeft(read)).toEqual({ pages: 10 * 3, basis: 'windows-read' })
    // The window in progress is known better, and its records are none of the others'.
    expect(pagesLeft({ ...read, seen: 2_200, windowSeen: 200, windowTotal: 1_000 })).toEqual({
      pages: 4 + 9 * 3,
      basis: 'windows-read',
    })
  })

  test('are never less than one a window: what is empty is asked for too', () => {
    expect(pagesLeft({ ...begun, windowsDone: 5 }).pages).toBe(10)
    expect(pagesLeft({ ...begun, windowsLeft: 1, windowTotal: 0 }).pages).toBe(1)
  })
})
