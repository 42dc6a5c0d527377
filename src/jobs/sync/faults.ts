import { MarketplaceFailure, Refused } from '../../clients/errors.ts'
import { messageOf } from '../../message-of.ts'

/** No such resource or stream. */
export class UnknownSync extends Error {
  override readonly name = 'UnknownSync'
}

/** Paging has gone astray: the same cursor again, or more pages than a window can have. */
export class PagingAstray extends Error {
  override readonly name = 'PagingAstray'
}

/** A cursor led to nothing although more had been announced. */
export class EndedTooSoon extends Error {
  override readonly name = 'EndedTooSoon'
}

/** The marketplace does not know this seller in the programme that the resource belongs to. */
export class NotEnrolled extends Error {
  override readonly name = 'NotEnrolled'
}

/** What an operator reads of a seller who is not enrolled. */
export const notEnrolledAdvice =
  'the marketplace answers 404 here (or its path is another one: compare MARKETPLACE_PROFILE); it is asked again in a week, or when a person runs the sync'

/** The pages lead nowhere, whatever each of them is. */
export const isOfPaging = (error: unknown): boolean => error instanceof PagingAstray || error instanceof EndedTooSoon

/** The cursor is what is at fault: by where it leads, or by the marketplace's own word. */
export const isDeadCursor = (error: unknown): boolean =>
  isOfPaging(error) || (error instanceof Refused && error.httpStatus === 400)

const advice = (error: MarketplaceFailure): string => {
  if (error.credentialsDead) return 'the credentials of this seller are refused: check CLIENT_ID and CLIENT_SECRET'
  // Marketplace-side a 401 brings a new token; it is final only where requests are signed.
  if (error.kind === 'refused' && error.httpStatus === 401)
    return 'the signature is refused: check DISPLAY_CONSUMER_ID, DISPLAY_AUTH_TOKEN, DISPLAY_PRIVATE_KEY and DISPLAY_KEY_VERSION'
  if (error.kind === 'refused') return 'the request is refused: compare MARKETPLACE_PROFILE and the permissions of this seller'
  if (error.kind === 'malformed') return 'the answer is not understood: look at what stands between here and MARKETPLACE_URL'
  return 'it is tried again with growing pauses'
}

/** What `last_error` says: what happened, under which correlation id, and what to do. */
export const describe = (error: unknown): string => {
  if (error instanceof MarketplaceFailure) return `${error.message}; correlation id ${error.correlationId}; ${advice(error)}`
  if (error instanceof PagingAstray) return error.message
  if (error instanceof NotEnrolled) return `${error.message}; ${notEnrolledAdvice}`
  return `${messageOf(error)}; it is tried again with growing pauses`
}
