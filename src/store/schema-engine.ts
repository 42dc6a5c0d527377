import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { bindMigrationAwareSqlAdapterFactory, type SqlMigrationAwareDriverAdapterFactory } from '@prisma/driver-adapter-utils'
import * as engineBindings from '@prisma/schema-engine-wasm/schema_engine_bg'

// Node has WebAssembly; its types come only with those of a browser, which nothing else here may see.
declare const WebAssembly: {
  instantiate(bytes: Uint8Array, imports: Record<string, object>): Promise<{ instance: { exports: Record<string, unknown> } }>
}

let engineReady: Promise<void> | undefined

// Node imports WebAssembly modules only behind a flag, so the bindings are wired by hand, once in a process.
const loadEngine = (): Promise<void> => {
  engineReady ??= (async () => {
    const file = fileURLToPath(import.meta.resolve('@prisma/schema-engine-wasm/schema_engine_bg')).replace(/\.js$/, '.wasm')
    const imports = { './schema_engine_bg.js': engineBindings }
    const { instance } = await WebAssembly.instantiate(await readFile(file), imports)
    engineBindings.__wbg_set_wasm(instance.exports)
    const start = instance.exports['__wbindgen_start']
    if (typeof start === 'function') start()
  })()
  return engineReady
}

/** Name under which the engine knows the schema file. */
export const schemaName = 'schema.prisma'

/**
 * Opens Prisma's schema engine.
 * @param schema text of the schema file
 * @param factory how the database is reached; the caller ends the adapters that it makes
 * @returns the engine, to be freed by the caller
 * @throws what the engine throws when the schema is not valid or the database does not answer: errors, or plain objects with a `message`
 */
export const openSchemaEngine = async (
  schema: string,
  factory: SqlMigrationAwareDriverAdapterFactory,
): Promise<engineBindings.SchemaEngine> => {
  await loadEngine()
  const bound = bindMigrationAwareSqlAdapterFactory(factory)
  return engineBindings.SchemaEngine.new({ datamodels: [[schemaName, schema]] }, () => undefined, bound)
}
