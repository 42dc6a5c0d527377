import { type TrendFigure, trendFigureNames, trendFigures } from '../../domain/trends/figures.ts'
import type { Database, SqlRunner } from '../db/database.ts'
import { type SellerFilter, toSellerIds } from '../sellers/seller-filter.ts'

/** How long figures are kept. */
const keptDays = 400
/** An order is rarely shipped later than this after it was placed; limits the orders that are read. */
const shippedWithinDays = 60

const zone = '(SELECT time_zone FROM tallyman.bi_settings)'
const zonedDay = (time: string): string => `(${time} AT TIME ZONE ${zone})::date`
const today = zonedDay('now()')

/** SQL of each figure since the first day, `$1`: seller, day, figure, part, total and weight. */
const computed = `
  SELECT o.seller_id, ${zonedDay('o.order_date')} AS day, 'orders' AS figure, '' AS part, count(*)::numeric AS total, 1::numeric AS weight
  FROM warehouse.orders o WHERE coalesce(o.order_date, '-infinity'::timestamptz) >= $1::date::timestamp AT TIME ZONE ${zone} GROUP BY 1, 2
  UNION ALL
  SELECT p.seller_id, p.day, f.figure, '', sum(f.total), sum(f.weight)
  FROM warehouse.parcels p CROSS JOIN LATERAL (VALUES
    ('on-time', CASE WHEN p.late THEN 0 ELSE p.units END::numeric, CASE WHEN p.late IS NULL THEN 0 ELSE p.units END::numeric),
    ('hours-to-ship', p.hours_to_ship * p.units, CASE WHEN p.hours_to_ship IS NULL THEN 0 ELSE p.units END::numeric)) f(figure, total, weight)
  WHERE p.ordered_at >= ($1::date - ${shippedWithinDays})::timestamp AT TIME ZONE ${zone} AND p.day >= $1::date AND f.weight > 0
  GROUP BY 1, 2, 3
  UNION ALL
  SELECT r.seller_id, r.day, 'refunds', '', sum(r.units)::numeric, 1
  FROM warehouse.refunds r WHERE r.day >= $1::date GROUP BY 1, 2
  UNION ALL
  SELECT c.seller_id, ${zonedDay('c.settled_at')}, 'seconds-to-confirm', '', sum(extract(epoch FROM c.settled_at - coalesce(e.received_at, c.created_at))), count(*)
  FROM tallyman.commands c LEFT JOIN tallyman.erp_event e ON e.source = c.event_source AND e.id = c.event_id
  WHERE c.settled_at >= $1::date::timestamp AT TIME ZONE ${zone} AND c.state = 'confirmed' GROUP BY 1, 2
  UNION ALL
  SELECT d.seller_id, ${today}, 'money-at-stake', d.currency, sum(abs(d.value)), 1
  FROM warehouse.differences d WHERE d.state = 'open' AND d.currency IS NOT NULL AND d.value IS NOT NULL GROUP BY 1, 4`

/** When the figures were computed last, and how long that took; null: not today. */
export const readLastComputation = async (sql: SqlRunner): Promise<{ readonly at: Date; readonly tookMs: number } | null> => {
  const [row] = await sql.query<{ at: Date; tookMs: number }>(
    `SELECT changed_at AS at, total::float8 AS "tookMs" FROM tallyman.daily_figures WHERE figure = 'computed' AND seller_id = '' AND part = '' AND day = ${today}`,
  )
  return row ?? null
}

/** Computes the figures of the last days that come from stored records, and removes those that are too old. */
export const computeDailyFigures = (database: Database, days: number): Promise<void> =>
  database.transaction(async (tx) => {
    const startedMs = performance.now()
    const [first] = await tx.query<{ day: string }>(`SELECT (${today} - $1::int)::text AS day`, days)
    await tx.execute(
      `INSERT INTO tallyman.daily_figures AS f (seller_id, day, figure, part, total, weight)
       SELECT seller_id, day, figure, part, total, weight FROM (${computed}) c WHERE day IS NOT NULL
       ON CONFLICT (figure, seller_id, part, day) DO UPDATE SET total = excluded.total, weight = excluded.weight, changed_at = now()
       WHERE (f.total, f.weight) IS DISTINCT FROM (excluded.total, excluded.weight)`,
      first?.day ?? null,
    )
    // What is settled now is no longer at stake today.
    await tx.execute(
      `UPDATE tallyman.daily_figures f SET total = 0, changed_at = now() WHERE f.figure = 'money-at-stake' AND f.day = ${today} AND NOT EXISTS (
         SELECT FROM warehouse.differences d WHERE d.seller_id = f.seller_id AND d.currency = f.part AND d.state = 'open' AND d.value IS NOT NULL)`,
    )
    await tx.execute(
      `INSERT INTO tallyman.daily_figures (seller_id, day, figure, total) VALUES ('', ${today}, 'computed', $1)
       ON CONFLICT (figure, seller_id, part, day) DO UPDATE SET total = excluded.total, changed_at = now()`,
      performance.now() - startedMs,
    )
    await tx.execute(`DELETE FROM tallyman.daily_figures WHERE day < ${today} - ${keptDays}`)
  })

