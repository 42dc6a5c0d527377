import { z } from 'zod'
import type { CliContext } from '../context.ts'
import { readList } from '../output/lists.ts'
import { printJson, printMessage, printTable } from '../output/terminal.ts'

const driftSchema = z.looseObject({
  sellerId: z.string(),
  operation: z.string(),
  kind: z.string(),
  path: z.string(),
  example: z.string(),
  count: z.number(),
  firstSeenAt: z.string(),
  lastSeenAt: z.string(),
})

/** Which places to show; null: any. */
export interface DriftFilter {
  readonly sellerId: string | null
  readonly operation: string | null
  readonly kind: string | null
  readonly limit: number
}

/** `tallyman drift`: differences between the marketplace's answers and what is published. */
export const showDrift = async (
  { terminal, daemon }: CliContext,
  { sellerId, operation, kind, limit }: DriftFilter,
): Promise<void> => {
  const { items, more } = await readList(daemon, '/v1/drift', driftSchema, limit, { sellerId, operation, kind })
  if (terminal.json) return printJson(terminal, { items, more })
  if (items.length === 0)
    return printMessage(terminal, "the marketplace's answers are as published, as far as they were compared")
  printTable(
    terminal,
    [
      { heading: 'operation' },
      { heading: 'kind' },
      { heading: 'place' },
      { heading: 'found' },
      { heading: 'times', align: 'right' },
      { heading: 'first seen' },
      { heading: 'last seen' },
      { heading: 'seller' },
    ],
    items.map((one) => [
      one.operation,
      one.kind,
      one.path,
      one.example,
      String(one.count),
      one.firstSeenAt,
      one.lastSeenAt,
      one.sellerId,
    ]),
  )
  if (more) printMessage(terminal, 'there are more; --limit shows them')
}
