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
  missingIds: z.array(z.string()),
})

/** Maximum number of missing orders per day in the table. */
const maxIds = 3

/** `tallyman doctor --orders`: orders that each source has named, per day, and those that are not stored. @throws Failed when some are missing */
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
        { heading: 'examples' },
      ],
      items.map(({ day, sellerId, source, named, stored, missing: missingCount, missingIds }) => [
        ...[day, sellerId, source, String(named), String(stored), String(missingCount)],
        missingIds.slice(0, maxIds).join(', '),
      ]),
    )
    if (items.length === 0) print(terminal, 'no source has named an order within 45 days')
  }
  if (missing > 0) {
    throw new Failed(`${count(missing, 'order')} named, but not stored`, [
      'each is requested by its id, first after minutes, later once a week; one that the marketplace does not have stays missing',
    ])
  }
}
