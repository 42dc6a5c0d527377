import { MarketplaceFailure } from '../../../clients/http/errors.ts'
import type { Observed } from '../../../clients/http/record.ts'
import { getClock, logFields, type Run } from './engine.ts'

/** A record as read, parsed. */
export interface FoundRecord<Thing> {
  readonly observed: Observed<Thing>
  readonly value: Thing
}

/** Result of reading the subject, with the time of the request on the marketplace's clock. */
export type ReadResult<Thing> =
  | { readonly kind: 'found'; readonly found: FoundRecord<Thing>; readonly requestedAt: Date }
  /** The marketplace reports that there is none. */
  | { readonly kind: 'none'; readonly requestedAt: Date }
  /** The marketplace does not offer this read. */
  | { readonly kind: 'unreadable' }
  /** It cannot be read now, or cannot be parsed. */
  | { readonly kind: 'failed'; readonly reason: string; readonly delayMs: number | null }
  /** Our own rate budget is used up, which is not an error. */
  | { readonly kind: 'throttled'; readonly delayMs: number; readonly reason: string }
  | { readonly kind: 'refused-credentials'; readonly failure: MarketplaceFailure }

/** Reads the subject from the marketplace. Throws no errors of the marketplace. */
export const readSubject = async <Thing, Request extends object>(
  run: Run<Thing, Request>,
  correlationId: string,
): Promise<ReadResult<Thing>> => {
  const { parts, subject, job, client } = run
  const requestedAt = client.clock().now()
  try {
    const observed = await subject.read({ signal: job.signal, correlationId })
    if (observed === null) return { kind: 'none', requestedAt }
    const { record } = observed
    if (record.ok) return { kind: 'found', found: { observed, value: record.value }, requestedAt }
    return { kind: 'failed', reason: `${subject.name} cannot be parsed: ${record.fault}`, delayMs: null }
  } catch (error) {
    if (!(error instanceof MarketplaceFailure)) throw error
    if (error.credentialsDead) return { kind: 'refused-credentials', failure: error }
    const delayMs = error.retryAt === null ? null : Math.max(0, error.retryAt.getTime() - getClock(parts).wallMs())
    if (error.kind === 'throttled' && error.httpStatus === null)
      return { kind: 'throttled', delayMs: delayMs ?? 5_000, reason: `the rate budget for reading ${subject.name} is used up` }
    const fields = { ...logFields(run), correlation_id: correlationId, failure: error.kind, http_status: error.httpStatus }
    if (subject.isUnreadable(error)) {
      job.log.warn(fields, `the marketplace does not let ${subject.name} be read`)
      return { kind: 'unreadable' }
    }
    job.log.warn(fields, `${subject.name} cannot be read now`)
    return { kind: 'failed', reason: `${subject.name} cannot be read: ${error.message}`, delayMs }
  }
}
