import { createTimestampParser, type TimestampParser } from '../http/record.ts'
import { vocabulary } from './vocabulary.ts'

/** Parses timestamps in records of this marketplace. Its guides show some in the American form, by its calendar. */
export const { parseTimestamp, findTimestamp }: TimestampParser = createTimestampParser(vocabulary.calendar)
