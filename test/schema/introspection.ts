import { PrismaPg } from '@prisma/adapter-pg'
import { ColumnTypeEnum, type SqlDriverAdapter, type SqlMigrationAwareDriverAdapterFactory } from '@prisma/driver-adapter-utils'
import { openSchemaEngine, schemaName } from '../../src/store/db/schema-engine.ts'

/** The schemas of Postgres that the typed client knows. */
const namespaces = ['warehouse', 'tallyman']

// The adapter cannot read Postgres' one-letter type "char", which the engine's questions to the catalogue name three times.
const letters = /\b\w+\.(contype|confdeltype|confupdtype)(?=,| AS )/g
const letterColumns: ReadonlySet<string> = new Set(['constraint_type', 'confdeltype', 'confupdtype'])

// Constraints that are no keys mean nothing to the client, and the engine fails at those that Postgres 18 lists for NOT NULL.
const otherConstraints = "contype NOT IN ('p', 'u', 'f')"

const readingCatalogue = (
  factory: SqlMigrationAwareDriverAdapterFactory,
  opened: SqlDriverAdapter[],
): SqlMigrationAwareDriverAdapterFactory => ({
  provider: factory.provider,
  adapterName: factory.adapterName,
  connectToShadowDb: () => factory.connectToShadowDb(),
  connect: async () => {
    const adapter = await factory.connect()
    opened.push(adapter)
    const ask = adapter.queryRaw.bind(adapter)
    adapter.queryRaw = async (query) => {
      const result = await ask({ ...query, sql: query.sql.replace(otherConstraints, 'false').replaceAll(letters, '$&::text') })
      const columnTypes = result.columnTypes.map((type, at) =>
        letterColumns.has(result.columnNames[at] ?? '') ? ColumnTypeEnum.Character : type,
      )
      return { ...result, columnTypes }
    }
    return adapter
  },
})

/**
 * What Prisma makes of a database: `prisma db pull`, by the engine that applies the migrations.
 * @param url address of a migrated database
 * @param schema text of the schema file, whose names are kept
 * @returns the schema in Prisma's language; tables that `schema` does not have are named as Postgres names them
 * @throws what the engine throws when the schema is not valid
 */
export const introspected = async (url: string, schema: string): Promise<string> => {
  const opened: SqlDriverAdapter[] = []
  try {
    const engine = await openSchemaEngine(schema, readingCatalogue(new PrismaPg({ connectionString: url, max: 1 }), opened))
    try {
      const { schema: pulled } = await engine.introspect({
        schema: { files: [{ path: schemaName, content: schema }] },
        baseDirectoryPath: '.',
        force: false,
        compositeTypeDepth: -1,
        namespaces,
      })
      return pulled.files.map(({ content }) => content).join('\n')
    } finally {
      engine.free()
    }
  } finally {
    for (const adapter of opened) await adapter.dispose()
  }
}
