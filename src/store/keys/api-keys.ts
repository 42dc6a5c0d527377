import { type Scope, scopes } from '../../domain/values/keys.ts'
import type { Database, SqlRunner } from '../db/database.ts'
import { parseEnumColumn } from '../db/enum-column.ts'
import { buildPage, type ListPage } from '../db/page.ts'
import { type Actor, recordAct } from './audit.ts'

/** Maximum number of active keys: every process holds all of them in memory. */
export const maxActiveKeys = 1_000

/** A key without its secret. */
export interface ApiKey {
  readonly id: string
  /** The name of its holder. */
  readonly name: string
  readonly scopes: readonly Scope[]
  /** Sellers that it may access; null: all. */
  readonly sellerIds: readonly string[] | null
  readonly createdAt: Date
  readonly createdBy: string
  readonly rotatedAt: Date | null
  /** Until when the previous secret is accepted; null: it is not accepted. */
  readonly previousUntil: Date | null
  /** Written at most once a minute. */
  readonly lastUsedAt: Date | null
  readonly revokedAt: Date | null
}

/** An active key with the SHA-256 hashes of its accepted secrets, in hex. */
export interface ActiveKey extends Pick<ApiKey, 'id' | 'name' | 'scopes' | 'sellerIds'> {
  readonly hashes: readonly string[]
}

const shownColumns = {
  id: true,
  name: true,
  scopes: true,
  allSellers: true,
  sellerIds: true,
  createdAt: true,
  createdBy: true,
  rotatedAt: true,
  previousUntil: true,
  lastUsedAt: true,
  revokedAt: true,
} as const

interface ShownRow extends Omit<ApiKey, 'scopes' | 'sellerIds'> {
  readonly scopes: readonly string[]
  readonly allSellers: boolean
  readonly sellerIds: readonly string[]
}

const shown = ({ allSellers, sellerIds, ...row }: ShownRow): ApiKey => ({
  ...row,
  scopes: row.scopes.map((scope) => parseEnumColumn(scopes, scope)),
  sellerIds: allSellers ? null : sellerIds,
})

/** A key to be stored; `hash` is the SHA-256 of its secret, in hex. */
export interface NewKey {
  readonly id: string
  readonly name: string
  readonly scopes: readonly Scope[]
  /** Not empty; null: all. */
  readonly sellerIds: readonly string[] | null
  readonly hash: string
  readonly reason: string | null
}

// Serializes additions, because the number of keys is limited and the names of active keys are unique.
const lockKeys = (sql: SqlRunner): Promise<number> => sql.execute('LOCK TABLE tallyman.api_keys IN SHARE ROW EXCLUSIVE MODE')

/** Stores a key and records its addition in the audit. */
export const addKey = (
  database: Database,
  { id, name, scopes: granted, sellerIds, hash, reason }: NewKey,
  by: Actor,
): Promise<{ readonly ok: true; readonly key: ApiKey } | { readonly ok: false; readonly fault: 'name-taken' | 'too-many' }> =>
  database.transaction(async (tx) => {
    await lockKeys(tx)
    const active = { revokedAt: null }
    if ((await tx.prisma.apiKey.count({ where: { ...active, name } })) > 0) return { ok: false, fault: 'name-taken' }
    if ((await tx.prisma.apiKey.count({ where: active })) >= maxActiveKeys) return { ok: false, fault: 'too-many' }
    const row = await tx.prisma.apiKey.create({
      data: {
        id,
        name,
        scopes: [...granted],
        allSellers: sellerIds === null,
        sellerIds: [...(sellerIds ?? [])],
        secretHash: hash,
        createdBy: by.actor,
      },
      select: shownColumns,
    })
    const details = { name, scopes: [...granted], sellerIds: sellerIds === null ? null : [...sellerIds] }
    await recordAct(tx, { by, action: 'key.added', sellerId: null, subject: id, reason, details })
    return { ok: true, key: shown(row) }
  })

