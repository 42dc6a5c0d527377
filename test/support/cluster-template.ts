import { execFile } from 'node:child_process'
import { rm } from 'node:fs/promises'
import path from 'node:path'
import { promisify } from 'node:util'

/**
 * Runs before all tests: makes one Postgres cluster with a migrated database, from which each test's own is copied. Making a cluster and
 * migrating it takes longer than most tests.
 */
export default async function prepare(): Promise<() => Promise<void>> {
  const { stdout } = await promisify(execFile)(process.execPath, [path.join(import.meta.dirname, 'make-cluster.ts')])
  const folder = stdout.trim()
  process.env['TALLYMAN_TEST_CLUSTER'] = folder
  return () => rm(folder, { recursive: true, force: true })
}
