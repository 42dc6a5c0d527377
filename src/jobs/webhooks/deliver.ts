import { randomUUID } from 'node:crypto'
import type { Database } from '../../store/db/database.ts'
import {
  type AttemptOutcome,
  type ClaimedDelivery,
  claimDelivery,
  createDeliveries,
  type FailureResult,
  findLaggingWebhooks,
  recordTest,
  releaseDelivery,
  settleDelivered,
  settleFailed,
  settleRemovedChange,
} from '../../store/webhooks/webhook-deliveries.ts'
import { readWebhookSecrets } from '../../store/webhooks/webhook-endpoints.ts'
import { buildHeaders, buildMessage, testMessage, type WebhookMessage } from './message.ts'
import { planAfter } from './schedule.ts'
import type { WebhookAnswer, WebhookTransport } from './transport.ts'

/** What became of an attempt, for metrics. */
export type DeliveryOutcome = 'delivered' | FailureResult | 'change-removed' | 'test-delivered' | 'test-failed'

/** What messages are delivered with. */
export interface WebhookParts {
  readonly database: Database
  readonly transport: WebhookTransport
  /** `user-agent` of every request. */
  readonly userAgent: string
  /** Called after every attempt. */
  readonly onOutcome: (outcome: DeliveryOutcome) => void
}

/** Steps of a fan-out for one endpoint before the others get their turn. */
const stepsATurn = 2

/**
 * Makes messages of what the active endpoints have not read of the change feed. Answers whether there is more to be read.
 * Any number of processes may do so at once.
 */
export const fanOutChanges = async (database: Database): Promise<{ readonly more: boolean }> => {
  let isMore = false
  for (const endpointId of await findLaggingWebhooks(database)) {
    let more = true
    for (let step = 0; more && step < stepsATurn; step += 1) more = await createDeliveries(database, endpointId)
    isMore ||= more
  }
  return { more: isMore }
}

const hasArrived = ({ httpStatus }: AttemptOutcome): boolean => httpStatus !== null && httpStatus >= 200 && httpStatus <= 299

const send = async (
  { database, transport, userAgent }: WebhookParts,
  endpoint: { readonly id: string; readonly url: string },
  message: WebhookMessage,
  signal: AbortSignal,
): Promise<WebhookAnswer> => {
  const secrets = await readWebhookSecrets(database, endpoint.id)
  // Removed meanwhile, with its endpoint.
  if (secrets.length === 0) return { httpStatus: null, error: 'no-secret', durationMs: 0, retryAfterMs: null }
  const headers = buildHeaders(message, secrets, { now: new Date(), userAgent })
  return transport.post({ url: endpoint.url, headers, body: message.body, signal })
}

/** What follows a run: the next message of the subject that may be sent now, or when this one is to be tried again. */
export interface AfterDelivery {
  readonly next: bigint | null
  readonly againInMs: number | null
  /** The endpoint had failed, and now has got a message. */
  readonly recovered: boolean
}

const nothingFollows: AfterDelivery = { next: null, againInMs: null, recovered: false }

/** So much longer than an attempt may take nobody else begins one: the rest is for Postgres. */
const claimMarginMs = 10_000

/**
 * Makes one attempt to deliver a message, if it may be sent now and nobody else is about it. @throws the signal's reason when it is aborted; nothing
 * is recorded then
 */
export const deliver = async (parts: WebhookParts, deliveryId: bigint, signal: AbortSignal): Promise<AfterDelivery> => {
  const { database, transport, onOutcome } = parts
  const due = await claimDelivery(database, deliveryId, transport.timeoutMs + claimMarginMs)
  if (due === null) return nothingFollows
  const { change } = due
  if (change === null) {
    await settleRemovedChange(database, due)
    onOutcome('change-removed')
    return nothingFollows
  }
  const answer = await send(parts, { id: due.endpointId, url: due.url }, buildMessage(due.endpointId, change), signal).catch(
    async (error: unknown) => {
      // Where that fails too, the claim ends by itself.
      await Promise.allSettled([releaseDelivery(database, due)])
      throw error
    },
  )
  if (!hasArrived(answer)) return afterFailure(parts, due, answer)
  const next = await settleDelivered(database, due, answer)
  onOutcome('delivered')
  return { next, againInMs: null, recovered: due.failing }
}

const afterFailure = async (
  { database, onOutcome }: WebhookParts,
  due: ClaimedDelivery,
  answer: WebhookAnswer,
): Promise<AfterDelivery> => {
  const plan = planAfter(due.attempt, answer)
  const result = await settleFailed(database, due, answer, plan)
  if (result === null) return nothingFollows
  onOutcome(result)
  return { ...nothingFollows, againInMs: result === 'retried' ? plan.nextInMs : null }
}

/** What became of a test message. */
export interface TestResult extends AttemptOutcome {
  readonly deliveryId: bigint
  readonly delivered: boolean
}

/** Sends a test message now, in every state of the endpoint; it is not tried again. */
export const deliverTest = async (
  parts: WebhookParts,
  endpoint: { readonly id: string; readonly url: string },
  signal: AbortSignal,
): Promise<TestResult> => {
  const { retryAfterMs: _unused, ...outcome } = await send(
    parts,
    endpoint,
    testMessage(endpoint.id, randomUUID(), new Date()),
    signal,
  )
  const delivered = hasArrived(outcome)
  parts.onOutcome(delivered ? 'test-delivered' : 'test-failed')
  return { ...outcome, deliveryId: await recordTest(parts.database, endpoint.id, outcome, delivered), delivered }
}
