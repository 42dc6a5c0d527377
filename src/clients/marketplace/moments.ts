import { type MomentReading, momentReading } from '../record.ts'
import { vocabulary } from './vocabulary.ts'

/** How moments in records of this marketplace are read: its guides write some in the American form, by its calendar. */
export const { momentOf, momentInText }: MomentReading = momentReading(vocabulary.calendar)
