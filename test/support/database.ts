import { afterAll, afterEach, beforeAll, beforeEach } from 'vitest'
import type { FindVocabulary } from '../../src/domain/values/vocabulary.ts'
import { type Database, openDatabase } from '../../src/store/db/database.ts'
import { expectCatalogued } from './changes.ts'
import { dropDatabase, makeDatabase } from './postgres.ts'
import { findVocabulary } from './vocabulary.ts'

/** A migrated database of a file's own. What it holds can be read within hooks and tests only. */
export interface TestDatabase {
  readonly database: Database
  /** Its address, for connections and programs of a test's own. */
  readonly url: string
}

/**
 * Opens a migrated database for this file, or for each of its tests, and drops it afterwards. Call it before hooks that use it.
 * @param options.each whose database it is: all tests of the file share it, or each has a new one
 * @param options.connections of the pool; its default when absent
 * @param options.vocabularyOf the words of its sellers; those of the specification when absent
 */
export const withDatabase = ({
  each = 'file',
  ...options
}: {
  readonly each?: 'file' | 'test'
  readonly connections?: number
  readonly findVocabulary?: FindVocabulary
} = {}): TestDatabase => {
  let opened: TestDatabase | null = null
  const open = async (): Promise<void> => {
    const url = await makeDatabase()
    opened = { url, database: openDatabase({ findVocabulary, url, ...options }) }
  }
  const close = async (): Promise<void> => {
    const { database, url } = now()
    opened = null
    await expectCatalogued(database)
    await database.close()
    await dropDatabase(url)
  }
  const now = (): TestDatabase => {
    if (opened === null) throw new Error('the database of a test is there within its hooks and tests only')
    return opened
  }
  if (each === 'file') {
    beforeAll(open)
    afterAll(close)
  } else {
    beforeEach(open)
    afterEach(close)
  }
  return {
    get database() {
      return now().database
    },
    get url() {
      return now().url
    },
  }
}
