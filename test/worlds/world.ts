import { createRandom, type Random } from '../../sandbox/core/random.ts'
import { type MovementKind, normalizeWords } from '../../src/domain/inventory/log-reasons.ts'
import type { DiscrepancyKind } from '../../src/domain/inventory/reconciliation.ts'
import { addMonths } from '../../src/domain/values/calendar.ts'
import { monthBounds } from '../support/vocabulary.ts'

/**
 * Random worlds: a stock of many SKUs over three months, what truly moved, and what the marketplace makes of it in its reports and in its log,
 * with every way in which one of the two goes wrong. Each world also says what a reader who knows only reports and log can find out, and what
 * has to be settled in the end. It knows nothing of how that is found.
 */

/** An entry of the marketplace's log. */
export interface LogLine {
  readonly id: string
  readonly at: Date
  readonly units: number
  readonly type: string
  readonly code: string | null
  readonly description: string | null
  readonly location: 'Inventory' | 'Salvage'
}

/** A row of the report; all but beginning and ending as the file states them. */
export type Row = Readonly<Record<'beginning' | 'ending' | MovementKind, number>>

/** One difference that can be found. */
export interface Expected {
  readonly month: string
  readonly kind: DiscrepancyKind
  readonly report: number
  readonly expected: number
}

/** One SKU: what the marketplace shows of it, first and in the end. */
export interface Item {
  readonly sku: string
  /** What was done to it. */
  readonly deed: string
  readonly priceCents: number
  /** Rows by month, of the reports as they are made first and made again; a month without one is left out. */
  readonly rows: readonly [ReadonlyMap<string, Row>, ReadonlyMap<string, Row>]
  readonly log: readonly [readonly LogLine[], readonly LogLine[]]
  /** What stands in the end. */
  readonly differences: readonly Expected[]
  /** Differences of the first reports and logs that have to be settled in the end. */
  readonly settled: readonly Pick<Expected, 'month' | 'kind'>[]
  /** Units that are gone without a word, by month. */
  readonly unexplained: ReadonlyMap<string, number>
}

/** Three months, one after the other. */
type Months = readonly [string, string, string]

/** A world. */
export interface World {
  readonly seed: number
  readonly months: Months
  /** What left stands with a minus in its reports. */
  readonly signed: boolean
  /** What the seller says of reasons that nobody knows. */
  readonly reasons: ReadonlyMap<string, MovementKind>
  readonly items: readonly Item[]
}

/** A movement as it truly was. */
interface Movement {
  readonly kind: MovementKind
  /** As the report counts them. */
  readonly units: number
  readonly line: LogLine
}

const kinds = ['sold', 'returned', 'lost', 'found', 'damaged', 'other'] as const
const directions: Readonly<Record<MovementKind, number>> = { sold: -1, returned: 1, lost: -1, found: 1, damaged: -1, other: 1 }

type Wording = readonly [type: string, code: string | null, description: string | null]

const wordings: Readonly<Record<MovementKind, readonly [Wording, ...Wording[]]>> = {
  sold: [
    ['Ship', 'SIP', 'Shipped to Customer'],
    ['SHIP', null, null],
  ],
  returned: [['Return', 'RTN', 'Customer Return']],
  lost: [
    ['Adjustment', 'LOS', 'Lost in Warehouse'],
    ['Adjustment', null, 'Lost: item not found'],
    ['Adjustment', null, 'Misplaced'],
    ['Adjustment', 'X4', 'Unable to locate'],
    ['Adjustment', 'ADJ', 'Shrinkage'],
    ['Adjustment', 'LOST_IN_TRANSIT', null],
    ['Adjustment', 'Q7', 'Gone West'],
  ],
  found: [
    ['Adjustment', 'FND', 'Found in Warehouse'],
    ['Adjustment', null, 'Misplaced units found'],
    ['Adjustment', 'InventoryRecovered', null],
  ],
  damaged: [
    ['Adjustment', 'DMG', 'Damaged in Warehouse'],
    ['Adjustment', null, 'Broken'],
    ['Adjustment', null, 'Defective'],
    ['Adjustment', null, 'Crushed in FC'],
    ['Adjustment', 'Z9', 'Found damaged'],
  ],
  other: [
    ['Receipt', 'RCV', 'Received from Shipment'],
    ['Adjustment', 'ADJ', 'Inventory Correction'],
    ['Transfer', null, 'Lost and found'],
  ],
}

