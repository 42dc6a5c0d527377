import { vocabulary } from '../../src/clients/marketplace/vocabulary.ts'
import type { VocabularyOf } from '../../src/domain/vocabulary.ts'

/** The words of the specification, whosever data it is. */
export const vocabularyOf: VocabularyOf = () => vocabulary

export const {
  hour: pacificHour,
  midnight: pacificMidnight,
  dayOf: pacificDay,
  monthOf: pacificMonth,
  monthBounds,
} = vocabulary.calendar

export { vocabulary }
