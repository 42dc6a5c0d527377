import type { JsonObject } from '../domain/json.ts'
import type { SqlRunner } from './database.ts'
import { isOrAny, type ListPage, pageOf } from './page.ts'
import { ofSellers, type SellerFilter } from './seller-filter.ts'

/** Who acts. */
export interface Acting {
  /** Name of the key; of `API_KEY`, and where no key is needed, who the client says it is. */
  readonly actor: string
  /** Id of the key, or `API_KEY`; null or absent: no key was needed. */
  readonly keyId?: string | null
  /** For whom the holder of a named key says it acts. */
  readonly onBehalfOf?: string | null
}

/** Who has changed what the settings say. */
export const settingsActor = 'settings'

/** What people do, in the past tense. What is only asked for (`…_requested`) is recorded before it begins. */
export const auditActions = [
  'alarm.closed',
  'alarm.silenced',
  'buyer.erased',
  'buyer.shown',
  'campaigns.watched',
  'campaign.unwatched',
  'command.decided',
  'event.rejected',
  'key.added',
  'key.revoked',
  'key.rotated',
  'log_reasons.changed',
  'queues.change_requested',
  'record.dismissed',
  'record.replay_requested',
  'record.shown',
  'retention.run_requested',
  'seller.paused',
  'seller.removed',
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

/** An act of a person. Neither secrets nor a buyer's data belong in it; its reason goes when the buyer is erased. */
export interface Act {
  readonly by: Acting
  readonly action: AuditAction
  /** Null: it concerns no seller, or all of them. */
  readonly sellerId: string | null
  /** Id of what was acted on. */
  readonly subject: string
  readonly reason: string | null
  readonly details?: JsonObject
}

/** An entry of the audit. */
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

/** Records an act, in the transaction that carries it out where there is one. Returns the id of the entry. */
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

/** Entries of the audit, newest first, before this id. */
export const listAudit = async (
  { prisma }: SqlRunner,
  filter: AuditFilter,
  before: bigint | null,
  limit: number,
): Promise<ListPage<AuditEntry, bigint>> => {
  const rows = await prisma.auditEntry.findMany({
    where: {
      sellerId: ofSellers(filter.sellerId),
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
  return pageOf(entries, limit, (entry) => entry.id)
}
