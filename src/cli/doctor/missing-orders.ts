import { z } from 'zod'
import { Failed } from '../../api-client/errors.ts'
import type { CliContext } from '../context.ts'
import { count, print, printJson, printTable } from '../output/terminal.ts'

const daySchema = z.looseObject({
  sellerId: z.string(),
  source: z.string(),
  day: z.string(),
  named: z.number(),
  stored: z.number(),
  missing: z.number(),
  explained: z.number(),
  missingIds: z.array(z.string()),
  explanations: z.array(z.looseObject({ purchaseOrderId: z.string(), reason: z.string() })),
})

/** Maximum number of missing orders per day in the table. */
const maxIds = 3

interface Explanation {
  readonly sellerId: string
  readonly purchaseOrderId: string
  readonly reason: string
}

// Several sources, and several days of one, may name the same order.
const distinct = (explanations: readonly Explanation[]): readonly Explanation[] => [
  ...new Map(explanations.map((one) => [JSON.stringify([one.sellerId, one.purchaseOrderId]), one])).values(),
]

/**
 * `tallyman doctor --orders`: orders that each source has named, per day, and those that are not stored.
 *
 * @throws Failed when some are missing
 */
export const doctorOrders = async ({ terminal, daemon }: CliContext): Promise<void> => {
  const { items } = await daemon.get('/v1/completeness', z.looseObject({ items: z.array(daySchema) }), { timeoutMs: 60_000 })
  const missing = items.reduce((total, day) => total + day.missing, 0)
  if (terminal.json) printJson(terminal, { ok: missing === 0, items })
  else {
    printTable(
      terminal,
      [
        { heading: 'day' },
        { heading: 'seller' },
        { heading: 'named by' },
        { heading: 'named', align: 'right' },
        { heading: 'stored', align: 'right' },
        { heading: 'missing', align: 'right' },
        { heading: 'explained', align: 'right' },
        { heading: 'missing orders' },
      ],
      items.map(({ day, sellerId, source, named, stored, missing: missingCount, explained, missingIds }) => [
        ...[day, sellerId, source, String(named), String(stored), String(missingCount), String(explained)],
        missingIds.slice(0, maxIds).join(', '),
      ]),
    )
    const explanations = items.flatMap(({ sellerId, explanations: some }) => some.map((one) => ({ sellerId, ...one })))
    if (explanations.length > 0) {
      printTable(
        terminal,
        [{ heading: 'explained order' }, { heading: 'seller' }, { heading: 'why it is not stored' }],
        distinct(explanations).map(({ purchaseOrderId, sellerId, reason }) => [purchaseOrderId, sellerId, reason]),
      )
    }
    if (items.length === 0) print(terminal, 'no source has named an order within 45 days')
  }
  if (missing > 0) {
    throw new Failed(`${count(missing, 'order')} named, but not stored`, [
      'each is requested by its id within a minute, then at growing intervals; `tallyman quarantine list` shows those that cannot be read',
    ])
  }
}