const outgoing: ReadonlySet<MovementKind> = new Set(['sold', 'lost', 'damaged'])

/** The cells of a row as a file of the world writes them. */
export const listCells = (row: Row, signed: boolean): readonly number[] => [
  row.beginning,
  row.ending,
  ...kinds.map((kind) => (signed && outgoing.has(kind) ? 0 - row[kind] : row[kind])),
]

/** What is done to SKUs, and how often. */
const deeds = [
  'nothing',
  'nothing',
  'nothing',
  'cell',
  'entry missing',
  'entry twice',
  'entry too many',
  'silent loss',
  'begins with less',
  'right again',
  'row left out',
  'only in the log',
  'loses its row',
  'row dropped',
  'still row dropped',
  'cut off late',
  'entry late',
  'copy taken back',
  'report corrected',
  'sale taken back',
  'moves without a row',
  'loss called otherwise',
  'loss called otherwise, another without a word',
  'loss called otherwise after one without a word',
  'loss without its entry and a wrong cell',
  'entry twice beside an entry too many',
  'silent loss found later',
  'begins with less and is right again',
  'cut off early',
] as const
type Deed = (typeof deeds)[number]

const startMonths = ['2025-09', '2025-10', '2025-12', '2026-01', '2026-02', '2026-03'] as const

/** When the Pacific clocks are set back and forward in these months. */
const clockChanges = [Date.parse('2025-11-02T09:00:00Z'), Date.parse('2026-03-08T10:00:00Z')]

const skusOfWorld = 150

const sumAll = (movements: readonly Movement[], kind: MovementKind): number =>
  movements.filter((movement) => movement.kind === kind).reduce((sum, { units }) => sum + units, 0)

const countStock = (movements: readonly Movement[]): number =>
  movements.reduce((sum, { kind, units }) => sum + directions[kind] * units, 0)

const buildRow = (beginning: number, movements: readonly Movement[]): Row => ({
  beginning,
  ending: beginning + countStock(movements),
  sold: sumAll(movements, 'sold'),
  returned: sumAll(movements, 'returned'),
  lost: sumAll(movements, 'lost'),
  found: sumAll(movements, 'found'),
  damaged: sumAll(movements, 'damaged'),
  other: sumAll(movements, 'other'),
})

const knownBounds = new Map<string, ReturnType<typeof monthBounds>>()

const findBounds = (month: string): ReturnType<typeof monthBounds> => {
  const bounds = knownBounds.get(month) ?? monthBounds(month)
  knownBounds.set(month, bounds)
  return bounds
}

/** A SKU while it is made up. */
class Draft {
  readonly #random: Random
  readonly months: Months
  readonly opening: number
  readonly byMonth: Map<string, Movement[]>
  #count = 0
  readonly taken = new Set<number>()

  constructor(random: Random, months: Months, still: boolean) {
    this.#random = random
    this.months = months
    this.opening = random.whole(0, 400)
    this.byMonth = new Map(months.map((month) => [month, []]))
    if (still) return
    for (const month of months) {
      for (let left = random.whole(1, 5); left > 0; left -= 1) {
        const kind = random.pick(kinds)
        this.add(month, kind, kind === 'other' ? random.pick([-3, 5, 40] as const) : random.whole(1, 9))
      }
    }
  }

