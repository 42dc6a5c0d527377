import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { bindMigrationAwareSqlAdapterFactory, type SqlMigrationAwareDriverAdapterFactory } from '@prisma/driver-adapter-utils'
import * as engineBindings from '@prisma/schema-engine-wasm/schema_engine_bg'

// Node has WebAssembly; its types come only with those of the browser, which the rest of this program must not see.
declare const WebAssembly: {
  instantiate(bytes: Uint8Array, imports: Record<string, object>): Promise<{ instance: { exports: Record<string, unknown> } }>
}

let engineReady: Promise<void> | undefined

// Node imports WebAssembly modules only with a flag, so the module is instantiated by hand, once for each process.
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

/** The name of the schema file in messages of the engine. */
export const schemaName = 'schema.prisma'

/**
 * Opens Prisma's schema engine.
 * @param schema text of the schema file
 * @param factory connects to the database; the caller disposes of the adapters that it creates
 * @returns the engine, which the caller frees
 * @throws errors, or plain objects with a `message`: the schema is not valid, or the database is unavailable
 */
export const openSchemaEngine = async (
  schema: string,
  factory: SqlMigrationAwareDriverAdapterFactory,
): Promise<engineBindings.SchemaEngine> => {
  await loadEngine()
  const bound = bindMigrationAwareSqlAdapterFactory(factory)
  return engineBindings.SchemaEngine.new({ datamodels: [[schemaName, schema]] }, () => undefined, bound)
}
