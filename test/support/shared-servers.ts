import { spawn } from 'node:child_process'
import { once } from 'node:events'
import path from 'node:path'
import { createInterface } from 'node:readline'

/**
 * Runs before all tests: starts the Postgres in which the files have databases of their own (`database.ts`), and makes the cluster from
 * which a file copies a server of its own (`postgres.ts`). Making and migrating a cluster takes longer than most tests.
 */
export default async function start(): Promise<() => Promise<void>> {
  const child = spawn(process.execPath, [path.join(import.meta.dirname, 'shared-postgres.ts')], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  const ended = once(child, 'exit')
  const said = await Promise.race([
    once(createInterface(child.stdout), 'line'),
    ended.then(([code]) => {
      throw new Error(`the Postgres of the tests ended with ${String(code)} before it was ready`)
    }),
  ])
  const { template, url }: { template: string; url: string } = JSON.parse(String(said[0]))
  process.env['TALLYMAN_TEST_CLUSTER'] = template
  process.env['TALLYMAN_TEST_POSTGRES'] = url
  return async () => {
    child.stdin.end()
    await ended
  }
}
