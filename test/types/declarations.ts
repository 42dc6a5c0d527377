import openapiTS, { astToString } from 'openapi-typescript'
import { openDatabase } from '../../src/store/db/database.ts'
import { startServer } from '../http/support.ts'
import { findVocabulary } from '../support/vocabulary.ts'

const beginning = `// Made from the schemas of the interface by npm run types. Types of answers, events and changes: import type { … } from 'tallyman/types'.
`

const ending = `
/** Every named shape of the interface. */
export type Schemas = components['schemas'];
/** One change of the feed, by its \`type\`. */
export type Change = Schemas['Change'];
/** Every type of change. */
export type ChangeType = Change['type'];
/** A change of this type. */
export type ChangeOf<Type extends ChangeType> = Extract<Change, { type: Type }>;
/** A change as a CloudEvent. */
export type ChangeEvent = Schemas['ChangeEvent'];
/** An event of the ERP, by its \`type\`. */
export type ErpEvent = Schemas['ErpEvent'];
/** Every type of ERP event. */
export type ErpEventType = ErpEvent['type'];
/** An ERP event of this type. */
export type ErpEventOf<Type extends ErpEventType> = Extract<ErpEvent, { type: Type }>;
export type EventReceipt = Schemas['EventReceipt'];
export type Order = Schemas['Order'];
export type OrderSummary = Schemas['OrderSummary'];
export type Command = Schemas['Command'];
export type Problem = Schemas['Problem'];
`

/** The OpenAPI document of a server; it asks nothing of a database. */
export const documentOfServer = async (): Promise<string> => {
  const database = openDatabase({ url: 'postgresql://127.0.0.1:1/none', findVocabulary })
  const server = await startServer(database)
  try {
    return JSON.stringify((await server.json('/openapi.json')).body)
  } finally {
    await server.close()
    await database.close()
  }
}

/** The text of types/index.d.ts for a document. */
export const readDeclarations = async (document: string): Promise<string> =>
  `${beginning}${astToString(await openapiTS(document, { silent: true }))}${ending}`
