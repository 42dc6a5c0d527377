import { expect, test } from 'vitest'
import { createPrefetch } from '../../src/jobs/dispatch/prefetch.ts'

const setUp = () => {
  let asked = 0
  const prefetch = createPrefetch(() => {
    asked += 1
  })
  const end = (count: number): void => {
    for (let ended = 0; ended < count; ended += 1) prefetch.ended()
  }
  return { prefetch, end, asked: () => asked }
}

test('more is asked for when half of a derivation is done, once', () => {
  const { prefetch, end, asked } = setUp()
  prefetch.derived(200)
  end(99)
  expect(asked()).toBe(0)
  end(1)
  expect(asked()).toBe(1)
  end(500)
  expect(asked()).toBe(1)
  prefetch.derived(100)
  end(50)
  expect(asked()).toBe(2)
})

test('after a derivation of a few nothing is asked for: the next one comes by itself', () => {
  const { prefetch, end, asked } = setUp()
  end(10)
  prefetch.derived(19)
  end(40)
  prefetch.derived(0)
  end(40)
  expect(asked()).toBe(0)
})
