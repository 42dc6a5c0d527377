import { expect, test } from 'vitest'
import { createRefill } from '../../src/daemon/refill.ts'

const setUp = () => {
  let asked = 0
  const refill = createRefill(() => {
    asked += 1
  })
  const end = (count: number): void => {
    for (let ended = 0; ended < count; ended += 1) refill.ended()
  }
  return { refill, end, asked: () => asked }
}

test('more is asked for when half of a derivation is done, once', () => {
  const { refill, end, asked } = setUp()
  refill.derived(200)
  end(99)
  expect(asked()).toBe(0)
  end(1)
  expect(asked()).toBe(1)
  end(500)
  expect(asked()).toBe(1)
  refill.derived(100)
  end(50)
  expect(asked()).toBe(2)
})

test('after a derivation of a few nothing is asked for: the next one comes by itself', () => {
  const { refill, end, asked } = setUp()
  end(10)
  refill.derived(19)
  end(40)
  refill.derived(0)
  end(40)
  expect(asked()).toBe(0)
})
