// Writes docs/data-model.md and the diagram beside it from prisma/schema.prisma, and the views and comments of a migrated database. Writes the sources of
// deploy/bi/dbt from the same comments.
// Usage: node scripts/data-model.mjs [folder] [address of the database; default: one of its own]
import { readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import pg from 'pg'
import { stringify } from 'yaml'
import { startTestPostgres } from '../test/support/postgres.ts'

const folder = process.argv[2] ?? path.resolve(import.meta.dirname, '../docs')
const schema = readFileSync(path.resolve(import.meta.dirname, '../prisma/schema.prisma'), 'utf8')

const attribute = (text, name) => new RegExp(`@${name}\\("([^"]+)"\\)`).exec(text)?.[1]
const listed = (text) => (text ?? '').split(',').flatMap((name) => name.trim() || [])

const models = [...schema.matchAll(/(?:^\/\/\/ ([^\n]*)\n)?^model (\w+) \{\n(.*?)^\}/gms)].map(([, meaning, name, body]) => {
  if (meaning === undefined) throw new Error(`model ${name} of prisma/schema.prisma has no /// line that says what it is`)
  const fields = [...body.matchAll(/^ {2}(\w+) +(\w+)(\[\]|\?)?(.*)$/gm)].map(([, field, type, many, rest]) => ({
    field,
    type,
    isOptional: many === '?',
    isList: many === '[]',
    rest,
    column: attribute(rest, 'map') ?? field,
  }))
  const ids = listed(/@@id\(\[([^\]]+)\]/.exec(body)?.[1])
  const keys = ids.length > 0 ? ids : fields.filter(({ rest }) => /@id\b/.test(rest)).map(({ field }) => field)
  return { name, meaning, fields, keys, table: `${attribute(body, '@schema')}.${attribute(body, '@map')}` }
})

const readRelations = async (url) => {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    const { rows } = await client.query(`SELECT n.nspname || '.' || c.relname AS name, c.relkind = 'v' AS "isView",
        obj_description(c.oid, 'pg_class') AS meaning, json_agg(json_build_object('column', a.attname,
          'type', regexp_replace(replace(format_type(a.atttypid, NULL), 'timestamp with time zone', 'timestamptz'), '\\(.*\\)', ''),
          'meaning', col_description(c.oid, a.attnum)) ORDER BY a.attnum) AS columns
      FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
      JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
      WHERE n.nspname IN ('warehouse', 'tallyman') AND c.relkind IN ('r', 'p', 'v') GROUP BY 1, 2, c.oid ORDER BY 1`)
    return rows
  } finally {
    await client.end()
  }
}
const readOwnRelations = async () => {
  const postgres = await startTestPostgres()
  try {
    return await readRelations(await postgres.database())
  } finally {
    await postgres.stop()
  }
}
const url = process.argv[3]
const relations = await (url === undefined ? readOwnRelations() : readRelations(url))
const meanings = new Map(
  relations.flatMap(({ name, columns }) => columns.map(({ column, meaning }) => [`${name}.${column}`, meaning ?? ''])),
)
const describeColumn = (table, column) => meanings.get(`${table}.${column}`).replaceAll('\\', '\\\\').replaceAll('|', '\\|')

const named = new Map(models.map((model) => [model.name, model]))

const sqlTypes = {
  String: 'text',
  Int: 'integer',
  BigInt: 'bigint',
  Boolean: 'boolean',
  Json: 'jsonb',
  Bytes: 'bytea',
  Decimal: 'numeric',
  DateTime: 'timestamptz',
  Float: 'double precision',
}
const findType = ({ type, isList, rest }) => {
  const base = /@db\.Date\b/.test(rest) ? 'date' : sqlTypes[type]
  if (base === undefined) throw new Error(`no type of Postgres is known for ${type}`)
  return isList ? `${base}[]` : base
}
const listColumns = ({ fields }) => fields.filter(({ type }) => !named.has(type))
const findColumn = (model, field) => model.fields.find((one) => one.field === field).column

/** Parents by foreign keys, as `{child, parent, columns}`. */
const references = models.flatMap((child) =>
  child.fields.flatMap(({ type, rest }) => {
    const fields = /@relation\(fields: \[([^\]]+)\]/.exec(rest)?.[1]
    return fields === undefined
      ? []
      : [{ child, parent: named.get(type), columns: listed(fields).map((field) => findColumn(child, field)) }]
  }),
)

