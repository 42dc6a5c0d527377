import { z } from 'zod'
import type { CliContext } from '../context.ts'
import { readList } from '../output/lists.ts'
import { print, printJson, printMessage, printTable } from '../output/terminal.ts'

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

const buildPath = (id: string): string => `/v1/keys/${encodeURIComponent(id)}`

/** `tallyman keys list`. */
export const listKeys = async (
  { terminal, daemon }: CliContext,
  { all, limit }: { all: boolean; limit: number },
): Promise<void> => {
  const { items, more } = await readList(daemon, '/v1/keys', keySchema, limit, { state: all ? 'all' : 'active' })
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
  if (more) printMessage(terminal, 'there are more; --limit shows them')
}

const printKey = ({ terminal }: CliContext, key: z.infer<typeof newKeySchema>): void => {
  if (terminal.json) {
    printJson(terminal, key)
    return
  }
  // Only the key is written as data, so that it can be piped.
  print(terminal, key.key)
  printMessage(
    terminal,
    `key ${key.id} (${key.name}): it is not shown again; send it as "Authorization: Bearer <key>", or set API_KEY to it`,
  )
}

/** `tallyman keys add`: prints the key, once. */
export const addKey = async (
  context: CliContext,
  { sellerIds, ...key }: { name: string; scopes: readonly string[]; sellerIds: readonly string[]; reason: string; actor: string },
): Promise<void> => {
  const body = { ...key, sellerIds: sellerIds.length === 0 ? null : sellerIds }
  printKey(context, await context.daemon.post('/v1/keys', newKeySchema, { body }))
}

/** `tallyman keys rotate`: prints the new secret, once. */
export const rotateKey = async (
  context: CliContext,
  { id, ...body }: { id: string; overlapSeconds: number; reason: string; actor: string },
): Promise<void> => {
  const key = await context.daemon.post(`${buildPath(id)}/rotate`, newKeySchema, { body })
  printKey(context, key)
  if (context.terminal.json) return
  const until = typeof key.previousUntil === 'string' ? `is accepted until ${key.previousUntil}` : 'has ended'
  printMessage(context.terminal, `the previous secret ${until}`)
}

/** `tallyman keys revoke`. */
export const revokeKey = async (
  { terminal, daemon }: CliContext,
  { id, reason, actor }: { id: string; reason: string; actor: string },
): Promise<void> => {
  const key = await daemon.delete(buildPath(id), keySchema, { query: { reason, actor } })
  if (terminal.json) return printJson(terminal, key)
  print(terminal, `key ${key.id} (${key.name}) is revoked; other processes refuse it within two seconds`)
}
