import type { ChangeType } from '../../src/domain/changes/catalogue.ts'
import { type DeliveryOutcome, deliver, fanOutChanges, type WebhookParts } from '../../src/jobs/webhooks/deliver.ts'
import { createWebhookTransport, type WebhookTransportOptions } from '../../src/jobs/webhooks/transport.ts'
import type { Database } from '../../src/store/db/database.ts'
import { findDueDeliveries } from '../../src/store/webhooks/webhook-deliveries.ts'
import { createWebhook, type NewWebhook } from '../../src/store/webhooks/webhook-endpoints.ts'
import { numbered, recordEmptied } from '../support/changes.ts'

/** What tests record: a type, and the order that it is about. */
export type Told = readonly [type: ChangeType, purchaseOrderId?: string]

/** Signs in tests. */
export const secret = `whsec_${Buffer.from('a secret of thirty-two bytes ...').toString('base64')}`

/** Records changes of a seller, each in a transaction of its own. */
export const tell = async (database: Database, told: readonly Told[], sellerId = 's-1'): Promise<void> => {
  for (const [type, purchaseOrderId] of told)
    await database.transaction(async (tx) =>
      recordEmptied(tx, { sellerId, type, ...(purchaseOrderId === undefined ? {} : { purchaseOrderId }) }),
    )
  await numbered(database)
}

/** Makes an endpoint of everything that happens from the first change on. */
export const addEndpoint = (database: Database, url: string, options: Partial<NewWebhook> = {}): Promise<string> =>
  database.transaction(async (tx) => {
    const made = await createWebhook(tx, { id: 'wh_1', url, types: [], sellerId: null, secret, after: 0n, ...options })
    if (!made.ok) throw new Error('the endpoint was not made')
    return made.endpoint.id
  })

/** The sender, as the daemon runs it but without queues: what is due is sent, subject by subject, until nothing is. */
export const createSender = (database: Database, options: Partial<WebhookTransportOptions> = {}) => {
  const outcomes: DeliveryOutcome[] = []
  const transport = createWebhookTransport({ privateAddresses: true, timeoutMs: 2_000, ...options })
  const parts: WebhookParts = { database, transport, userAgent: 'Tallyman/test', onOutcome: (outcome) => outcomes.push(outcome) }
  const { signal } = new AbortController()
  const follow = async (first: bigint): Promise<void> => {
    for (let next: bigint | null = first; next !== null; ) next = (await deliver(parts, next, signal)).next
  }
  return {
    parts,
    outcomes,
    /** Sends all that is due now. */
    run: async (): Promise<void> => {
      for (let more = true; more; ) more = (await fanOutChanges(database)).more
      for (let due = await findDueDeliveries(database); due.length > 0; due = await findDueDeliveries(database))
        await Promise.all(due.map(({ id }) => follow(id)))
    },
    close: () => transport.close(),
  }
}

/** Lets so much time pass: everything that happened is so much longer ago, and everything that is to come so much nearer. In milliseconds. */
export const letPass = async (database: Database, ms: number): Promise<void> => {
  const by = `make_interval(secs => $1::float8 / 1000)`
  await database.execute(
    `UPDATE tallyman.webhook_deliveries SET at = at - ${by}, next_at = next_at - ${by}, first_at = first_at - ${by}, created_at = created_at - ${by}`,
    ms,
  )
  await database.execute(
    `UPDATE tallyman.webhook_endpoints SET failing_since = failing_since - ${by}, last_success_at = last_success_at - ${by},
       not_before = not_before - ${by}`,
    ms,
  )
  await database.execute(`UPDATE tallyman.webhook_secrets SET expires_at = expires_at - ${by}`, ms)
  await database.execute(`UPDATE warehouse.changes SET occurred_at = occurred_at - ${by}`, ms)
}
