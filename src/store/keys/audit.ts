import type { JsonObject } from '../../domain/values/json.ts'
import type { SqlRunner } from '../db/database.ts'
import { buildPage, isOrAny, type ListPage } from '../db/page.ts'
import { type SellerFilter, sellerCondition } from '../sellers/seller-filter.ts'

/** Who performs an action. */
export interface Actor {
  /** The name of the key; for `API_KEY`, and without a key, the name that the client states. */
  readonly actor: string
  /** Id of the key, or `API_KEY`; null or absent: no key was needed. */
  readonly keyId?: string | null
  /** The person for whom the holder of a named key acts, as stated by the client. */
  readonly onBehalfOf?: string | null
}

/** The actor of changes that come from the settings. */
export const settingsActor = 'settings'

/** Actions of people, in the past tense. A request (`…_requested`) is recorded before its work begins. */
export const auditActions = [
  'alarm.closed',
  'alarm.silenced',
  'alarm_channel.added',
  'alarm_channel.changed',
  'alarm_channel.removed',
  'alarm_channel.test_requested',
  'buyer.erased',
  'buyer.shown',
  'campaigns.watched',
  'campaign.unwatched',
  'claim.decided',
  'command.decided',
  'event.rejected',
  'key.added',
  'key.revoked',
  'key.rotated',
  'log_reasons.changed',
  'proposal.added',
  'proposal.approval_requested',
  'proposal.rejected',
  'queues.change_requested',
  'record.dismissed',
  'record.replay_requested',
  'record.shown',
  'retention.run_requested',
  'seller.paused',
  'seller.removed',
  'seller.went_live',
  'seller.went_shadow',
  'seller.resumed',
  'sellers.reload_requested',
  'session.closed',
  'session.opened',
  'sync.run_requested',
  'webhook.added',
  'webhook.changed',
  'webhook.redelivered',
  'webhook.removed',
  'webhook.rotated',
  'webhook.test_requested',
] as const

/** One of {@link auditActions}. */
export type AuditAction = (typeof auditActions)[number]

/** An action of a person. It contains no secrets and no buyer's data; the erasure of the buyer deletes its reason. */
export interface Act {
  readonly by: Actor
  readonly action: AuditAction
  /** Null: it concerns no seller, or all of them. */
  readonly sellerId: string | null
  /** Id of the affected object. */
  readonly subject: string
  readonly reason: string | null
  readonly details?: JsonObject
}

/** An entry of the audit log. */
export interface AuditEntry {
  readonly id: bigint
  readonly at: Date
  readonly actor: string
  readonly onBehalfOf: string | null
  readonly keyId: string | null
  readonly action: string
  readonly sellerId: string | null
  readonly subject: string
  readonly reason: string | null
  readonly details: unknown
}

/** Records an action, in its own transaction if it has one. Returns the id of the entry. */
export const recordAct = async ({ prisma }: SqlRunner, { by, details, ...act }: Act): Promise<bigint> => {
  const { actor, keyId = null, onBehalfOf = null } = by
  const data = { ...act, actor, keyId, onBehalfOf, details: details ?? {} }
  return (await prisma.auditEntry.create({ data, select: { id: true } })).id
}

/** Which entries to list; null: any. */
export interface AuditFilter {
  readonly sellerId: SellerFilter
  readonly actor: string | null
  readonly onBehalfOf: string | null
  readonly action: string | null
  readonly subject: string | null
  readonly keyId: string | null
  /** Not before. */
  readonly from: Date | null
  /** Before. */
  readonly to: Date | null
}

/** Entries of the audit log, newest first, before this id. */
export const listAudit = async (
  { prisma }: SqlRunner,
  filter: AuditFilter,
  before: bigint | null,
  limit: number,
): Promise<ListPage<AuditEntry, bigint>> => {
  const rows = await prisma.auditEntry.findMany({
    where: {
      sellerId: sellerCondition(filter.sellerId),
      actor: isOrAny(filter.actor),
      onBehalfOf: isOrAny(filter.onBehalfOf),
      action: isOrAny(filter.action),
      subject: isOrAny(filter.subject),
      keyId: isOrAny(filter.keyId),
      occurredAt: { ...(filter.from === null ? {} : { gte: filter.from }), ...(filter.to === null ? {} : { lt: filter.to }) },
      id: before === null ? {} : { lt: before },
    },
    orderBy: { id: 'desc' },
    take: limit + 1,
  })
  const entries = rows.map(({ occurredAt, ...row }): AuditEntry => ({ ...row, at: occurredAt }))
  return buildPage(entries, limit, (entry) => entry.id)
}
