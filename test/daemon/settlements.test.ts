import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { z } from 'zod'
import { startTestDaemon, type TestDaemon } from '../support/daemon.ts'
import { eventually } from '../support/eventually.ts'
import { startTestPostgres, type TestPostgres } from '../support/postgres.ts'
import { startTestSandbox, type TestSandbox } from '../support/sandbox.ts'
import { sandboxSeller } from './support.ts'

// Settlement reports with planted errors of each kind, through the whole daemon.

let postgres: TestPostgres
let sandbox: TestSandbox
let folder: string
let daemon: TestDaemon

const daysAgo = (days: number): string => new Date(Date.now() - days * 86_400_000).toISOString()

beforeAll(async () => {
  ;[postgres, sandbox] = await Promise.all([startTestPostgres(), startTestSandbox()])
  folder = await mkdtemp(path.join(tmpdir(), 'tallyman-settlements-'))
  await sandbox.control('POST', '/orders', {
    count: 300,
    shipNodeType: 'SellerFulfilled',
    history: true,
    createdFrom: daysAgo(80),
    createdTo: daysAgo(3),
  })
  await sandbox.control('POST', '/settlement-errors', { count: 2 })
  daemon = await startTestDaemon({
    DATABASE_URL: await postgres.database(),
    DATA_DIR: folder,
    MARKETPLACE_URL: sandbox.url,
    ...sandboxSeller,
    POLL_ORDERS: '1s',
    POLL_RETURNS: '1s',
    POLL_SETTLEMENTS: '2s',
  })
})
afterAll(async () => {
  await daemon.program.stop()
  await Promise.all([postgres.stop(), sandbox.stop()])
  await rm(folder, { recursive: true, force: true })
})

const found = z.object({
  kind: z.string(),
  purchaseOrderId: z.string(),
  lineNumber: z.string(),
  difference: z.string().transform(Number),
})
type Found = z.infer<typeof found>

const sort = (items: readonly Found[]): readonly Found[] =>
  items.toSorted((a, b) => (`${a.kind} ${a.purchaseOrderId}` < `${b.kind} ${b.purchaseOrderId}` ? -1 : 1))
const listDifferences = async (query: string) => {
  const { body } = await daemon.call('GET', `/v1/settlement-differences?limit=1000&${query}`)
  return sort(z.object({ items: z.array(found) }).parse(body).items)
}

const waitMs = 90_000

test('every planted error is found with its amount, none is invented, and corrected reports settle all of them', {
  timeout: 3 * waitMs,
}, async () => {
  const { settlementErrors: truth } = z.object({ settlementErrors: z.array(found) }).parse(await sandbox.control('GET', '/truth'))
  expect(new Set(truth.map(({ kind }) => kind)).size).toBe(7)
  expect(truth).toHaveLength(14)
  await eventually(async () => expect(await listDifferences('state=open')).toEqual(sort(truth)), waitMs)
  await sandbox.control('DELETE', '/settlement-errors')
  await eventually(async () => expect(await listDifferences('state=open')).toEqual([]), waitMs)
  const settled = await listDifferences('state=resolved')
  for (const one of truth) expect(settled).toContainEqual(one)
})
