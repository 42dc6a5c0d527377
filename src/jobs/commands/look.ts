import { MarketplaceFailure } from '../../clients/errors.ts'
import type { Observed } from '../../clients/record.ts'
import { clockOf, fieldsOf, type Run } from './engine.ts'

/** A record as read, parsed. */
export interface Seen<Thing> {
  readonly observed: Observed<Thing>
  readonly value: Thing
}

/** The subject as shown by the marketplace, with the time of the request on its clock. */
export type Sight<Thing> =
  | { readonly kind: 'seen'; readonly seen: Seen<Thing>; readonly askedAt: Date }
  /** The marketplace reports that there is none. */
  | { readonly kind: 'none'; readonly askedAt: Date }
  /** The marketplace does not offer this read. */
  | { readonly kind: 'unreadable' }
  /** It cannot be read now, or cannot be parsed. */
  | { readonly kind: 'trouble'; readonly reason: string; readonly delayMs: number | null }
  /** Our own rate budget is used up, which is not a fault. */
  | { readonly kind: 'wait'; readonly delayMs: number; readonly reason: string }
  | { readonly kind: 'refused-credentials'; readonly failure: MarketplaceFailure }

/** Reads the subject from the marketplace. Never throws for what the marketplace does. */
export const look = async <Thing, Request extends object>(
  run: Run<Thing, Request>,
  correlationId: string,
): Promise<Sight<Thing>> => {
  const { parts, subject, job, client } = run
  const askedAt = client.clock().now()
  try {
    const observed = await subject.read({ signal: job.signal, correlationId })
    if (observed === null) return { kind: 'none', askedAt }
    const { record } = observed
    if (record.ok) return { kind: 'seen', seen: { observed, value: record.value }, askedAt }
    return { kind: 'trouble', reason: `${subject.name} cannot be understood: ${record.fault}`, delayMs: null }
  } catch (error) {
    if (!(error instanceof MarketplaceFailure)) throw error
    if (error.credentialsDead) return { kind: 'refused-credentials', failure: error }
    const delayMs = error.retryAt === null ? null : Math.max(0, error.retryAt.getTime() - clockOf(parts).wallMs())
    if (error.kind === 'throttled' && error.httpStatus === null)
      return { kind: 'wait', delayMs: delayMs ?? 5_000, reason: `the rate budget for reading ${subject.name} is used up` }
    const fields = { ...fieldsOf(run), correlation_id: correlationId, failure: error.kind, http_status: error.httpStatus }
    if (subject.isUnreadable(error)) {
      job.log.warn(fields, `the marketplace does not let ${subject.name} be read`)
      return { kind: 'unreadable' }
    }
    job.log.warn(fields, `${subject.name} cannot be read now`)
    return { kind: 'trouble', reason: `${subject.name} cannot be read: ${error.message}`, delayMs }
  }
}
