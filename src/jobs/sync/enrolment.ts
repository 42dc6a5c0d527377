import { MarketplaceFailure, Refused } from '../../clients/errors.ts'
import type { Database } from '../../store/database.ts'
import { NotEnrolled } from './faults.ts'

/** Whose enrolment in what. */
interface EnrolmentKey {
  readonly sellerId: string
  readonly resource: string
}

/** So many 404s of the framework in a row are believed: one may be a deployment under way, and a belief lasts a week. */
const framework404sToBelieve = 3

// How often in a row, as this process has seen it.
const framework404s = new WeakMap<Database, Map<string, number>>()

const countsOf = (database: Database): Map<string, number> => {
  const known = framework404s.get(database) ?? new Map<string, number>()
  framework404s.set(database, known)
  return known
}

const nameOf = ({ sellerId, resource }: EnrolmentKey): string => JSON.stringify([sellerId, resource])

/** The default answer of the framework for an address that it does not know (public facts, section 6.1): JSON, but no word of the marketplace. */
const isFramework404 = (error: unknown): boolean =>
  error instanceof MarketplaceFailure &&
  error.kind === 'unavailable' &&
  error.httpStatus === 404 &&
  error.faults.some(({ code }) => code === 'Not Found')

/**
 * Whether a failure says that the seller is not enrolled (public facts, section 7.4): a 404 in the marketplace's own words at once, one of the
 * framework when it is the third in a row. Any other, such as a gateway's page, says nothing.
 */
export const meansNotEnrolled = (database: Database, key: EnrolmentKey, error: unknown): boolean => {
  const counts = countsOf(database)
  const inARow = isFramework404(error) ? (counts.get(nameOf(key)) ?? 0) + 1 : 0
  const believed =
    inARow >= framework404sToBelieve || error instanceof NotEnrolled || (error instanceof Refused && error.httpStatus === 404)
  if (inARow === 0 || believed) counts.delete(nameOf(key))
  else counts.set(nameOf(key), inARow)
  return believed
}

/** The marketplace has answered: the 404s before were an accident. */
export const noteEnrolledAnswer = (database: Database, key: EnrolmentKey): void => void countsOf(database).delete(nameOf(key))
