import type { SqlRunner, Transaction } from './database.ts'
import { oneOf } from './one-of.ts'
import { isOrAny, type ListPage, pageOf } from './page.ts'

/** Name of the channel on which it is notified that endpoints or deliveries have been changed by a person. */
export const webhooksChannel = 'tallyman_webhooks'

/** `paused`: nothing is sent, and nothing is forgotten; `disabled`: nothing is sent, and changes may go that it has not got. */
export const webhookStates = ['active', 'paused', 'disabled'] as const
/** One of {@link webhookStates}. */
export type WebhookState = (typeof webhookStates)[number]

/** A receiver of changes, without its secrets. */
export interface WebhookEndpoint {
  readonly id: string
  readonly url: string
  /** Types that it gets, `order.*` for a group of them; empty: all. */
  readonly types: readonly string[]
  /** Whose changes it gets; null: those of all sellers. */
  readonly sellerId: string | null
  readonly state: WebhookState
  /** Why it is paused or disabled. */
  readonly reason: string | null
  readonly stateSince: Date
  /** Every change up to this number that it gets has become a delivery. */
  readonly position: bigint
  /** First failure since the last success. */
  readonly failingSince: Date | null
  readonly lastSuccessAt: Date | null
  readonly createdAt: Date
  readonly updatedAt: Date
}

interface EndpointRow {
  readonly id: string
  readonly url: string
  readonly types: string[]
  readonly sellerId: string | null
  readonly state: string
  readonly reason: string | null
  readonly stateSince: Date
  readonly position: bigint
  readonly failingSince: Date | null
  readonly lastSuccessAt: Date | null
  readonly createdAt: Date
  readonly updatedAt: Date
}

const fromRow = (row: EndpointRow): WebhookEndpoint => ({ ...row, state: oneOf(webhookStates, row.state) })

const shown = { omit: { notBefore: true } } as const

const wakeSenders = async (sql: SqlRunner): Promise<void> => {
  await sql.execute(`SELECT pg_notify('${webhooksChannel}', '')`)
}

/** One endpoint; null: there is none. */
export const readWebhook = async ({ prisma }: SqlRunner, id: string): Promise<WebhookEndpoint | null> => {
  const row = await prisma.webhookEndpoint.findUnique({ where: { id }, ...shown })
  return row === null ? null : fromRow(row)
}

/** Which endpoints a list shows; null: whatever it is. */
export interface WebhookFilter {
  readonly state: WebhookState | null
  /** It gets the changes of this seller. */
  readonly sellerId: string | null
}

/** Endpoints in the order of their ids, after this one. */
export const listWebhooks = async (
  { prisma }: SqlRunner,
  { state, sellerId }: WebhookFilter,
  after: string | null,
  limit: number,
): Promise<ListPage<WebhookEndpoint, string>> => {
  const rows = await prisma.webhookEndpoint.findMany({
    where: {
      state: isOrAny(state),
      ...(sellerId === null ? {} : { OR: [{ sellerId: null }, { sellerId }] }),
      ...(after === null ? {} : { id: { gt: after } }),
    },
    orderBy: { id: 'asc' },
    take: limit + 1,
    ...shown,
  })
  return pageOf(rows.map(fromRow), limit, ({ id }) => id)
}

/** What a new endpoint is made of. */
export interface NewWebhook {
  readonly id: string
  readonly url: string
  readonly types: readonly string[]
  readonly sellerId: string | null
  /** `whsec_…`. */
  readonly secret: string
  /** The change after which it begins; null: after the newest. */
  readonly after: bigint | null
}

/** The numbers between which a reader of the change feed may begin. */
export interface FeedBounds {
  readonly removedUpTo: bigint
  readonly last: bigint
}

/** Makes an endpoint, active at once; refused when it is to begin after a change that has gone or has not come. */
export const createWebhook = async (
  tx: Transaction,
  { id, url, types, sellerId, secret, after }: NewWebhook,
): Promise<{ readonly ok: true; readonly endpoint: WebhookEndpoint } | { readonly ok: false; readonly bounds: FeedBounds }> => {
  const [bounds] = await tx.query<FeedBounds>(
    `SELECT p.removed_up_to AS "removedUpTo", c.last_seq AS last FROM tallyman.retention_passes p, tallyman.change_counter c WHERE p.data = 'changes'`,
  )
  if (bounds === undefined) throw new Error('the change counter is missing')
  if (after !== null && (after < bounds.removedUpTo || after > bounds.last)) return { ok: false, bounds }
  const row = await tx.prisma.webhookEndpoint.create({
    data: { id, url, types: [...types], sellerId, position: after ?? bounds.last, secrets: { create: { secret } } },
    ...shown,
  })
  await wakeSenders(tx)
  return { ok: true, endpoint: fromRow(row) }
}

/** What a person changes of an endpoint; what is absent stays. */
export interface WebhookChange {
  readonly url?: string
  readonly types?: readonly string[]
  readonly sellerId?: string | null
  readonly state?: WebhookState
}

const reasonOf: Readonly<Record<WebhookState, string | null>> = {
  active: null,
  paused: 'paused by an operator',
  disabled: 'disabled by an operator',
}

