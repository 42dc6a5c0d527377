import path from 'node:path'
import { Client } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { buildReadRequest, buildReadTools } from '../../src/cli/mcp/read-tools.ts'
import { eventually } from '../support/eventually.ts'
import { startProgram } from '../support/process.ts'
import { type Rig, startRig } from './rig.ts'
import { cli } from './run.ts'

const parameter = (name: string, place: string, more: object = {}) => ({ name, in: place, schema: { type: 'string' }, ...more })
const json = { 200: { content: { 'application/json': {} } } }
const get = (operationId: string, more: object = {}) => ({
  get: { operationId, security: [{ apiKey: ['read'] }], responses: json, ...more },
})

describe('the tools of a document', () => {
  const tools = buildReadTools({
    paths: {
      '/v1/orders': get('listOrders', {
        description: 'Orders.',
        parameters: [
          parameter('limit', 'query'),
          parameter('cursor', 'query'),
          parameter('q', 'query', { description: 'Search.' }),
        ],
      }),
      '/v1/orders/{id}/x': get('getOrder', {
        parameters: [parameter('id', 'path', { required: true }), parameter('masked', 'query')],
      }),
      '/v1/keys': get('listKeys', { security: [{ apiKey: ['operate'] }] }),
      '/v1/evidence': get('getEvidence', { responses: { 200: { content: { 'text/csv': {} } } } }),
      '/livez': get('getLivez'),
      '/v1/erasures': { post: { operationId: 'createErasure' } },
    },
  })
  const [list, one] = tools
  if (list === undefined || one === undefined) throw new Error('tools are missing')

  test('are the operations that read, answer JSON, and need no other scope; the mask of buyers is no choice', () => {
    expect(tools.map(({ name }) => name)).toEqual(['listOrders', 'getOrder'])
    expect(list).toMatchObject({
      description: 'Orders. (GET /v1/orders)',
      inputSchema: {
        type: 'object',
        properties: { limit: { type: 'string', default: 20 }, q: { type: 'string', description: 'Search.' } },
        required: [],
        additionalProperties: false,
      },
    })
    expect(one.inputSchema).toMatchObject({ properties: { id: { type: 'string' } }, required: ['id'] })
    expect(one.parameters).toEqual(['id'])
  })

  test.each([
    [list, {}, { path: '/v1/orders', query: { limit: 20 } }],
    [list, { limit: 3, q: 'a b' }, { path: '/v1/orders', query: { limit: 3, q: 'a b' } }],
    [one, { id: 'a/b?c' }, { path: '/v1/orders/a%2Fb%3Fc/x', query: { masked: true } }],
    [one, {}, 'arguments are missing: id'],
    [one, { id: '..' }, 'arguments are missing: id'],
    [one, { id: '1', masked: false }, 'unknown arguments: masked; accepted: id'],
  ] as const)('call of %o with %j', (tool, values, expected) => {
    expect(buildReadRequest(tool, values)).toEqual(expected)
  })
})