  /** A moment of a month that no other movement of the SKU has, often right at its edges or where the clocks are set. */
  #moment(month: string): Date {
    const { from, to } = findBounds(month)
    const [clockSet] = clockChanges.filter((at) => at >= from.getTime() && at < to.getTime())
    const edges = [
      ...[from.getTime(), to.getTime() - 1_000, from.getTime() + 3_600_000, to.getTime() - 3_600_000],
      ...(clockSet === undefined ? [] : [clockSet - 1_000, clockSet, clockSet + 3_600_000]),
    ]
    for (;;) {
      const spread = from.getTime() + this.#random.whole(0, (to.getTime() - from.getTime()) / 1_000 - 1) * 1_000
      const at = this.#random.whole(0, 4) === 0 ? (edges[this.#random.whole(0, edges.length - 1)] ?? spread) : spread
      if (this.taken.has(at)) continue
      this.taken.add(at)
      return new Date(at)
    }
  }

  movement(month: string, kind: MovementKind, units: number): Movement {
    const [type, code, description] = this.#random.pick(wordings[kind])
    this.#count += 1
    return {
      kind,
      units,
      line: {
        id: `e${this.#count}`,
        at: this.#moment(month),
        units: directions[kind] * units,
        type,
        code,
        description,
        location: 'Inventory',
      },
    }
  }

  add(month: string, kind: MovementKind, units: number): Movement {
    const movement = this.movement(month, kind, units)
    this.byMonth.get(month)?.push(movement)
    return movement
  }

  of(month: string): readonly Movement[] {
    return this.byMonth.get(month) ?? []
  }

  /** Rows of reports that make no mistake. */
  rows(): Map<string, Row> {
    const rows = new Map<string, Row>()
    let stock = this.opening
    for (const month of this.months) {
      const row = buildRow(stock, this.of(month))
      rows.set(month, row)
      stock = row.ending
    }
    return rows
  }

  log(): LogLine[] {
    return this.months.flatMap((month) => this.of(month).map(({ line }) => line))
  }
}

const shifted = (row: Row, beginning: number, ending: number): Row => ({
  ...row,
  beginning: row.beginning + beginning,
  ending: row.ending + ending,
})

/** Rows of which all after a month have more or less stock. */
const after = (rows: ReadonlyMap<string, Row>, month: string, units: number): Map<string, Row> =>
  new Map([...rows].map(([of, row]) => [of, of > month ? shifted(row, units, units) : row]))

const withRow = (rows: ReadonlyMap<string, Row>, month: string, change: (row: Row) => Row): Map<string, Row> =>
  new Map([...rows].map(([of, row]) => [of, of === month ? change(row) : row]))

const without = (rows: ReadonlyMap<string, Row>, gone: (month: string) => boolean): Map<string, Row> =>
  new Map([...rows].filter(([month]) => !gone(month)))

const missingRow = (draft: Draft, ...months: readonly string[]): Expected[] =>
  months.flatMap((month) =>
    kinds.flatMap((kind) => {
      const expected = sumAll(draft.of(month), kind)
      return expected === 0 ? [] : [{ month, kind, report: 0, expected }]
    }),
  )

/** Whether units that the report counts more than the log, or less, lack in the stock without a word. */
const lacking = (kind: MovementKind, difference: number): number => {
  const effect = directions[kind] * difference
  return effect < 0 && !((kind === 'lost' || kind === 'damaged') && difference > 0) ? -effect : 0
}

