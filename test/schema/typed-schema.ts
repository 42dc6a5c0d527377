import pg from 'pg'
import { introspected } from './introspection.ts'

/** A model of the schema file. */
interface Model {
  /** Its `///` lines. */
  readonly meaning: readonly string[]
  readonly name: string
  readonly fields: readonly Field[]
  /** Lines that begin with `@@`. */
  readonly attributes: readonly string[]
}

interface Field {
  readonly name: string
  /** With `?` or `[]`. */
  readonly type: string
  readonly rest: string
}

const modelsIn = (schema: string): readonly Model[] =>
  [...schema.matchAll(/((?:^\/\/\/ [^\n]*\n)*)^model (\w+) \{\n([\s\S]*?)^\}/gm)].map(
    ([, meaning = '', name = '', body = '']) => ({
      meaning: meaning.split('\n').filter((line) => line !== ''),
      name,
      fields: [...body.matchAll(/^ {2}(\w+) +(Unsupported\("[^"]*"\)\??|\w+(?:\[\]|\?)?)(.*)$/gm)].map(
        ([, field = '', type = '', rest = '']) => ({ name: field, type, rest: rest.trim() }),
      ),
      attributes: [...body.matchAll(/^ {2}(@@.*)$/gm)].map(([, attribute = '']) => attribute),
    }),
  )

const camelCase = (name: string): string => name.replaceAll(/_+([a-z0-9])/g, (_, letter: string) => letter.toUpperCase())

const singular = (plural: string): string =>
  plural
    .replace(/ies$/, 'y')
    .replace(/(ss|us|x|ch|sh)es$/, '$1')
    .replace(/([^su])s$/, '$1')

/** `settlement_lines`: SettlementLine. */
const modelName = (table: string): string => {
  const name = camelCase(singular(table))
  return name.charAt(0).toUpperCase() + name.slice(1)
}

const formatSchema = ({ attributes }: Model): string => /@@schema\("(\w+)"\)/.exec(attributes.join('\n'))?.[1] ?? ''

const withoutMark = (type: string): string => type.replace(/(\[\]|\?)$/, '')

/** What the client need not know of a field: where the database computes a value, and which of its indexes are partial. */
const plainRest = (rest: string): string =>
  rest
    .replace(/@default\(dbgenerated\("(?:[^"\\]|\\.)*"\)\)/, '@default(dbgenerated())')
    // Prisma's `now()` would be the clock of the process.
    .replace('@default(now())', '@default(dbgenerated("now()"))')
    .replace(/ ?@unique\(.*where: raw\("(?:[^"\\]|\\.)*"\)\)/, '')
    .replaceAll(/(?<=\[)[\w, ]+(?=\])/g, (fields) => fields.split(/, */).map(camelCase).join(', '))
    .trim()

/** Attributes that shape the client: keys. Indexes are a matter of the migrations. */
const plainAttributes = (attributes: readonly string[]): readonly string[] =>
  attributes
    .filter((attribute) => !attribute.startsWith('@@index') && !attribute.includes('where: raw('))
    .map((attribute) => plainRest(attribute))

const isNamedByPostgres = (name: string): boolean => /_|^[a-z]/.test(name)

/** Where Prisma puts it. */
const withMap = (rest: string, column: string): string => {
  const at = rest.search(/@db\.|$/)
  return `${rest.slice(0, at).trimEnd()} @map("${column}") ${rest.slice(at)}`.trim()
}

/** @param known names that the file has given to fields of this model */
const namedField = ({ name, type, rest }: Field, models: ReadonlySet<string>, known: ReadonlySet<string>): Field => {
  const target = withoutMark(type)
  const plain = plainRest(rest)
  if (models.has(target)) {
    const own = known.has(name) ? name : camelCase(type.endsWith('[]') ? name : singular(name))
    return { name: own, type: isNamedByPostgres(target) ? type.replace(target, modelName(target)) : type, rest: plain }
  }
  const own = camelCase(name)
  return { name: own, type, rest: own === name || plain.includes('@map(') ? plain : withMap(plain, name) }
}

const named = (model: Model, models: ReadonlySet<string>, before: Model | undefined): Model => {
  const known = new Set(before?.fields.map(({ name }) => name))
  const fields = model.fields.map((field) => namedField(field, models, known))
  const attributes = plainAttributes(model.attributes)
  if (!isNamedByPostgres(model.name)) return { ...model, fields, attributes }
  const others = attributes.filter((attribute) => !attribute.startsWith('@@schema'))
  return {
    ...model,
    name: modelName(model.name),
    fields,
    attributes: [...others, `@@map("${model.name}")`, `@@schema("${formatSchema(model)}")`],
  }
}

const formatTable = (model: Model): string => {
  const [, table = ''] = /@@map\("(\w+)"\)/.exec(model.attributes.join('\n')) ?? []
  return `${formatSchema(model)}.${table}`
}

const commentsOn = async (url: string): Promise<ReadonlyMap<string, string>> => {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    const { rows } = await client.query<{ name: string; comment: string }>(
      `SELECT n.nspname || '.' || c.relname AS name, obj_description(c.oid, 'pg_class') AS comment
       FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE obj_description(c.oid, 'pg_class') IS NOT NULL`,
    )
    return new Map(rows.map(({ name, comment }) => [name, comment]))
  } finally {
    await client.end()
  }
}

const longest = (texts: readonly string[]): number => Math.max(...texts.map(({ length }) => length))

const written = ({ meaning, name, fields, attributes }: Model): string => {
  const names = longest(fields.map((field) => field.name))
  const types = longest(fields.map(({ type }) => type))
  const lines = fields.map((field) => `  ${field.name.padEnd(names)} ${field.type.padEnd(types)} ${field.rest}`.trimEnd())
  return [...meaning, `model ${name} {`, ...lines, '', ...attributes.map((attribute) => `  ${attribute}`), '}', ''].join('\n')
}

const sections = {
  warehouse: '// ── warehouse: what sellers and BI read ────────────────────────────────────────────────────────────────',
  tallyman: "// ── tallyman: the daemon's own ─────────────────────────────────────────────────────────────────────────",
} as const

/**
 * The schema file of a database. What it has of names, `///` lines, relations without a foreign key and settings of the generator is kept, and so
 * is the order of its models; columns, types and keys are those of the database. A new table becomes a model that is named after it, whose `///`
 * line is the table's comment.
 * @param url address of a migrated database
 * @param previous text of the schema file as it is
 * @throws Error when a new table has no comment, or the database has what the file cannot say
 */
export const typedSchema = async (url: string, previous: string): Promise<string> => {
  const pulled = await introspected(url, previous)
  const unknown = /^(?:enum|view|type) \w+/m.exec(pulled)
  if (unknown !== null) throw new Error(`npm run schema does not know what to make of ${unknown[0]}`)
  const found = modelsIn(pulled)
  const known = new Map(modelsIn(previous).map((model) => [model.name, model]))
  const all = new Set(found.map(({ name }) => name))
  const comments = await commentsOn(url)
  const models = found.map((one): Model => {
    const before = known.get(one.name)
    const model = named(one, all, before)
    if (before === undefined) {
      const comment = comments.get(formatTable(model))
      if (comment === undefined)
        throw new Error(`${formatTable(model)} has no comment: its migration has to say what it is (COMMENT ON TABLE … IS '…')`)
      return { ...model, meaning: [`/// ${comment.replaceAll(/\s+/g, ' ')}`] }
    }
    const has = new Set(model.fields.map(({ name }) => name))
    const kept = before.fields.filter(({ name, type }) => all.has(withoutMark(type)) && !has.has(name))
    return { ...model, meaning: before.meaning, fields: [...model.fields, ...kept] }
  })
  const head = previous.slice(0, previous.search(/^(?:\/\/ ──|\/\/\/|model )/m)).trimEnd()
  const parts = Object.entries(sections).flatMap(([schema, title]) => [
    title,
    '',
    ...models.filter((model) => formatSchema(model) === schema).map(written),
  ])
  return `${[head, '', ...parts].join('\n').trimEnd()}\n`
}
