import { z } from 'zod'
import type { CliContext } from './context.ts'
import { Failed } from './faults.ts'
import { count, print, printJson, printTable } from './terminal.ts'

const daySchema = z.looseObject({
  sellerId: z.string(),
  source: z.string(),
  day: z.string(),
  named: z.number(),
  stored: z.number(),
  missing: z.number(),
  missingIds: z.array(z.string()),
})

/** So many missing orders of a day are named in the table. */
const listedIds = 3

/** `tallyman doctor --orders`: what each source has named day by day, and which orders are not stored. @throws Failed when some are missing */
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
        { heading: 'such as' },
      ],
      items.map(({ day, sellerId, source, named, stored, missing: gone, missingIds }) => [
        ...[day, sellerId, source, String(named), String(stored), String(gone)],
        missingIds.slice(0, listedIds).join(', '),
      ]),
    )
    if (items.length === 0) print(terminal, 'nothing has named an order within 45 days')
  }
  if (missing > 0) {
    throw new Failed(`${count(missing, 'order')} named, but not stored`, [
      'each is asked for by its id, at first after minutes, later once a week; one that the marketplace denies stays missing',
    ])
  }
}