const findItem = (random: Random, sku: string, months: Months, deed: Deed): Item => {
  const draft = new Draft(random, months, deed === 'sale taken back' || deed === 'still row dropped')
  const [first, second, third] = months
  const units = random.whole(2, 9)
  const month = random.pick(months)
  const early = random.pick([first, second] as const)
  const item = {
    sku,
    deed,
    priceCents: random.whole(100, 9_999),
    settled: [],
    unexplained: new Map<string, number>(),
  }
  const plain = draft.rows()
  const build = (more: Partial<Item> = {}): Item => {
    const rows = draft.rows()
    const log = draft.log()
    return { ...item, rows: [rows, rows], log: [log, log], differences: [], ...more }
  }
  const both = <Value>(value: Value): readonly [Value, Value] => [value, value]
  const rowAt = (of: string): Row => draft.rows().get(of) ?? buildRow(0, [])
  const only = (of: string, kind: MovementKind, report: number, expected: number): Pick<Item, 'differences' | 'unexplained'> => ({
    differences: report === expected ? [] : [{ month: of, kind, report, expected }],
    unexplained: new Map([[of, lacking(kind, report - expected)]].filter((one): one is [string, number] => Number(one[1]) > 0)),
  })
  /** A movement of a kind of its own, so that nothing else of the kind hides it. */
  const lone = (of: string): Movement => {
    const kind = random.pick(['sold', 'returned', 'lost', 'found', 'damaged'] as const)
    return draft.add(of, kind, units)
  }
  switch (deed) {
    case 'nothing': {
      // What lies in the salvage is in the log and counts for nothing.
      const salvage: LogLine = { ...draft.movement(month, 'lost', units).line, location: 'Salvage' }
      return build({ log: both([...draft.log(), salvage]) })
    }
    case 'cell': {
      const kind = random.pick(kinds)
      const row = rowAt(month)
      return build({
        rows: both(withRow(plain, month, (one) => ({ ...one, [kind]: one[kind] + units }))),
        differences: [
          { month, kind, report: row[kind] + units, expected: row[kind] },
          { month, kind: 'balance', report: row.ending, expected: row.ending + directions[kind] * units },
        ],
      })
    }
    case 'entry missing': {
      const { kind, line } = lone(month)
      const report = rowAt(month)[kind]
      return build({ log: both(draft.log().filter(({ id }) => id !== line.id)), ...only(month, kind, report, report - units) })
    }
    case 'entry twice': {
      const { kind, line } = lone(month)
      const report = rowAt(month)[kind]
      return build({
        log: both([...draft.log(), { ...line, id: 'copy' }]),
        differences: [{ month, kind, report, expected: report + units }],
      })
    }
    case 'entry too many': {
      const kind = random.pick(['sold', 'returned', 'lost', 'found', 'damaged'] as const)
      const report = rowAt(month)[kind]
      return build({
        log: both([...draft.log(), draft.movement(month, kind, units).line]),
        ...only(month, kind, report, report + units),
      })
    }
    case 'entry twice beside an entry too many': {
      // Of the units that the log has more, only the copy is none of a movement.
      const kind = random.pick(['sold', 'returned', 'lost', 'found', 'damaged'] as const)
      const { line } = draft.add(month, kind, units)
      const report = rowAt(month)[kind]
      const more = random.whole(10, 19)
      return build({
        log: both([...draft.log(), { ...line, id: 'copy' }, draft.movement(month, kind, more).line]),
        ...only(month, kind, report, report + more),
        differences: [{ month, kind, report, expected: report + units + more }],
      })
    }
    case 'silent loss found later': {
      const next = addMonths(early, 1)
      draft.add(next, 'found', random.whole(1, units))
      const { ending } = rowAt(early)
      const rows = after(
        withRow(draft.rows(), early, (one) => shifted(one, 0, -units)),
        early,
        -units,
      )
      return build({
        rows: both(rows),
        differences: [{ month: early, kind: 'balance', report: ending - units, expected: ending }],
        unexplained: new Map([[early, units]]),
      })
    }
    case 'begins with less and is right again': {
      const { ending } = rowAt(first)
      const { ending: then } = rowAt(second)
      return build({
        rows: both(withRow(plain, second, (one) => shifted(one, -units, -units))),
        differences: [
          { month: second, kind: 'carry-over', report: ending - units, expected: ending },
          { month: third, kind: 'carry-over', report: then, expected: then - units },
        ],
      })
    }
    case 'silent loss': {
      const row = rowAt(month)
      const rows = after(
        withRow(plain, month, (one) => shifted(one, 0, -units)),
        month,
        -units,
      )
      return build({
        rows: both(rows),
        differences: [{ month, kind: 'balance', report: row.ending - units, expected: row.ending }],
        unexplained: new Map([[month, units]]),
      })
    }
    case 'loss called otherwise':
    case 'loss called otherwise, another without a word':
    case 'loss called otherwise after one without a word': {
      const called = random.pick(['damaged', 'other'] as const)
      const { line } = draft.add(month, 'lost', units)
      const words: Wording = called === 'damaged' ? ['Adjustment', 'DMG', 'Damaged in FC'] : ['Adjustment', 'Q9', 'Gone Astray']
      const [type, code, description] = words
      const log = draft.log().map((one) => (one.id === line.id ? { ...one, type, code, description } : one))
      const truth = rowAt(month)
      const silent = deed === 'loss called otherwise' ? 0 : random.whole(2, 9)
      // A world has no month before the first one: there both are of one month.
      const silentIn = deed.endsWith('after one without a word') && month !== first ? addMonths(month, -1) : month
      const { ending } = rowAt(silentIn)
      const rows = after(
        withRow(draft.rows(), silentIn, (one) => shifted(one, 0, -silent)),
        silentIn,
        -silent,
      )
      return build({
        rows: both(rows),
        log: both(log),
        differences: [
          { month, kind: 'lost', report: truth.lost, expected: truth.lost - units },
          { month, kind: called, report: truth[called], expected: truth[called] - directions[called] * units },
          ...(silent === 0 ? [] : [{ month: silentIn, kind: 'balance' as const, report: ending - silent, expected: ending }]),
        ],
        unexplained: new Map(silent === 0 ? [] : [[silentIn, silent]]),
      })
    }
    case 'loss without its entry and a wrong cell': {
      // What a wrong cell makes good itself is not what the log lacks.
      const kind = random.pick(['sold', 'returned', 'found'] as const)
      const { line } = draft.add(month, 'lost', units)
      const row = rowAt(month)
      const wrong = random.whole(2, 9)
      return build({
        rows: both(withRow(draft.rows(), month, (one) => ({ ...one, [kind]: one[kind] + wrong }))),
        log: both(draft.log().filter(({ id }) => id !== line.id)),
        differences: [
          { month, kind: 'lost', report: row.lost, expected: row.lost - units },
          { month, kind, report: row[kind] + wrong, expected: row[kind] },
          { month, kind: 'balance', report: row.ending, expected: row.ending + directions[kind] * wrong },
        ],
      })
    }
    case 'begins with less': {
      const next = addMonths(early, 1)
      const { ending } = rowAt(early)
      return build({
        rows: both(after(plain, early, -units)),
        differences: [{ month: next, kind: 'carry-over', report: ending - units, expected: ending }],
        unexplained: new Map([[next, units]]),
      })
    }
    case 'right again': {
      const { ending } = rowAt(early)
      return build({
        rows: both(withRow(plain, early, (one) => shifted(one, 0, -units))),
        differences: [
          { month: early, kind: 'balance', report: ending - units, expected: ending },
          { month: addMonths(early, 1), kind: 'carry-over', report: ending, expected: ending - units },
        ],
      })
    }
    case 'row left out':
      return build({ rows: both(without(plain, (of) => of === month)), differences: missingRow(draft, month) })
    case 'only in the log':
      return build({ rows: both(new Map<string, Row>()), differences: missingRow(draft, ...months) })
    case 'loses its row':
      return build({
        rows: both(without(plain, (of) => of > early)),
        differences: missingRow(draft, ...months.filter((of) => of > early)),
      })
    case 'row dropped':
      return build({ rows: [plain, without(plain, (of) => of === month)], differences: missingRow(draft, month) })
    case 'still row dropped': {
      const { ending } = rowAt(month)
      return build({
        rows: [plain, without(plain, (of) => of === month)],
        differences: ending === 0 ? [] : [{ month, kind: 'row', report: 0, expected: ending }],
      })
    }
    case 'cut off late': {
      // The report counts it a month after the log.
      const next = addMonths(early, 1)
      const { kind } = lone(early)
      const effect = directions[kind] * units
      const [row, then] = [rowAt(early), rowAt(next)]
      const rows = withRow(
        withRow(draft.rows(), early, (one) => ({ ...shifted(one, 0, -effect), [kind]: one[kind] - units })),
        next,
        (one) => ({ ...shifted(one, -effect, 0), [kind]: one[kind] + units }),
      )
      return build({
        rows: both(rows),
        differences: [
          { month: early, kind, report: row[kind] - units, expected: row[kind] },
          { month: next, kind, report: then[kind] + units, expected: then[kind] },
        ],
      })
    }
    case 'cut off early': {
      // The report counts it a month before the log.
      const next = addMonths(early, 1)
      const { kind } = lone(next)
      const effect = directions[kind] * units
      const [row, then] = [rowAt(early), rowAt(next)]
      const rows = withRow(
        withRow(draft.rows(), early, (one) => ({ ...shifted(one, 0, effect), [kind]: one[kind] + units })),
        next,
        (one) => ({ ...shifted(one, effect, 0), [kind]: one[kind] - units }),
      )
      return build({
        rows: both(rows),
        differences: [
          { month: early, kind, report: row[kind] + units, expected: row[kind] },
          { month: next, kind, report: then[kind] - units, expected: then[kind] },
        ],
      })
    }
    case 'entry late': {
      const { kind, line } = lone(month)
      return build({ log: [draft.log().filter(({ id }) => id !== line.id), draft.log()], settled: [{ month, kind }] })
    }
    case 'copy taken back': {
      const { kind, line } = lone(month)
      return build({ log: [[...draft.log(), { ...line, id: 'copy' }], draft.log()], settled: [{ month, kind }] })
    }
    case 'report corrected': {
      const kind = random.pick(kinds)
      return build({
        rows: [withRow(plain, month, (one) => ({ ...one, [kind]: one[kind] + units })), plain],
        settled: [
          { month, kind },
          { month, kind: 'balance' },
        ],
      })
    }
    case 'sale taken back':
      draft.add(second, 'sold', -units)
      return build()
    case 'moves without a row': {
      // Never listed, but for the last month, which begins with what the log makes of it.
      const rows = without(draft.rows(), (of) => of === second)
      const sum = countStock(draft.of(second))
      const { ending } = rowAt(first)
      return build({
        rows: both(withRow(rows, third, (one) => shifted(one, -units, -units))),
        differences: [
          ...missingRow(draft, second),
          { month: third, kind: 'carry-over', report: ending + sum - units, expected: ending + sum },
        ],
        unexplained: new Map([[third, units]]),
      })
    }
  }
}

