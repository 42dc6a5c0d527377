import { readFileSync } from 'node:fs'
import { z } from 'zod'

// The dashboard of deploy/bi/grafana, with its queries as the Postgres data source of Grafana sends them.

const datasource = z.strictObject({
  type: z.literal('grafana-postgresql-datasource'),
  uid: z.string().regex(/^\$\{datasource\}$/),
})

const dashboard = z.object({
  templating: z.object({
    list: z.tuple([
      z.object({
        name: z.literal('datasource'),
        type: z.literal('datasource'),
        query: z.literal('grafana-postgresql-datasource'),
      }),
      z.object({ name: z.literal('seller'), type: z.literal('query'), query: z.string(), multi: z.literal(true), datasource }),
    ]),
  }),
  panels: z
    .array(
      z.object({
        id: z.int(),
        title: z.string().min(1),
        description: z.string().min(1),
        type: z.enum(['stat', 'table', 'timeseries']),
        gridPos: z.object({ x: z.int(), y: z.int(), w: z.int(), h: z.int() }),
        targets: z.tuple([
          z.object({ datasource, format: z.enum(['table', 'time_series']), rawQuery: z.literal(true), rawSql: z.string() }),
        ]),
      }),
    )
    .min(1),
})

const read = () => dashboard.parse(JSON.parse(readFileSync('deploy/bi/grafana/dashboard.json', 'utf8')))

/** The panels of the dashboard. */
export const dashboardPanels = () => read().panels

/** The query that lists the sellers to choose from. */
export const sellerQuery = () => read().templating.list[1].query

/** A query with its macros and variables replaced. @throws RangeError when it has others than `$__timeFilter` and `$seller` */
export const expandQuery = (
  sql: string,
  { from, to, sellerIds }: { readonly from: Date; readonly to: Date; readonly sellerIds: readonly string[] },
): string => {
  const expanded = sql
    .replaceAll(/\$__timeFilter\((\w+)\)/g, `$1 BETWEEN '${from.toISOString()}' AND '${to.toISOString()}'`)
    .replaceAll(/\$seller\b/g, sellerIds.map((sellerId) => `'${sellerId.replaceAll("'", "''")}'`).join(','))
  if (expanded.includes('$')) throw new RangeError(`unknown macro or variable in ${expanded}`)
  return expanded
}
