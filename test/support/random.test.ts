import { expect, test } from 'vitest'
import { buildRandom } from './random.ts'

test.each([
  [1, [0.6270739405881613, 0.002735721180215478, 0.5274470399599522]],
  [2 ** 31, [0.8205775609239936, 0.4481089550536126, 0.7836112855002284]],
  [2 ** 32 - 1, [0.8964226141106337, 0.189478256739676, 0.7156526781618595]],
])('the numbers of seed %d stay the same, so that a seed that was printed keeps its meaning', (seed, expected) => {
  const random = buildRandom(seed)
  expect([random(), random(), random()]).toEqual(expected)
})