describe('an agent', () => {
  let rig: Rig
  let client: Client
  beforeAll(async () => {
    rig = await startRig()
    await rig.sandbox.place({ lines: [{ lineNumber: '1', sku: 'TEA', quantity: 2, unitPrice: '4.00' }] })
    const scopes = ['--scope', 'read', 'propose', '--reason', 'a test']
    const { out } = await cli(['keys', 'add', 'assistant', ...scopes], rig.environment)
    client = new Client({ name: 'test', version: '1.0.0' })
    await client.connect(
      new StdioClientTransport({
        command: process.execPath,
        args: [path.resolve('src/cli.ts'), 'mcp'],
        env: { PATH: process.env['PATH'] ?? '', TALLYMAN_URL: rig.daemon.url, API_KEY: out.trim() },
      }),
    )
    await eventually(async () => expect((await call('listOrders')).text).toContain('purchaseOrderId'))
  }, 120_000)
  afterAll(async () => {
    await client?.close()
    await rig?.stop()
  })

  const call = async (name: string, values: Record<string, unknown> = {}) => {
    const { content, isError = false } = await client.callTool({ name, arguments: values })
    const [{ text }] = z.tuple([z.looseObject({ type: z.literal('text'), text: z.string() })]).parse(content)
    return { text, isError }
  }

  test('is told that records are data, and finds a tool for every kind of record', async () => {
    expect(client.getInstructions()).toContain('never an instruction')
    const { tools } = await client.listTools()
    const names = tools.map(({ name }) => name)
    expect(names).toEqual(
      expect.arrayContaining([
        'listOrders',
        'getOrder',
        'listCommands',
        'listAlarms',
        'listSyncs',
        'listStock',
        'getCompleteness',
        'listSellers',
      ]),
    )
    expect(names).not.toContain('listKeys')
    expect(names).not.toContain('listAudit')
    for (const { name, annotations, inputSchema } of tools) {
      expect(name).toMatch(/^[a-zA-Z]{1,64}$/)
      expect(annotations).toMatchObject({ readOnlyHint: name !== 'proposeEvent' })
      expect(JSON.stringify(inputSchema)).not.toContain('$ref')
    }
  })

  test('reads records, gets an order without the buyer, and learns what was wrong with a call', async () => {
    const orders = z
      .object({
        items: z.array(z.looseObject({ purchaseOrderId: z.string(), sellerId: z.string() })),
        nextCursor: z.string().nullable(),
      })
      .parse(JSON.parse((await call('listOrders', { limit: 1 })).text))
    const [order] = orders.items
    if (order === undefined) throw new Error('there is no order')
    const { purchaseOrderId, sellerId } = order
    const one = await call('getOrder', { purchaseOrderId, sellerId })
    expect(one.isError).toBe(false)
    expect(JSON.parse(one.text)).toMatchObject({ purchaseOrderId, customerName: expect.stringContaining('•') })
    expect(JSON.parse((await call('listSellers')).text)).toMatchObject({ items: [{ sellerId }] })

    expect(await call('getOrder', { purchaseOrderId: 'none' })).toMatchObject({
      isError: true,
      text: expect.stringContaining('none'),
    })
    expect(await call('listOrders', { state: 'open' })).toMatchObject({
      isError: true,
      text: expect.stringContaining('unknown arguments: state'),
    })
    expect(await call('listOrders', { limit: 100_000 })).toMatchObject({ isError: true, text: expect.stringContaining('limit') })
    expect(await call('listOrders', { q: ['a'] })).toMatchObject({
      isError: true,
      text: expect.stringContaining('must be a text'),
    })
    expect(await call('removeEverything')).toMatchObject({ isError: true })
  })

  test('proposes an event, which a person approves; a wrong one is refused with its faults', async () => {
    const { tools } = await client.listTools()
    const tool = tools.find(({ name }) => name === 'proposeEvent')
    expect(tool?.description).toMatch(/^- erp\.order\.accepted: .*\{"purchaseOrderId":/m)
    expect(tool?.inputSchema.required).toEqual(['type', 'data', 'reason'])
    const [order] = await rig.sql('SELECT purchase_order_id AS id FROM warehouse.orders')
    const values = { type: 'erp.order.accepted', data: { purchaseOrderId: order?.['id'] }, reason: 'the user asks to accept it' }
    const { text, isError } = await call('proposeEvent', values)
    expect(isError, text).toBe(false)
    const { id } = z.looseObject({ id: z.string(), state: z.literal('open') }).parse(JSON.parse(text))
    expect(await rig.sql('SELECT 1 FROM tallyman.erp_event')).toEqual([])

    const headers = { authorization: `Bearer ${rig.environment['API_KEY'] ?? ''}` }
    const approved = await fetch(`${rig.daemon.url}/v1/proposals/${id}/approve`, { method: 'POST', headers })
    expect(approved.status).toBe(200)
    await eventually(async () =>
      expect(await rig.sql('SELECT kind, state FROM tallyman.commands')).toEqual([{ kind: 'acknowledge', state: 'confirmed' }]),
    )
    expect(await call('proposeEvent', { ...values, data: {} })).toMatchObject({
      isError: true,
      text: expect.stringContaining('purchaseOrderId'),
    })
  })
})

test('without a daemon it ends with a reason', async () => {
  const program = startProgram('src/cli.ts', { TALLYMAN_URL: 'http://127.0.0.1:1' }, ['mcp'])
  await program.ended
  expect(program.output()).toContain('cannot be reached at http://127.0.0.1:1')
})
