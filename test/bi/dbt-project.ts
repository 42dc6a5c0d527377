import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { parse } from 'yaml'
import { z } from 'zod'

// The dbt project of deploy/bi/dbt, compiled like dbt compiles it: of Jinja it has `source()` and the arguments of its own generic test only.

const root = 'deploy/bi/dbt'

const dataTest = z.union([
  z.literal('not_null'),
  z.strictObject({ accepted_values: z.strictObject({ arguments: z.strictObject({ values: z.array(z.string()) }) }) }),
  z.strictObject({ unique_rows: z.strictObject({ arguments: z.strictObject({ columns: z.array(z.string()).min(1) }) }) }),
])
type DataTest = z.output<typeof dataTest>

const table = z.strictObject({
  name: z.string(),
  description: z.string().min(1),
  data_tests: z.array(dataTest).min(1),
  columns: z.array(
    z.strictObject({ name: z.string(), description: z.string().min(1), data_tests: z.array(dataTest).optional() }),
  ),
})
type Table = z.output<typeof table>

const modelsFile = z.strictObject({ version: z.literal(2), models: z.array(table) })
const sourcesFile = z.strictObject({
  version: z.literal(2),
  sources: z.tuple([
    z.strictObject({
      name: z.literal('tallyman'),
      schema: z.literal('warehouse'),
      description: z.string(),
      tables: z.array(table),
    }),
  ]),
})

const readText = (file: string): string => readFileSync(path.join(root, file), 'utf8')

/** The sources, as the project declares them. */
export const { tables: sourceTables } = sourcesFile.parse(parse(readText('models/sources.yml'))).sources[0]

/** The declared models. */
export const models = modelsFile.parse(parse(readText('models/marts/schema.yml'))).models

/** Names of the models that have a file. */
export const modelFiles = readdirSync(path.join(root, 'models/marts')).flatMap((file) =>
  file.endsWith('.sql') ? [path.basename(file, '.sql')] : [],
)

/** The SQL of a model. @throws RangeError when it has Jinja that is not known here, or a source that is not declared */
export const compileModel = (name: string): string => {
  const sql = readText(`models/marts/${name}.sql`).replaceAll(/\{\{ source\('tallyman', '(\w+)'\) \}\}/g, (_, source: string) => {
    if (!sourceTables.some((declared) => declared.name === source)) throw new RangeError(`${name}: unknown source ${source}`)
    return `warehouse.${source}`
  })
  if (/\{[{%#]/.test(sql)) throw new RangeError(`${name} has unknown Jinja`)
  return sql
}

const uniqueRows = (relation: string, columns: readonly string[]): string => {
  const sql = readText('tests/generic/unique_rows.sql')
    .replaceAll(/\{#.*?#\}|\{% (?:test unique_rows\(model, columns\)|endtest) %\}/g, '')
    .replaceAll('{{ model }}', relation)
    .replaceAll("{{ columns | join(', ') }}", columns.join(', '))
  if (/\{[{%#]/.test(sql)) throw new RangeError('unique_rows has unknown Jinja')
  return sql
}

const compileTest = (relation: string, column: string, test: DataTest): string => {
  if (test === 'not_null') return `SELECT * FROM ${relation} WHERE ${column} IS NULL`
  if ('unique_rows' in test) return uniqueRows(relation, test.unique_rows.arguments.columns)
  const values = test.accepted_values.arguments.values.map((value) => `'${value}'`).join(', ')
  return `SELECT DISTINCT ${column} FROM ${relation} WHERE ${column} NOT IN (${values})`
}

/** The statements of the tests of a table, which find no rows when they pass. */
export const compileTests = (relation: string, { data_tests: tests, columns }: Table): readonly string[] => [
  ...tests.map((test) => compileTest(relation, '', test)),
  ...columns.flatMap(({ name, data_tests: own = [] }) => own.map((test) => compileTest(relation, name, test))),
]
