import type { QueueRuntime } from '../../queues/runtime.ts'
import type { Database } from '../../store/db/database.ts'
import { claimProbe, resumeProbed } from '../../store/sellers/sellers.ts'
import { requeue } from '../dispatch/requeue.ts'
import type { SellerRegistry } from './registry.ts'

/** Dependencies of a probe. */
export interface ProbeParts {
  readonly database: Database
  readonly sellers: SellerRegistry
}

/**
 * Asks for a token of a stopped seller, when that is due and nobody else does it, and takes the seller up again when one is granted; what a
 * `seller.probe` job does. Answers what came of it; null when it was not to be asked.
 */
export const probeSeller = async (
  { database, sellers }: ProbeParts,
  sellerId: string,
  signal: AbortSignal,
): Promise<'resumed' | 'refused' | 'unanswered' | null> => {
  if (!sellers.has(sellerId)) return null
  // Taken before anything is waited for: it may be dropped meanwhile.
  const { credentials } = sellers.client(sellerId)
  if (!(await claimProbe(database, sellerId))) return null
  const answer = await credentials.check(signal)
  if (!answer.accepted) return answer.refused ? 'refused' : 'unanswered'
  return (await resumeProbed(database, sellerId)) ? 'resumed' : null
}

/** Dependencies of probing stopped sellers. */
export interface ProbeWorkerParts extends ProbeParts {
  readonly runtime: Pick<QueueRuntime, 'register'>
}

/** Registers the handler of the jobs `seller.probe`; before the queues start. */
export const registerProbeWorker = ({ database, sellers, runtime }: ProbeWorkerParts): void =>
  runtime.register('seller.probe', async ({ data: { sellerId }, signal, starts, log }) => {
    if (!sellers.has(sellerId)) return requeue({ database }, sellerId, starts)
    const outcome = await probeSeller({ database, sellers }, sellerId, signal)
    if (outcome === 'resumed') log.info({ seller_id: sellerId }, 'the credentials are accepted again; the seller goes on')
    else if (outcome !== null) log.warn({ seller_id: sellerId, outcome }, 'the stopped seller has still not got a token')
    return { done: true }
  })