/** Notes how old the data of each resource are now, in seconds: the largest of the day remains. */
export const recordLags = async (
  sql: SqlRunner,
  lags: readonly { readonly resource: string; readonly seconds: number }[],
): Promise<void> => {
  await sql.execute(
    `INSERT INTO tallyman.daily_figures AS f (seller_id, day, figure, part, total)
     SELECT '', ${today}, 'lag', t.resource, t.seconds FROM json_to_recordset($1::json) AS t(resource text, seconds numeric)
     ON CONFLICT (figure, seller_id, part, day) DO UPDATE SET total = excluded.total, changed_at = now() WHERE f.total < excluded.total`,
    JSON.stringify(lags),
  )
}

/** Calls of a seller to the marketplace. */
export interface CallCount {
  readonly sellerId: string
  readonly figure: Extract<TrendFigure, 'calls' | 'calls-refused'>
  readonly count: number
}

/** Adds calls to those of the day. */
export const addCalls = async (sql: SqlRunner, counts: readonly CallCount[]): Promise<void> => {
  await sql.execute(
    `INSERT INTO tallyman.daily_figures AS f (seller_id, day, figure, total)
     SELECT t."sellerId", ${today}, t.figure, t.count FROM json_to_recordset($1::json) AS t("sellerId" text, figure text, count bigint)
     ORDER BY t."sellerId", t.figure
     ON CONFLICT (figure, seller_id, part, day) DO UPDATE SET total = f.total + excluded.total, changed_at = now()`,
    JSON.stringify(counts),
  )
}

/** A figure over a number of days, and over the same number of days before. */
export interface Trend {
  readonly figure: TrendFigure
  /** A currency, or the resource of a sync; empty: nothing in particular. */
  readonly part: string
  /** A decimal for each day; null: nothing is known of it. */
  readonly values: readonly (string | null)[]
  readonly previous: readonly (string | null)[]
}

/** Trends of the sellers over the last days, also today. */
export const readTrends = async (
  sql: SqlRunner,
  days: number,
  sellers: SellerFilter,
): Promise<{ readonly timeZone: string; readonly days: readonly string[]; readonly trends: readonly Trend[] }> => {
  const [calendar] = await sql.query<{ timeZone: string; days: readonly string[] }>(
    `SELECT time_zone AS "timeZone", ARRAY(SELECT (${today} - n)::text FROM generate_series(2 * $1::int - 1, 0, -1) AS n) AS days FROM tallyman.bi_settings`,
    days,
  )
  const all = calendar?.days ?? []
  const means = trendFigureNames.filter((name) => trendFigures[name].combined === 'mean')
  const only = toSellerIds(sellers)
  const rows = await sql.query<{ figure: TrendFigure; part: string; day: string; value: string | null }>(
    `SELECT figure, part, day::text, round(CASE WHEN figure = ANY($3::text[]) THEN sum(total) / nullif(sum(weight), 0) ELSE sum(total) END, 4)::text AS value
     FROM tallyman.daily_figures
     WHERE figure = ANY($1::text[]) AND day >= ${today} - (2 * $2::int - 1) AND ($4::text[] IS NULL OR seller_id = ANY($4::text[]))
     GROUP BY figure, part, day ORDER BY figure, part`,
    trendFigureNames,
    days,
    means,
    only === null ? null : [...only],
  )
  const found = Map.groupBy(rows, ({ figure, part }) => `${figure}/${part}`)
  const daysWithCalls = new Set(found.get('calls/')?.map(({ day }) => day))
  const trends = trendFigureNames.flatMap((figure): readonly Trend[] => {
    const parts = [...found.values()].filter(([first]) => first?.figure === figure)
    const isOfParts = figure === 'lag' || figure === 'money-at-stake'
    return (parts.length === 0 && !isOfParts ? [[]] : parts).map((entries) => {
      const byDay = new Map(entries.map(({ day, value }) => [day, value]))
      const { isZeroWithout } = trendFigures[figure]
      const isZero = (day: string): boolean => (isZeroWithout === 'calls' ? daysWithCalls.has(day) : isZeroWithout)
      const values = all.map((day) => byDay.get(day) ?? (isZero(day) ? '0' : null))
      return { figure, part: entries[0]?.part ?? '', previous: values.slice(0, days), values: values.slice(days) }
    })
  })
  return { timeZone: calendar?.timeZone ?? 'UTC', days: all.slice(days), trends }
}
