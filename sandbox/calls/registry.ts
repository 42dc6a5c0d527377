import { readdirSync } from 'node:fs'
import path from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Operation } from './operation.ts'

const isOperation = (one: unknown): one is Operation =>
  typeof one === 'object' &&
  one !== null &&
  'name' in one &&
  typeof one.name === 'string' &&
  'perform' in one &&
  typeof one.perform === 'function'

const readOperations = async (file: string): Promise<readonly Operation[]> => {
  const group: Readonly<Record<string, unknown>> = await import(pathToFileURL(file).href)
  const { operations } = group
  if (!Array.isArray(operations) || operations.length === 0 || !operations.every(isOperation))
    throw new Error(`${file} has to export what it adds to the sandbox: operations: readonly Operation[]`)
  return operations
}

/**
 * The operations of a folder, each file of which exports some of them as `operations`.
 * @throws Error that names a file without any
 */
export const operationsIn = async (folder: string): Promise<readonly Operation[]> => {
  const files = readdirSync(folder).filter((file) => path.extname(file) === path.extname(import.meta.filename))
  return (await Promise.all(files.sort().map((file) => readOperations(path.join(folder, file))))).flat()
}

/** Every operation of the sandbox marketplace. No file of the folder may import this one: they would wait for each other. */
export const operations: readonly Operation[] = await operationsIn(path.resolve(import.meta.dirname, '../operations'))

/** Their names, as control requests give them. */
export const operationNames: readonly string[] = operations.map(({ name }) => name)