// ── the diagram ─────────────────────────────────────────────────────────────────────────────────────────

const [boxWidth, rowHeight, gapX, gapY, margin] = [320, 18, 90, 24, 20]
const redactValue = (model) => {
  const foreign = references.filter(({ child }) => child === model).flatMap(({ columns }) => columns)
  const keys = model.keys.map((field) => findColumn(model, field))
  return [...new Set([...keys, ...foreign])].map((column) => `${keys.includes(column) ? '● ' : '○ '}${column}`)
}
const computeHeight = (model) => rowHeight * (redactValue(model).length + 1) + 10

const placed = new Map()
let bottom = margin
const place = (model, depth) => {
  const children = references.filter(({ parent }) => parent === model).map(({ child }) => child)
  const top = bottom
  placed.set(model, { x: margin + depth * (boxWidth + gapX), y: top })
  for (const child of children) place(child, depth + 1)
  bottom = Math.max(bottom, top + computeHeight(model) + gapY)
}
const isChild = (model) => references.some(({ child }) => child === model)
for (const model of models) if (!isChild(model) && references.some(({ parent }) => parent === model)) place(model, 0)

const box = (model) => {
  const { x, y } = placed.get(model)
  const rows = redactValue(model).map((text, index) => `<text x="${x + 10}" y="${y + rowHeight * (index + 2)}">${text}</text>`)
  return [
    `<rect x="${x}" y="${y}" width="${boxWidth}" height="${computeHeight(model)}" rx="4" fill="#f6f8fa" stroke="#57606a"/>`,
    `<text x="${x + 10}" y="${y + rowHeight - 2}" font-weight="bold">${model.table}</text>`,
    ...rows,
  ].join('\n')
}
const arrow = ({ child, parent }) => {
  const [from, to] = [placed.get(child), placed.get(parent)]
  const [startY, endY] = [from.y + rowHeight, to.y + rowHeight]
  const middle = to.x + boxWidth + gapX / 2
  return `<path d="M ${from.x} ${startY} H ${middle} V ${endY} H ${to.x + boxWidth}" fill="none" stroke="#0969da" marker-end="url(#end)"/>`
}
const width = Math.max(...[...placed.values()].map(({ x }) => x)) + boxWidth + margin
const svg = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${bottom}" width="${width}" height="${bottom}" font-family="monospace" font-size="13" role="img" aria-label="Tables with foreign keys">
<defs><marker id="end" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="8" markerHeight="8" orient="auto"><path d="M 0 0 L 8 4 L 0 8 z" fill="#0969da"/></marker></defs>
<rect width="${width}" height="${bottom}" fill="#ffffff"/>
${references.map(arrow).join('\n')}
${[...placed.keys()].map(box).join('\n')}
</svg>
`

// ── the page ────────────────────────────────────────────────────────────────────────────────────────────

const section = (model) => {
  const keys = model.keys.map((field) => `\`${findColumn(model, field)}\``).join(', ')
  const parents = references
    .filter(({ child }) => child === model)
    .map(({ parent, columns }) => `\nRefers: ${columns.map((column) => `\`${column}\``).join(', ')} → \`${parent.table}\`.`)
  const rows = listColumns(model).map(
    (field) =>
      `| \`${field.column}\` | ${findType(field)} | ${field.isOptional ? 'yes' : 'no'} | ${describeColumn(model.table, field.column)} |`,
  )
  return `### \`${model.table}\`
${model.meaning}

Key: ${keys}.
${parents.join('')}

| column | type | may be null | meaning |
| --- | --- | --- | --- |
${rows.join('\n')}
`
}
const sections = (name) =>
  models
    .filter(({ table }) => table.startsWith(`${name}.`))
    .map(section)
    .join('\n')

const viewSection = ({ name, meaning, columns }) => {
  const rows = columns.map(({ column, type }) => `| \`${column}\` | ${type} | ${describeColumn(name, column)} |`)
  return `### \`${name}\`
${meaning}

| column | type | meaning |
| --- | --- | --- |
${rows.join('\n')}
`
}
const views = relations
  .filter(({ isView }) => isView)
  .map(viewSection)
  .join('\n')

