import { z } from 'zod'
import type { CliContext } from '../context.ts'
import { readList } from '../output/lists.ts'
import { printJson, printMessage, printTable } from '../output/terminal.ts'

const entrySchema = z.looseObject({
  id: z.string(),
  at: z.string(),
  actor: z.string(),
  onBehalfOf: z.string().nullish(),
  keyId: z.string().nullish(),
  action: z.string(),
  sellerId: z.string().nullish(),
  subject: z.string(),
  reason: z.string().nullish(),
})

/** Filters of `tallyman audit`; null: any. */
export interface AuditFilter {
  readonly actor: string | null
  readonly action: string | null
  readonly subject: string | null
  readonly sellerId: string | null
  readonly from: Date | null
  readonly to: Date | null
  readonly limit: number
}

/** `tallyman audit`: actions of people, the latest first. */
export const listAudit = async ({ terminal, daemon }: CliContext, { from, to, limit, ...filter }: AuditFilter): Promise<void> => {
  const query = { ...filter, from: from?.toISOString() ?? null, to: to?.toISOString() ?? null }
  const { items, more } = await readList(daemon, '/v1/audit', entrySchema, limit, query)
  if (terminal.json) return printJson(terminal, { items, more })
  printTable(
    terminal,
    [
      { heading: 'at' },
      { heading: 'actor' },
      { heading: 'key' },
      { heading: 'action' },
      { heading: 'subject' },
      { heading: 'seller' },
      { heading: 'reason' },
    ],
    items.map((entry) => [
      entry.at,
      typeof entry.onBehalfOf === 'string' ? `${entry.actor} for ${entry.onBehalfOf}` : entry.actor,
      entry.keyId ?? '',
      entry.action,
      entry.subject,
      entry.sellerId ?? '',
      entry.reason ?? '',
    ]),
  )
  if (more) printMessage(terminal, 'there are more; --limit shows them')
}
