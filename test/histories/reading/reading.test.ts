import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { countSeed } from '../generator.ts'
import { openTheatre, type Theatre } from '../theatre.ts'
import { buildReadingHistory } from './generator.ts'
import { playReading } from './play.ts'
import { readingStories } from './stories.ts'

/** How many are drawn, from the beginning of the first row. */
const count = 50

let theatre: Theatre

beforeAll(async () => {
  theatre = await openTheatre(4)
})
afterAll(() => theatre.stop())

describe('stories of reading', () => {
  for (const { name, history } of readingStories) {
    test.concurrent(name, async () => {
      const { violations, trace } = await playReading(theatre, history)
      expect(violations, trace.join('\n')).toEqual([])
    }, 180_000)
  }
})

describe('generated histories of reading', () => {
  test('are withstood', async () => {
    const broken: string[] = []
    const each = async (index: number): Promise<void> => {
      const seed = countSeed(1, index)
      const { violations } = await playReading(theatre, buildReadingHistory(seed))
      if (violations.length > 0) broken.push(`npm run histories -- --reading --only ${seed}: ${violations.join('; ')}`)
    }
    await Promise.all(Array.from({ length: count }, (_, index) => each(index)))
    expect(broken).toEqual([])
  }, 600_000)
})