/**
 * Changes an endpoint; null: there is none. `active` begins the schedule of every waiting message anew, whatever the state was. Another filter holds for
 * changes that come from now on.
 */
export const changeWebhook = async (
  tx: Transaction,
  id: string,
  { url, types, sellerId, state }: WebhookChange,
): Promise<WebhookEndpoint | null> => {
  // Deliveries before their endpoint, as whoever settles one does.
  if (state === 'active') await restartWaiting(tx, id)
  const changed = await tx.execute(
    `UPDATE tallyman.webhook_endpoints SET url = coalesce($2, url), types = coalesce($3::text[], types),
       seller_id = CASE WHEN $4::boolean THEN $5 ELSE seller_id END,
       state_since = CASE WHEN state = coalesce($6, state) THEN state_since ELSE now() END,
       reason = CASE WHEN $6::text IS NULL OR (state = $6 AND $6 <> 'active') THEN reason ELSE $7 END,
       failing_since = CASE WHEN $6 = 'active' THEN NULL ELSE failing_since END,
       not_before = CASE WHEN $6 = 'active' THEN NULL ELSE not_before END,
       state = coalesce($6, state), updated_at = now()
     WHERE id = $1`,
    id,
    url ?? null,
    types === undefined ? null : [...types],
    sellerId !== undefined,
    sellerId ?? null,
    state ?? null,
    state === undefined ? null : reasonOf[state],
  )
  if (changed === 0) return null
  if (state !== undefined) await resolveWebhookAlarms(tx, id, ['webhook-failing', 'webhook-stopped'])
  if (state === 'disabled') await resolveWebhookAlarms(tx, id, ['webhook-behind'])
  await wakeSenders(tx)
  return readWebhook(tx, id)
}

const restartWaiting = async (tx: Transaction, id: string): Promise<void> => {
  await tx.execute(
    `UPDATE tallyman.webhook_deliveries SET attempt = 0, first_at = NULL, next_at = now() WHERE endpoint_id = $1 AND status = 'pending'`,
    id,
  )
}

/** Kinds of alarms about an endpoint; their subject is its id. */
const alarmKinds = ['webhook-failing', 'webhook-stopped', 'webhook-given-up', 'webhook-behind', 'webhook-changes-gone'] as const
/** One of the kinds of alarms about an endpoint. */
export type WebhookAlarm = (typeof alarmKinds)[number]

/** Closes alarms of an endpoint whatever seller they were raised for: its filter may have been changed since. */
export const resolveWebhookAlarms = async (sql: SqlRunner, id: string, kinds: readonly WebhookAlarm[]): Promise<void> => {
  await sql.execute(
    `UPDATE tallyman.alarms SET resolved_at = now() WHERE kind = ANY ($1::text[]) AND subject = $2 AND resolved_at IS NULL`,
    [...kinds],
    id,
  )
}

/** Removes an endpoint with its secrets and deliveries. Answers whether there was one. */
export const removeWebhook = async (tx: Transaction, id: string): Promise<boolean> => {
  // Deliveries before their endpoint, as whoever settles one does.
  await tx.prisma.webhookDelivery.deleteMany({ where: { endpointId: id } })
  const { count } = await tx.prisma.webhookEndpoint.deleteMany({ where: { id } })
  await resolveWebhookAlarms(tx, id, alarmKinds)
  return count > 0
}

/** Gives an endpoint another secret; the ones before sign beside it for so long, in seconds. Answers until when; null: there is no such endpoint. */
export const rotateWebhookSecret = async (
  tx: Transaction,
  { id, secret, overlapSeconds }: { readonly id: string; readonly secret: string; readonly overlapSeconds: number },
): Promise<Date | null> => {
  const [endpoint] = await tx.query<{ until: Date }>(
    `SELECT (now() + make_interval(secs => $2::float8))::timestamptz(3) AS until FROM tallyman.webhook_endpoints WHERE id = $1 FOR UPDATE`,
    id,
    overlapSeconds,
  )
  if (endpoint === undefined) return null
  const { until } = endpoint
  await tx.prisma.webhookSecret.updateMany({
    where: { endpointId: id, OR: [{ expiresAt: null }, { expiresAt: { gt: until } }] },
    data: { expiresAt: until },
  })
  await tx.prisma.webhookSecret.create({ data: { endpointId: id, secret } })
  return until
}

/** What a message to an endpoint is signed with now, the newest first. Read by whoever signs, and by nobody else. */
export const readWebhookSecrets = async (sql: SqlRunner, id: string): Promise<readonly string[]> => {
  const rows = await sql.query<{ secret: string }>(
    `SELECT secret FROM tallyman.webhook_secrets WHERE endpoint_id = $1 AND (expires_at IS NULL OR expires_at > now()) ORDER BY id DESC`,
    id,
  )
  return rows.map(({ secret }) => secret)
}

/** Removes secrets that sign no more. */
export const removeExpiredSecrets = async (sql: SqlRunner): Promise<void> => {
  await sql.execute('DELETE FROM tallyman.webhook_secrets WHERE expires_at <= now()')
}
