import { MarketplaceFailure, Refused } from '../../../clients/http/errors.ts'
import { errorMessage } from '../../../util/error-message.ts'

/** No such resource or stream. */
export class UnknownSync extends Error {
  override readonly name = 'UnknownSync'
}

/** Paging does not end: the same cursor again, or more pages than a window can have. */
export class CursorLoop extends Error {
  override readonly name = 'CursorLoop'
}

/** A cursor returned an empty page although more records were announced. */
export class PagingEndedEarly extends Error {
  override readonly name = 'PagingEndedEarly'
}

/** The seller is not enrolled in the programme that the resource belongs to. */
export class NotEnrolled extends Error {
  override readonly name = 'NotEnrolled'
}

/** Advice to the operator for a seller who is not enrolled. */
export const notEnrolledAdvice =
  'the marketplace has nothing of this kind for the seller (or its path is another one: compare MARKETPLACE_PROFILE); it is asked again in a week, or when an operator runs the sync'

/** Whether an error is about the sequence of pages, and not about one page. */
export const isPagingError = (error: unknown): boolean => error instanceof CursorLoop || error instanceof PagingEndedEarly

/** Whether an error is about the cursor: the pages behind it loop or end, or the marketplace refuses it. */
export const isCursorError = (error: unknown): boolean =>
  isPagingError(error) || (error instanceof Refused && error.httpStatus === 400)

const advice = (error: MarketplaceFailure): string => {
  if (error.credentialsDead)
    return 'the credentials of this seller are refused: check CLIENT_ID and CLIENT_SECRET, and the refresh token of a seller that has one'
  // A 401 to a request with a token leads to a new token. It is final only where requests are signed.
  if (error.kind === 'refused' && error.httpStatus === 401)
    return 'the signature is refused: check DISPLAY_CONSUMER_ID, DISPLAY_AUTH_TOKEN, DISPLAY_PRIVATE_KEY and DISPLAY_KEY_VERSION'
  if (error.kind === 'refused') return 'the request is refused: compare MARKETPLACE_PROFILE and the permissions of this seller'
  if (error.kind === 'malformed') return 'the answer cannot be parsed: check every proxy between this process and MARKETPLACE_URL'
  return 'it is retried with growing pauses'
}

/** Text of `last_error`: what failed, its correlation id, and what to do. */
export const describe = (error: unknown): string => {
  if (error instanceof MarketplaceFailure) return `${error.message}; correlation id ${error.correlationId}; ${advice(error)}`
  if (error instanceof CursorLoop) return error.message
  if (error instanceof NotEnrolled) return `${error.message}; ${notEnrolledAdvice}`
  return `${errorMessage(error)}; it is retried with growing pauses`
}
