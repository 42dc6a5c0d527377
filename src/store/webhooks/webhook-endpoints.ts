import type { SqlRunner, Transaction } from '../db/database.ts'
import { parseEnumColumn } from '../db/enum-column.ts'
import { buildPage, isOrAny, type ListPage } from '../db/page.ts'

/** The channel of notifications about endpoints and deliveries that a person has changed. */
export const webhooksChannel = 'tallyman_webhooks'

/** `paused`: nothing is sent, and no change is lost; `disabled`: nothing is sent, and retention may remove undelivered changes. */
export const webhookStates = ['active', 'paused', 'disabled'] as const
/** One of {@link webhookStates}. */
export type WebhookState = (typeof webhookStates)[number]

/** A receiver of changes, without its secrets. */
export interface WebhookEndpoint {
  readonly id: string
  readonly url: string
  /** Types of changes that it gets, `order.*` for a group; empty: all. */
  readonly types: readonly string[]
  /** The seller whose changes it gets; null: all sellers. */
  readonly sellerId: string | null
  readonly state: WebhookState
  /** Why it is paused or disabled. */
  readonly reason: string | null
  readonly stateSince: Date
  /** All of its changes up to this number have a delivery. */
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

const fromRow = (row: EndpointRow): WebhookEndpoint => ({ ...row, state: parseEnumColumn(webhookStates, row.state) })

const shown = { omit: { notBefore: true } } as const

const notifySenders = async (sql: SqlRunner): Promise<void> => {
  await sql.execute(`SELECT pg_notify('${webhooksChannel}', '')`)
}

/** One endpoint; null: there is none. */
export const readWebhook = async ({ prisma }: SqlRunner, id: string): Promise<WebhookEndpoint | null> => {
  const row = await prisma.webhookEndpoint.findUnique({ where: { id }, ...shown })
  return row === null ? null : fromRow(row)
}

/** Which endpoints to list; null: any. */
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
  return buildPage(rows.map(fromRow), limit, ({ id }) => id)
}

/** An endpoint to create. */
export interface NewWebhook {
  readonly id: string
  readonly url: string
  readonly types: readonly string[]
  readonly sellerId: string | null
  /** `whsec_…`. */
  readonly secret: string
  /** The number of the change after which it begins; null: the newest. */
  readonly after: bigint | null
}

/** The range of positions at which a reader of the change feed may begin. */
export interface FeedBounds {
  readonly removedUpTo: bigint
  readonly last: bigint
}

/** Creates an active endpoint; rejected if its position is outside of the feed. */
export const createWebhook = async (
  tx: Transaction,
  { id, url, types, sellerId, secret, after }: NewWebhook,
): Promise<{ readonly ok: true; readonly endpoint: WebhookEndpoint } | { readonly ok: false; readonly bounds: FeedBounds }> => {
  const [bounds] = await tx.query<FeedBounds>(
    `SELECT p.removed_up_to AS "removedUpTo", c.last_seq AS last FROM tallyman.retention_passes p, tallyman.change_counter c WHERE p.data = 'changes'`,
  )
  if (bounds === undefined) throw new Error('tallyman.change_counter has no row')
  if (after !== null && (after < bounds.removedUpTo || after > bounds.last)) return { ok: false, bounds }
  const row = await tx.prisma.webhookEndpoint.create({
    data: { id, url, types: [...types], sellerId, position: after ?? bounds.last, secrets: { create: { secret } } },
    ...shown,
  })
  await notifySenders(tx)
  return { ok: true, endpoint: fromRow(row) }
}

/** A person's change of an endpoint; absent fields stay. */
export interface WebhookChange {
  readonly url?: string
  readonly types?: readonly string[]
  readonly sellerId?: string | null
  readonly state?: WebhookState
}

const stateReasons: Readonly<Record<WebhookState, string | null>> = {
  active: null,
  paused: 'paused by an operator',
  disabled: 'disabled by an operator',
}

/** Changes an endpoint; null: there is none. `active` restarts the schedule of every waiting message. A new filter applies to later changes. */
export const changeWebhook = async (
  tx: Transaction,
  id: string,
  { url, types, sellerId, state }: WebhookChange,
): Promise<WebhookEndpoint | null> => {
  // Locks deliveries before their endpoint, as the settlement of a delivery does.
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
    state === undefined ? null : stateReasons[state],
  )
  if (changed === 0) return null
  if (state !== undefined) await resolveWebhookAlarms(tx, id, ['webhook-failing', 'webhook-stopped'])
  if (state === 'disabled') await resolveWebhookAlarms(tx, id, ['webhook-behind'])
  await notifySenders(tx)
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

/** Resolves alarms of an endpoint for any seller, because its filter may have changed since. */
export const resolveWebhookAlarms = async (sql: SqlRunner, id: string, kinds: readonly WebhookAlarm[]): Promise<void> => {
  await sql.execute(
    `UPDATE tallyman.alarms SET resolved_at = now() WHERE kind = ANY ($1::text[]) AND subject = $2 AND resolved_at IS NULL`,
    [...kinds],
    id,
  )
}

/** Deletes an endpoint with its secrets and deliveries. Returns whether there was one. */
export const removeWebhook = async (tx: Transaction, id: string): Promise<boolean> => {
  // Locks deliveries before their endpoint, as the settlement of a delivery does.
  await tx.prisma.webhookDelivery.deleteMany({ where: { endpointId: id } })
  const { count } = await tx.prisma.webhookEndpoint.deleteMany({ where: { id } })
  await resolveWebhookAlarms(tx, id, alarmKinds)
  return count > 0
}

/** Adds a secret; the previous ones also sign for `overlapSeconds`. Returns until when; null: there is no such endpoint. */
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

/** The current secrets of an endpoint, newest first. Only the code that signs messages may read them. */
export const readWebhookSecrets = async (sql: SqlRunner, id: string): Promise<readonly string[]> => {
  const rows = await sql.query<{ secret: string }>(
    `SELECT secret FROM tallyman.webhook_secrets WHERE endpoint_id = $1 AND (expires_at IS NULL OR expires_at > now()) ORDER BY id DESC`,
    id,
  )
  return rows.map(({ secret }) => secret)
}

/** Deletes expired secrets. */
export const removeExpiredSecrets = async (sql: SqlRunner): Promise<void> => {
  await sql.execute('DELETE FROM tallyman.webhook_secrets WHERE expires_at <= now()')
}
