import { z } from 'zod'
import type { CliContext } from './context.ts'
import { take } from './lists.ts'
import { print, printJson, printTable, say } from './terminal.ts'

const keySchema = z.looseObject({
  id: z.string(),
  name: z.string(),
  scopes: z.array(z.string()),
  sellerIds: z.array(z.string()).nullable(),
  createdBy: z.string(),
  previousUntil: z.string().nullish(),
  lastUsedAt: z.string().nullish(),
  revokedAt: z.string().nullish(),
})
const newKeySchema = keySchema.extend({ key: z.string() })

const pathOf = (id: string): string => `/v1/keys/${encodeURIComponent(id)}`

/** `tallyman keys list`. */
export const listKeys = async (
  { terminal, daemon }: CliContext,
  { all, limit }: { all: boolean; limit: number },
): Promise<void> => {
  const { items, more } = await take(daemon, '/v1/keys', keySchema, limit, { state: all ? 'all' : 'active' })
  if (terminal.json) return printJson(terminal, { items, more })
  printTable(
    terminal,
    [
      { heading: 'id' },
      { heading: 'name' },
      { heading: 'scopes' },
      { heading: 'sellers' },
      { heading: 'last used' },
      { heading: 'added by' },
      { heading: 'revoked' },
    ],
    items.map((key) => [
      key.id,
      key.name,
      key.scopes.join(' '),
      key.sellerIds?.join(' ') ?? 'all',
      key.lastUsedAt ?? 'never',
      key.createdBy,
      key.revokedAt ?? '',
    ]),
  )
  if (more) say(terminal, 'there are more; --limit shows them')
}

const showOnce = ({ terminal }: CliContext, key: z.infer<typeof newKeySchema>): void => {
  if (terminal.json) {
    printJson(terminal, key)
    return
  }
  // The key alone is data, so that it can be piped to where it is kept.
  print(terminal, key.key)
  say(
    terminal,
    `key ${key.id} (${key.name}): it is shown this once; send it as "Authorization: Bearer <key>", or set API_KEY to it`,
  )
}

/** `tallyman keys add`: prints the key, once. */
export const addKey = async (
  context: CliContext,
  { sellerIds, ...key }: { name: string; scopes: readonly string[]; sellerIds: readonly string[]; reason: string; actor: string },
): Promise<void> => {
  const body = { ...key, sellerIds: sellerIds.length === 0 ? null : sellerIds }
  showOnce(context, await context.daemon.post('/v1/keys', newKeySchema, { body }))
}

/** `tallyman keys rotate`: prints the new secret, once. */
export const rotateKey = async (
  context: CliContext,
  { id, ...body }: { id: string; overlapSeconds: number; reason: string; actor: string },
): Promise<void> => {
  const key = await context.daemon.post(`${pathOf(id)}/rotate`, newKeySchema, { body })
  showOnce(context, key)
  if (context.terminal.json) return
  const until = typeof key.previousUntil === 'string' ? `is accepted until ${key.previousUntil}` : 'has ended'
  say(context.terminal, `the secret before ${until}`)
}

/** `tallyman keys revoke`. */
export const revokeKey = async (
  { terminal, daemon }: CliContext,
  { id, reason, actor }: { id: string; reason: string; actor: string },
): Promise<void> => {
  const key = await daemon.delete(pathOf(id), keySchema, { query: { reason, actor } })
  if (terminal.json) return printJson(terminal, key)
  print(terminal, `key ${key.id} (${key.name}) is revoked; other processes refuse it within two seconds`)
}
