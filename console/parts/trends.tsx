import { useCallback, useMemo, useState } from 'preact/hooks'
import { api, readAnswer, type Schemas } from '../lib/api.ts'
import { count, findZonedDayStart, formatDuration, formatMoney } from '../lib/format.ts'
import { useQuery } from '../lib/query.ts'
import { LineChart } from './line-chart.tsx'
import { Loaded } from './states.tsx'
import { Rows } from './table.tsx'
import { None } from './text.tsx'

type Trend = Schemas['Trend']
type Figure = Trend['figure']

interface Words {
  readonly title: (part: string) => string
  /** Address of the rows behind the figure. */
  readonly to: (part: string) => string
  /** Parameters of the list with the rows of a day, which `to` then shows. */
  readonly day?: string
  /** The number in words: the sum of the days, or that of the last day. Default: the mean. */
  readonly whole?: 'sum' | 'last'
}

const figures: Readonly<Record<Figure, Words>> = {
  orders: { title: () => 'Orders', to: () => '/console/orders', day: 'created', whole: 'sum' },
  'on-time': { title: () => 'Units shipped on time', to: () => '/console/today?due=late' },
  'hours-to-ship': { title: () => 'From order to shipment', to: () => '/console/orders?outcome=shipped' },
  refunds: { title: () => 'Refunded units', to: () => '/console/orders?outcome=refunded', whole: 'sum' },
  'seconds-to-confirm': {
    title: () => 'From event to confirmed',
    to: () => '/console/commands?state=confirmed',
    day: 'settled',
  },
  lag: { title: (part) => `Lag of ${part}`, to: (part) => `/console/syncs?${new URLSearchParams({ resource: part })}` },
  calls: { title: () => 'Calls to the marketplace', to: () => '/console/syncs', whole: 'sum' },
  'calls-refused': { title: () => 'Calls refused for their rate', to: () => '/console/syncs', whole: 'sum' },
  'money-at-stake': { title: (part) => `Money at stake, ${part}`, to: () => '/console/money', whole: 'last' },
}

const formatValue = ({ unit, part }: Pick<Trend, 'unit' | 'part'>, value: number): string => {
  switch (unit) {
    case 'share':
      return value.toLocaleString(undefined, { style: 'percent', maximumFractionDigits: 1 })
    case 'hours':
      return `${value.toLocaleString(undefined, { maximumFractionDigits: 1 })} h`
    case 'seconds':
      return value > 0 && value < 1 ? `${Math.round(value * 1_000)} ms` : formatDuration(value * 1_000)
    case 'money':
      return formatMoney(String(value), part)
    default:
      return count(Math.round(value))
  }
}

const toNumbers = (values: Trend['values']): readonly (number | null)[] =>
  values.map((value) => (value === null ? null : Number(value)))

/** The number of a period; null: nothing is known. */
const summarize = (values: readonly (number | null)[], whole: Words['whole']): number | null => {
  const known = values.filter((value) => value !== null)
  if (whole === 'last') return known.at(-1) ?? null
  const sum = known.reduce((total, value) => total + value, 0)
  return known.length === 0 ? null : whole === 'sum' ? sum : sum / known.length
}

const describeSummary = (whole: Words['whole'], days: number): string =>
  whole === 'last' ? 'now' : `${whole === 'sum' ? 'in' : 'mean of'} ${days} days`

const dayAddress = ({ to, day }: Words, part: string, from: string, timeZone: string): string | null => {
  if (day === undefined) return null
  const start = findZonedDayStart(from, timeZone)
  const next = new Date(Date.parse(`${from}T00:00:00Z`) + 86_400_000).toISOString().slice(0, from.length)
  const url = new URL(to(part), location.origin)
  url.searchParams.set(`${day}From`, start.toISOString())
  url.searchParams.set(`${day}To`, findZonedDayStart(next, timeZone).toISOString())
  return `${url.pathname}${url.search}`
}

const TrendCard = ({
  trend,
  days,
  timeZone,
}: {
  readonly trend: Trend
  readonly days: readonly string[]
  readonly timeZone: string
}) => {
  const { figure, unit, part, values: texts, previous: previousTexts } = trend
  const words = figures[figure]
  const [isOpen, setOpen] = useState(false)
  const values = useMemo(() => toNumbers(texts), [texts])
  const previous = useMemo(() => toNumbers(previousTexts), [previousTexts])
  const format = useCallback((value: number) => formatValue({ unit, part }, value), [unit, part])
  const title = words.title(part)
  const now = summarize(values, words.whole)
  const before = summarize(previous, words.whole)
  const inWords = (value: number | null): string => (value === null ? 'no data yet' : format(value))
  const isKnown = [...values, ...previous].some((value) => value !== null)
  return (
    <section class="card trend" aria-label={title}>
      <h2>{title}</h2>
      <p>
        <a href={words.to(part)}>
          <strong>{inWords(now)}</strong>
        </a>{' '}
        {now !== null && (
          <span class="faint">
            {describeSummary(words.whole, days.length)}
            {before !== null && `; before: ${inWords(before)}`}
          </span>
        )}
      </p>
      {isKnown && (
        <LineChart
          label={`${title}: ${inWords(now)}, before: ${inWords(before)}`}
          isWhole={unit === 'count'}
          {...{ days, values, previous, format }}
        />
      )}
      {isKnown && (
        <details onToggle={(toggle) => setOpen(toggle.currentTarget.open)}>
          <summary>As a table</summary>
          {isOpen && (
            <Rows
              caption={`${title} by day`}
              rows={days.map((day, index) => ({ day, value: values[index], before: previous[index] }))}
              buildKey={({ day }) => day}
              columns={[
                {
                  head: 'Day',
                  cell: ({ day }) => {
                    const to = dayAddress(words, part, day, timeZone)
                    return to === null ? day : <a href={to}>{day}</a>
                  },
                },
                { head: 'Value', number: true, cell: ({ value }) => (value == null ? <None /> : format(value)) },
                { head: 'Period before', number: true, cell: ({ before: was }) => (was == null ? <None /> : format(was)) },
              ]}
            />
          )}
        </details>
      )}
    </section>
  )
}

/** Charts of figures over the last days; without names, of all. */
export const Trends = ({
  days,
  sellerId,
  only,
}: {
  readonly days: number
  readonly sellerId?: string | undefined
  readonly only?: readonly Figure[]
}) => {
  const query = { days, ...(sellerId === undefined ? {} : { sellerId }) }
  const trends = useQuery(`trends ${JSON.stringify(query)}`, () => readAnswer(api.GET('/v1/trends', { params: { query } })), {
    everyMs: 300_000,
  })
  return (
    <Loaded query={trends}>
      {({ items, days: shown, timeZone }) => (
        <div class="grid">
          {items
            .filter(({ figure }) => only === undefined || only.includes(figure))
            .map((trend) => (
              <TrendCard key={`${trend.figure} ${trend.part}`} trend={trend} days={shown} timeZone={timeZone} />
            ))}
        </div>
      )}
    </Loaded>
  )
}
