import { MarketplaceFailure, Refused } from '../../../clients/http/errors.ts'
import type { Database } from '../../../store/db/database.ts'
import { NotEnrolled } from './errors.ts'

/** The seller and the resource of an enrolment. */
interface EnrolmentKey {
  readonly sellerId: string
  readonly resource: string
}

/** This many 404s of the framework in a row mean "not enrolled". A single one may be a deployment in progress, and the result holds for a week. */
const framework404sInARow = 3

// Consecutive framework 404s that this process has received.
const framework404s = new WeakMap<Database, Map<string, number>>()

const findCounts = (database: Database): Map<string, number> => {
  const known = framework404s.get(database) ?? new Map<string, number>()
  framework404s.set(database, known)
  return known
}

const buildName = ({ sellerId, resource }: EnrolmentKey): string => JSON.stringify([sellerId, resource])

/** The framework's default answer to an unknown address (public facts, section 6.1): JSON, but not in the marketplace's format. */
const isFramework404 = (error: unknown): boolean =>
  error instanceof MarketplaceFailure &&
  error.kind === 'unavailable' &&
  error.httpStatus === 404 &&
  error.faults.some(({ code }) => code === 'Not Found')

/**
 * Whether a failure means that the seller is not enrolled (public facts, section 7.4): a single 404 in the marketplace's own format, a refusal that names
 * the programme, or the third framework 404 in a row. Any other failure, such as a gateway's page, proves nothing.
 */
export const meansNotEnrolled = (database: Database, key: EnrolmentKey, error: unknown): boolean => {
  const counts = findCounts(database)
  const inARow = isFramework404(error) ? (counts.get(buildName(key)) ?? 0) + 1 : 0
  const notEnrolled =
    inARow >= framework404sInARow ||
    error instanceof NotEnrolled ||
    (error instanceof Refused && (error.httpStatus === 404 || error.notEnrolled))
  if (inARow === 0 || notEnrolled) counts.delete(buildName(key))
  else counts.set(buildName(key), inARow)
  return notEnrolled
}

/** The marketplace has answered: earlier 404s of the framework no longer count. */
export const noteEnrolledAnswer = (database: Database, key: EnrolmentKey): void =>
  void findCounts(database).delete(buildName(key))
