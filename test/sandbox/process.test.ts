import { type ChildProcess, fork, spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { expect, onTestFinished, test } from 'vitest'
import { readSettings } from '../../sandbox/settings.ts'
import { at, connect, items, listUnits, temporaryDirectory } from './support.ts'

const program = fileURLToPath(new URL('../../sandbox/main.ts', import.meta.url))

interface Running {
  readonly child: ChildProcess
  readonly url: string
}

const launch = async (dataDir: string, env: Record<string, string> = {}): Promise<Running> => {
  const child = fork(program, [], {
    silent: true,
    env: { PATH: process.env['PATH'] ?? '', SANDBOX_PORT: '0', DATA_DIR: dataDir, ...env },
  })
  onTestFinished(() => void child.kill('SIGKILL'))
  const [message]: unknown[] = await once(child, 'message')
  if (typeof message !== 'object' || message === null || !('port' in message)) throw new Error('no port was reported')
  return { child, url: `http://127.0.0.1:${message.port}` }
}

const ended = async (child: ChildProcess): Promise<{ code: number | null; signal: NodeJS.Signals | null }> => {
  if (child.exitCode === null && child.signalCode === null) await once(child, 'exit')
  return { code: child.exitCode, signal: child.signalCode }
}

test('killed with SIGKILL it continues where it stood: orders, effects, clock, token, faults, what is due', async () => {
  const dataDir = await temporaryDirectory()
  const first = await launch(dataDir)
  const client = await connect(first.url)
  const po = await client.place([{ sku: 'A', quantity: 3 }])
  const late = await client.place([{ sku: 'B' }])
  await client.control('POST', '/clock', { advance: '10m' })
  await client.control('PUT', '/faults', {
    next: [{ fault: 'lateEffect', purchaseOrderId: late, delayMs: 60_000, answer: 'serverError' }],
    tooManyRequests: { share: 0 },
  })
  await client.acknowledge(late)
  await client.acknowledge(po)
  await client.ship(po, [{ line: '1', quantity: 2, tracking: 'T9' }])
  const token = await client.control('GET', '/clock')
  first.child.kill('SIGKILL')
  await ended(first.child)

  const second = await launch(dataDir)
  const again = await connect(second.url)
  expect(listUnits(await again.order(po))).toBe('Acknowledged 1, Shipped 2')
  expect(at(await again.control('GET', '/clock'), 'offsetMs')).toBe(at(token, 'offsetMs'))
  expect(items(await again.control('GET', '/effects'), 'items')).toHaveLength(2)
  expect(listUnits(await again.order(late))).toBe('Created 1')
  await again.control('POST', '/clock', { advance: '61s' })
  expect(listUnits(await again.order(late))).toBe('Acknowledged 1')
  second.child.kill('SIGTERM')
  expect(await ended(second.child)).toEqual({ code: 0, signal: null })
})

test('killed with SIGKILL it keeps campaigns, shipping settings, inventory, and everything that was set', async () => {
  const dataDir = await temporaryDirectory()
  const first = await launch(dataDir)
  const before = await connect(first.url)
  await before.control('POST', '/campaigns/SEM-1001', { stop: true })
  await before.control('PUT', '/sellers/sandbox-seller/traits', { bundles: true })
  await before.control('POST', '/inventory/movements', { movements: [{ sku: 'NEW', changedUnits: 7 }] })
  await before.control('PUT', '/report', { disposition: 'attachment:' })
  await before.control('PUT', '/display', { removed: 3 })
  await before.control('PUT', '/enrolment', { multichannel: false })
  await before.control('PUT', '/limits', { operations: { 'campaigns.get': { tokens: 3, perMs: 60_000 } } })
  const told = async (client: typeof before): Promise<unknown> =>
    Promise.all(
      ['/inventory', '/inventory/discrepancies', '/report', '/display', '/limits', '/sellers/sandbox-seller/traits'].map(
        (route) => client.control('GET', route),
      ),
    )
  const standing = await told(before)
  first.child.kill('SIGKILL')
  await ended(first.child)

  const again = await connect((await launch(dataDir)).url)
  expect(await told(again)).toEqual(standing)
  expect((await again.call('GET', '/v3/advertising/sem/campaigns/SEM-1001')).json).toMatchObject({ status: 'STOPPED' })
  expect(at((await again.call('GET', '/v3/fulfillment/inventory-log?sellerSku=NEW')).json, 'headers', 'totalCount')).toBe(1)
})

test('past orders belong to a new world, also to the one after a reset', async () => {
  const dataDir = await temporaryDirectory()
  const first = await launch(dataDir, { SANDBOX_PAST_ORDERS: '6' })
  const client = await connect(first.url)
  const orders = async (): Promise<unknown> => at(await client.control('GET', '/state'), 'orders')
  expect(await orders()).toBe(6)
  await client.control('DELETE', '/')
  expect(await orders()).toBe(6)
  first.child.kill('SIGKILL')
  await ended(first.child)
  const second = await connect((await launch(dataDir, { SANDBOX_PAST_ORDERS: '6' })).url)
  expect(at(await second.control('GET', '/state'), 'orders')).toBe(6)
})

test('two on one directory: the second says so and ends with 1', async () => {
  const dataDir = await temporaryDirectory()
  await launch(dataDir)
  const child = spawn(process.execPath, [program], {
    env: { PATH: process.env['PATH'] ?? '', SANDBOX_PORT: '0', DATA_DIR: dataDir },
  })
  onTestFinished(() => void child.kill('SIGKILL'))
  let output = ''
  child.stdout.on('data', (chunk: Buffer) => {
    output += chunk.toString()
  })
  expect((await ended(child)).code).toBe(1)
  expect(output).toContain('another sandbox is using')
})

test('a taken port is named, with what to do, and no stack', async () => {
  const { url } = await launch(await temporaryDirectory())
  const port = new URL(url).port
  const child = spawn(process.execPath, [program], {
    env: { PATH: process.env['PATH'] ?? '', SANDBOX_PORT: port, DATA_DIR: await temporaryDirectory() },
  })
  onTestFinished(() => void child.kill('SIGKILL'))
  let output = ''
  child.stdout.on('data', (chunk: Buffer) => {
    output += chunk.toString()
  })
  expect((await ended(child)).code).toBe(1)
  expect(output).toContain(`http://127.0.0.1:${port} is in use by another program`)
  expect(output).toContain('set another SANDBOX_PORT')
  expect(output).not.toContain('at Server')
})

test('a wrong environment ends with 78 and one line a fault', async () => {
  const env = {
    PATH: process.env['PATH'] ?? '',
    SANDBOX_PORT: 'abc',
    MARKETPLACE_PROFILE: 'mars',
    SANDBOX_ORDER_INTERVAL: 'often',
  }
  const child = spawn(process.execPath, [program], { env })
  let errors = ''
  child.stderr.on('data', (chunk: Buffer) => {
    errors += chunk.toString()
  })
  expect((await ended(child)).code).toBe(78)
  expect(errors.trim().split('\n')).toEqual([
    expect.stringMatching(/^SANDBOX_PORT: must be a port.*"abc"/),
    expect.stringMatching(/^MARKETPLACE_PROFILE: must be specification or walmart-us.*"mars"/),
    expect.stringMatching(/^SANDBOX_ORDER_INTERVAL: must be off or a duration/),
  ])
})

test('settings: defaults, empty values, what the profile decides', () => {
  expect(readSettings({})).toMatchObject({ port: 8181, host: '127.0.0.1', dataDir: '.data/sandbox', orderIntervalMs: null })
  expect(readSettings({ MARKETPLACE_PROFILE: 'walmart-us', HEADER_PREFIX: '' }).dialect).toMatchObject({
    headerPrefix: 'WM',
    quantityField: 'statusQuantity',
  })
  expect(readSettings({ QUANTITY_FIELD: 'statusQuantity', SANDBOX_ORDER_INTERVAL: '5s' })).toMatchObject({
    dialect: { headerPrefix: 'XX', quantityField: 'statusQuantity' },
    orderIntervalMs: 5_000,
  })
})

test('a parent that is gone before it has started ends it too', async () => {
  const dataDir = await temporaryDirectory()
  const child = fork(program, [], {
    stdio: 'ignore',
    env: { PATH: process.env['PATH'] ?? '', SANDBOX_PORT: '0', DATA_DIR: dataDir, SANDBOX_PAST_ORDERS: '50' },
  })
  onTestFinished(() => void child.kill('SIGKILL'))
  child.disconnect()
  expect((await ended(child)).code).toBe(0)
})

test('when its parent lets go of the channel it ends by itself, even with requests that are never answered', async () => {
  const { child, url } = await launch(await temporaryDirectory())
  const client = await connect(url)
  await client.control('PUT', '/faults', { timeoutBefore: 1 })
  const silent = client.call('GET', '/v3/orders').catch(() => 'cut off')
  child.disconnect()
  expect(await ended(child)).toEqual({ code: 0, signal: null })
  expect(await silent).toBe('cut off')
})

test('with an interval it places orders by itself', async () => {
  const { url } = await launch(await temporaryDirectory(), { SANDBOX_ORDER_INTERVAL: '100ms' })
  const client = await connect(url)
  await expect.poll(async () => Number(at(await client.control('GET', '/state'), 'orders'))).toBeGreaterThan(2)
})
