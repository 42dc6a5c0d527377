import path from 'node:path'
import type { Replacement } from './rules.ts'

/** The top of this tree. */
export const root = path.resolve(import.meta.dirname, '../../..')

/**
 * The text with one replacement made.
 *
 * @throws Error when the place is not there exactly once: the rule was written anew, and its mutation must follow.
 */
export const applied = (text: string, { file, from, to }: Replacement): string => {
  const pieces = text.split(from)
  if (pieces.length !== 2) throw new Error(`${file}: what is to be taken out is there ${pieces.length - 1} times: ${from}`)
  return pieces.join(to)
}
