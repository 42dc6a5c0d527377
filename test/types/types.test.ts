import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { promisify } from 'node:util'
import { createConfig, lintFromString } from '@redocly/openapi-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { isChangeType } from '../../src/domain/changes/catalogue.ts'
import { documentOfServer, readDeclarations } from './declarations.ts'

const run = promisify(execFile)
let document: string
let folder: string

beforeAll(async () => {
  document = await documentOfServer()
  folder = await mkdtemp(path.join(tmpdir(), 'tallyman-types-'))
})
afterAll(async () => {
  await rm(folder, { recursive: true })
})

test('a public linter with its strictest rules finds nothing in the OpenAPI document', async () => {
  const config = await createConfig({ extends: ['recommended-strict'] })
  const found = await lintFromString({ source: document, absoluteRef: 'openapi.json', config })
  expect(found.map(({ ruleId, message, location }) => `${ruleId}: ${message} (${location[0]?.pointer})`)).toEqual([])
  const wrong = await lintFromString({
    source: document.replace('"operationId":"listOrders",', ''),
    absoluteRef: 'openapi.json',
    config,
  })
  expect(wrong.map(({ ruleId }) => ruleId)).toEqual(['operation-operationId'])
})

test('the document has events and changes by their types, headers of events, and each operation by its name', () => {
  const { paths, components, servers } = JSON.parse(document)
  expect(servers).toMatchObject([{ url: '/' }])
  const { mapping } = components.schemas.Change.discriminator
  expect(Object.keys(mapping).every(isChangeType)).toBe(true)
  expect(components.schemas.ChangeOrderSeen).toMatchObject({
    properties: { type: { const: 'order.seen' }, seq: { type: 'string' } },
    examples: [{ type: 'order.seen', data: { lines: [{ ordered: 2 }] } }],
  })
  expect(Object.keys(components.schemas.ErpEvent.discriminator.mapping)).toContain('erp.shipment.dispatched')
  const post = paths['/v1/events'].post
  const headers = post.parameters.filter((one: { in: string }) => one.in === 'header').map((one: { name: string }) => one.name)
  expect(headers).toEqual(
    expect.arrayContaining(['ce-id', 'ce-source', 'ce-type', 'webhook-id', 'webhook-timestamp', 'webhook-signature']),
  )
  const names = Object.values<Record<string, { operationId: string }>>(paths).flatMap((methods) =>
    Object.values(methods).map(({ operationId }) => operationId),
  )
  expect(new Set(names).size).toBe(names.length)
  expect(names).toEqual(
    expect.arrayContaining([
      'listOrders',
      'getOrder',
      'createEvent',
      'listChanges',
      'confirmCommand',
      'listSyncRuns',
      'deleteCampaign',
    ]),
  )
})

test('what is posted to endpoints is described as a webhook, with the headers of its signature', () => {
  const { webhooks, components, tags, paths } = JSON.parse(document)
  const { post } = webhooks.change
  const body = post.requestBody.content['application/cloudevents+json'].schema.$ref
  expect(components.schemas[body.split('/').at(-1)]).toMatchObject({ properties: { specversion: {}, data: {} } })
  expect(post.parameters).toMatchObject(
    ['webhook-id', 'webhook-timestamp', 'webhook-signature'].map((name) => ({ name, in: 'header', required: true })),
  )
  const named = new Set(tags.map(({ name }: { name: string }) => name))
  const used = [post, ...Object.values<object>(paths).flatMap((methods) => Object.values(methods))].flatMap((one) => one.tags)
  expect(used.filter((tag: string) => !named.has(tag))).toEqual([])
})

test('types/index.d.ts is what the document makes of it: npm run types writes it', async () => {
  expect(await readFile('types/index.d.ts', 'utf8')).toBe(await readDeclarations(document))
})

const consumer = `import type { Change, ChangeOf, ErpEvent, ErpEventOf, OrderSummary } from 'tallyman/types'

export const event: ErpEvent = {
  specversion: '1.0',
  id: '1',
  source: '/erp',
  type: 'erp.shipment.dispatched',
  data: {
    purchaseOrderId: '1',
    parcels: [{ carrier: 'UPS', trackingNumber: '1Z', shippedAt: '2026-03-01T09:30:00Z', lines: [{ sku: 'A', quantity: 1 }] }],
  },
}
// @ts-expect-error a parcel has lines
export const wrong: ErpEventOf<'erp.shipment.dispatched'>['data'] = { purchaseOrderId: '1', parcels: [{ carrier: 'UPS' }] }

export const unitsOf = (change: Change): number => {
  switch (change.type) {
    case 'order.seen':
      return 'erased' in change.data ? 0 : change.data.lines.reduce((sum, line) => sum + line.ordered, 0)
    case 'order_line.changed':
      return 'erased' in change.data ? 0 : change.data.after.shipped
    // @ts-expect-error there is no such type
    case 'order.sen':
      return 0
    default:
      return 0
  }
}
export const seen = (change: ChangeOf<'order.seen'>): string | null => change.purchaseOrderId
export const ids = (orders: readonly OrderSummary[]): string[] => orders.map((order) => order.purchaseOrderId)
`

test('a program of somebody else gets the types from the package, checked strictly', async () => {
  await mkdir(path.join(folder, 'node_modules'))
  await symlink(process.cwd(), path.join(folder, 'node_modules', 'tallyman'))
  await writeFile(path.join(folder, 'package.json'), '{"type": "module"}')
  await writeFile(path.join(folder, 'consumer.ts'), consumer)
  const options = ['--noEmit', '--strict', '--exactOptionalPropertyTypes', '--module', 'nodenext', '--target', 'esnext']
  const tsc = path.join('node_modules', 'typescript', 'bin', 'tsc')
  const { stdout } = await run(process.execPath, [path.resolve(tsc), ...options, 'consumer.ts'], { cwd: folder }).catch(
    (error: unknown) =>
      error instanceof Error && 'stdout' in error ? { stdout: String(error.stdout) } : { stdout: String(error) },
  )
  expect(stdout).toBe('')
}, 60_000)