/** Replaces the secret of a key; the previous one stays valid for `overlapMs`. Null: there is no such active key. */
export const rotateKey = (
  database: Database,
  {
    id,
    hash,
    overlapMs,
    reason,
  }: { readonly id: string; readonly hash: string; readonly overlapMs: number; readonly reason: string | null },
  by: Actor,
): Promise<ApiKey | null> =>
  database.transaction(async (tx) => {
    const rotated = await tx.execute(
      `UPDATE tallyman.api_keys SET secret_hash = $2, rotated_at = now(),
         previous_hash = CASE WHEN $3::bigint > 0 THEN secret_hash END,
         previous_until = CASE WHEN $3::bigint > 0 THEN now() + $3::bigint * interval '1 millisecond' END
       WHERE id = $1 AND revoked_at IS NULL`,
      id,
      hash,
      overlapMs,
    )
    if (rotated === 0) return null
    const row = await tx.prisma.apiKey.findUniqueOrThrow({ where: { id }, select: shownColumns })
    await recordAct(tx, {
      by,
      action: 'key.rotated',
      sellerId: null,
      subject: id,
      reason,
      details: { name: row.name, overlapMs },
    })
    return shown(row)
  })

/** Revokes a key permanently; its row stays. Null: there is no such active key. */
export const revokeKey = (
  database: Database,
  { id, reason }: { readonly id: string; readonly reason: string | null },
  by: Actor,
): Promise<ApiKey | null> =>
  database.transaction(async (tx) => {
    const revoked = await tx.execute(
      `UPDATE tallyman.api_keys SET revoked_at = now(), previous_hash = NULL, previous_until = NULL
       WHERE id = $1 AND revoked_at IS NULL`,
      id,
    )
    if (revoked === 0) return null
    const row = await tx.prisma.apiKey.findUniqueOrThrow({ where: { id }, select: shownColumns })
    await recordAct(tx, { by, action: 'key.revoked', sellerId: null, subject: id, reason, details: { name: row.name } })
    return shown(row)
  })

/** One key, active or revoked; null: there is none. */
export const readKey = async ({ prisma }: SqlRunner, id: string): Promise<ApiKey | null> => {
  const row = await prisma.apiKey.findUnique({ where: { id }, select: shownColumns })
  return row === null ? null : shown(row)
}

/** Which keys to list; null: any. */
export interface KeyFilter {
  readonly revokedToo: boolean
  readonly name: string | null
  /** The key may act for this seller. */
  readonly sellerId: string | null
}

/** Keys by id, after this one. */
export const listKeys = async (
  { prisma }: SqlRunner,
  { revokedToo, name, sellerId }: KeyFilter,
  after: string | null,
  limit: number,
): Promise<ListPage<ApiKey, string>> => {
  const where = {
    ...(revokedToo ? {} : { revokedAt: null }),
    ...(name === null ? {} : { name }),
    ...(sellerId === null ? {} : { OR: [{ allSellers: true }, { sellerIds: { has: sellerId } }] }),
    ...(after === null ? {} : { id: { gt: after } }),
  }
  const rows = await prisma.apiKey.findMany({ where, orderBy: { id: 'asc' }, take: limit + 1, select: shownColumns })
  return buildPage(rows.map(shown), limit, ({ id }) => id)
}

/** All active keys with their accepted hashes. */
export const readActiveKeys = async (sql: SqlRunner): Promise<readonly ActiveKey[]> => {
  const rows = await sql.query<{
    id: string
    name: string
    scopes: readonly string[]
    seller_ids: readonly string[] | null
    hashes: readonly string[]
  }>(
    `SELECT id, name, scopes, CASE WHEN NOT all_sellers THEN seller_ids END AS seller_ids,
       array_remove(ARRAY[secret_hash, CASE WHEN previous_until > now() THEN previous_hash END], NULL) AS hashes
     FROM tallyman.api_keys WHERE revoked_at IS NULL`,
  )
  return rows.map(({ id, name, scopes: granted, seller_ids: sellerIds, hashes }) => ({
    id,
    name,
    scopes: granted.map((scope) => parseEnumColumn(scopes, scope)),
    sellerIds,
    hashes,
  }))
}

/** Records that a key was used, at most once a minute. */
export const noteKeyUsed = async (sql: SqlRunner, id: string): Promise<void> => {
  await sql.execute(
    `UPDATE tallyman.api_keys SET last_used_at = now()
     WHERE id = $1 AND (last_used_at IS NULL OR last_used_at < now() - interval '1 minute')`,
    id,
  )
}
