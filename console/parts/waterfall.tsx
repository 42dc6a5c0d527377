import { useId } from 'preact/hooks'
import type { Schemas } from '../lib/api.ts'
import { count } from '../lib/format.ts'

/** The stock of a month with its movements. */
type Movements = Pick<
  Schemas['StockMonth'],
  'beginningQuantity' | 'endingQuantity' | 'sold' | 'returned' | 'lost' | 'found' | 'damaged' | 'otherAdjustments'
>

interface Step {
  readonly label: string
  /** Units of the movement; for beginning and ending the stock itself. */
  readonly units: number
  readonly isTotal: boolean
  readonly tone: string
}

const kinds = [
  ['sold', 'sold', -1],
  ['returned', 'returned', 1],
  ['lost', 'lost', -1],
  ['found', 'found', 1],
  ['damaged', 'damaged', -1],
  ['otherAdjustments', 'other', 1],
] as const

const sumAll = (moves: readonly number[]): number => moves.reduce((sum, units) => sum + units, 0)

/**
 * Beginning, movements and ending. Reports may write outgoing units with or without a sign: the interpretation with fewer unexplained units is used.
 */
const listSteps = (row: Movements): readonly Step[] => {
  const unsigned = kinds.map(([name, , direction]) => (name === 'otherAdjustments' ? row[name] : direction * Math.abs(row[name])))
  const signed = kinds.map(([name]) => row[name])
  const countUnexplained = (moves: readonly number[]): number => row.endingQuantity - row.beginningQuantity - sumAll(moves)
  const moves = Math.abs(countUnexplained(signed)) < Math.abs(countUnexplained(unsigned)) ? signed : unsigned
  const unexplained = countUnexplained(moves)
  const moved = kinds.flatMap(([, label], index): Step[] => {
    const units = moves[index] ?? 0
    return units === 0 ? [] : [{ label, units, isTotal: false, tone: units > 0 ? 'b' : 'c' }]
  })
  return [
    { label: 'beginning', units: row.beginningQuantity, isTotal: true, tone: 'a' },
    ...moved,
    ...(unexplained === 0 ? [] : [{ label: 'not explained', units: unexplained, isTotal: false, tone: 'd' }]),
    { label: 'ending', units: row.endingQuantity, isTotal: true, tone: 'a' },
  ]
}

const width = 480
const height = 140

const formatSign = ({ isTotal, units }: Step): string => (isTotal || units < 0 ? count(units) : `+${count(units)}`)

/** A chart of a month's stock from its beginning to its ending, movement by movement. The text below has the same numbers. */
export const Waterfall = ({ title, row }: { readonly title: string; readonly row: Movements }) => {
  const id = useId()
  const steps = listSteps(row)
  let level = 0
  const bars = steps.map((step) => {
    const from = step.isTotal ? 0 : level
    const to = step.isTotal ? step.units : level + step.units
    level = to
    return { ...step, from, to }
  })
  const ends = bars.flatMap(({ from, to }) => [from, to])
  const [min, max] = [Math.min(0, ...ends), Math.max(1, ...ends)]
  const y = (units: number): number => ((max - units) / (max - min)) * (height - 4) + 2
  const step = width / bars.length
  return (
    <figure class="columns">
      <figcaption id={id}>{title}</figcaption>
      <svg viewBox={`0 0 ${width} ${height}`} role="img" aria-labelledby={id}>
        <title>{title}</title>
        {bars.map((bar, index) => (
          <rect
            key={bar.label}
            class={`tone-${bar.tone}`}
            x={index * step + 4}
            y={Math.min(y(bar.from), y(bar.to))}
            width={Math.max(1, step - 8)}
            height={Math.max(1.5, Math.abs(y(bar.from) - y(bar.to)))}
          >
            <title>{`${bar.label}: ${formatSign(bar)}`}</title>
          </rect>
        ))}
      </svg>
      <p class="legend">
        {steps.map((one) => (
          <span key={one.label}>
            <i class={`dot tone-${one.tone}`} aria-hidden="true" /> {one.label} {formatSign(one)}
          </span>
        ))}
      </p>
    </figure>
  )
}