const page = `# Data model
<!-- Made from prisma/schema.prisma and the comments of the database by npm run data-model. -->
The schema \`warehouse\` is for sellers and BI: its tables may be read, and its names and meanings are kept from version to version. The schema \`tallyman\` is the
daemon's own, except for \`tallyman.erp_event\`, into which an ERP may insert ([events.md](events.md)). Where queues are in Postgres, BullMQ has the schema
\`bullmq\`.

Money is \`numeric\` with a currency beside it, units are integers, times are UTC. A table of imported records has the marketplace's own record in \`raw\`, when
it was first seen and when it last changed; what it was before is in \`tallyman.superseded_versions\`. [syncs.md](syncs.md) says which resource fills which table,
[personal-data.md](personal-data.md) which columns may hold a buyer's data.

Fields of the live service whose form is not published have no columns. They are members of \`raw\`:

| member | meaning |
| --- | --- |
| \`warehouse.orders.raw -> 'miscAttributes'\` | further attributes of an order, since 2026-03-19; any JSON |
| \`warehouse.orders.raw -> 'isWCPOrder'\` | a mark of an order, since 2026-10-02 |
| \`warehouse.return_lines.raw -> 'miscAttributes'\` | further attributes of a returned line, such as \`VEHICLE_DETAILS\`, since 2026-04-08; any JSON |

They may describe a buyer. So \`raw\` of orders and returns is marked as a buyer's data: \`tallyman_bi\` may not read it, and an erasure removes it. A login
that needs an attribute gets a view of it: \`CREATE VIEW reporting.order_attributes AS SELECT seller_id, purchase_order_id, raw -> 'miscAttributes' AS
attributes FROM warehouse.orders\`.

Tables that refer to one another by foreign keys; ● belongs to the key:

![Tables with foreign keys](data-model.svg)

All other tables are tied by \`seller_id\` and the ids that they name, without foreign keys: what is read first may name what has not been read yet.

## Views of \`warehouse\`
${views}
## Tables of \`warehouse\`
${sections('warehouse')}
## Tables of \`tallyman\`
${sections('tallyman')}`

writeFileSync(path.join(folder, 'data-model.md'), `${page.trimEnd()}\n`)
writeFileSync(path.join(folder, 'data-model.svg'), svg)

// ── the sources of dbt ──────────────────────────────────────────────────────────────────────────────────

/** The grain of each view for BI, and columns with a closed set of values. */
const biViews = {
  sales_daily: { grain: ['seller_id', 'day', 'sku', 'currency'], required: ['seller_id', 'units'] },
  refunds: { grain: ['seller_id', 'purchase_order_id', 'line_number', 'position'], required: ['seller_id', 'amount'] },
  parcels: { grain: ['seller_id', 'purchase_order_id', 'line_number', 'position'], required: ['seller_id', 'units'] },
  fulfilment_daily: { grain: ['seller_id', 'day', 'ship_node_type'], required: ['seller_id', 'units'] },
  stock_now: { grain: ['seller_id', 'sku'], required: ['seller_id', 'sku'], values: { source: ['list', 'log'] } },
  order_payouts: {
    grain: ['seller_id', 'purchase_order_id', 'currency'],
    required: ['seller_id', 'purchase_order_id'],
    values: { state: ['pending', 'paid', 'nothing-due'] },
  },
  differences: {
    grain: ['source', 'id'],
    required: ['seller_id', 'id'],
    values: { source: ['inventory', 'stock', 'settlement'], state: ['open', 'resolved'] },
  },
}

const sourceColumn = ({ required, values = {} }, { column, meaning }) => {
  const tests = [
    ...(required.includes(column) ? ['not_null'] : []),
    ...(column in values ? [{ accepted_values: { arguments: { values: values[column] } } }] : []),
  ]
  return { name: column, description: meaning, ...(tests.length > 0 && { data_tests: tests }) }
}
const sourceTable = ([name, view]) => {
  const { meaning, columns } = relations.find((relation) => relation.name === `warehouse.${name}`)
  return {
    name,
    description: meaning,
    data_tests: [{ unique_rows: { arguments: { columns: view.grain } } }],
    columns: columns.map((column) => sourceColumn(view, column)),
  }
}
const sources = {
  version: 2,
  sources: [
    {
      name: 'tallyman',
      schema: 'warehouse',
      description: 'The views of Tallyman for BI.',
      tables: Object.entries(biViews).map(sourceTable),
    },
  ],
}
writeFileSync(
  process.argv[2] === undefined
    ? path.resolve(import.meta.dirname, '../deploy/bi/dbt/models/sources.yml')
    : path.join(folder, 'sources.yml'),
  `# Made from the comments of the database by npm run data-model.\n${stringify(sources, { lineWidth: 0 })}`,
)