/**
 * Units of a SKU that can be claimed in the end: what its reports state as lost or damaged, and what is gone without a word, less units that
 * were found in the same month or later. Found units of the last months can settle any loss, so the largest deficit of any number of them counts.
 */
export const countClaimable = ({ rows: [, rows], unexplained }: Item, months: Months): number => {
  const list = months.map((month) => ({ row: rows.get(month), gone: unexplained.get(month) ?? 0 }))
  const deficits = list.map((_, from) =>
    list.slice(from).reduce((sum, { row, gone }) => sum + gone + (row?.lost ?? 0) - (row?.found ?? 0), 0),
  )
  return list.reduce((sum, { row }) => sum + (row?.damaged ?? 0), Math.max(0, ...deficits))
}

/** The world of a seed. */
export const buildWorld = (seed: number): World => {
  const random = createRandom(seed, 'worlds')
  const first = random.pick(startMonths)
  const months: Months = [first, addMonths(first, 1), addMonths(first, 2)]
  const signed = random.chance(0.3)
  const items = Array.from({ length: skusOfWorld }, (_, index) => {
    const chosen = deeds[index] ?? random.pick(deeds)
    // Where a minus says that units left, none can say that a sale was taken back.
    const deed = signed && chosen === 'sale taken back' ? 'nothing' : chosen
    return findItem(random, `SKU-${String(index).padStart(3, '0')}`, months, deed)
  })
  return { seed, months, signed, reasons: new Map([[normalizeWords('Gone West'), 'lost']]), items }
}
