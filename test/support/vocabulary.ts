import { vocabulary } from '../../src/clients/marketplace/vocabulary.ts'
import type { FindVocabulary } from '../../src/domain/values/vocabulary.ts'

/** The words of the specification, whosever data it is. */
export const findVocabulary: FindVocabulary = () => vocabulary

export const {
  hour: pacificHour,
  midnight: pacificMidnight,
  formatDay: pacificDay,
  formatMonth: pacificMonth,
  monthBounds,
} = vocabulary.calendar

export { vocabulary }
