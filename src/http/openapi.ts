import { STATUS_CODES } from 'node:http'
import type { FastifyInstance } from 'fastify'
import { z } from 'zod'
import { allChangeTypes, changeTypes } from '../domain/changes/catalogue.ts'
import { isObject } from '../domain/values.ts'
import { eventMediaTypes } from './cloud-events.ts'
import { changeExample, erpEventKinds } from './openapi-examples.ts'

// What the OpenAPI document says beyond the schemas of the routes: names of operations, headers, and the shapes of events and changes.

/** What each tag is about. */
export const tagDescriptions = {
  events: 'Events of the ERP, and what became of them.',
  commands: 'Commands derived from events, and decisions of an operator.',
  orders: 'Purchase orders with their units.',
  changes: 'The change feed.',
  syncs: 'State and runs of the imports.',
  sellers: 'State of the sellers; pausing and resuming them.',
  campaigns: 'Watched advertising campaigns.',
  webhooks: 'Endpoints to which changes are posted.',
  quarantine: 'Records that could not be parsed.',
  erasures: 'Erasure of buyers.',
  keys: 'Keys of programs and people.',
  audit: 'What people have done.',
  inventory: 'Inventory reports compared with the inventory log.',
  alarms: 'What needs an operator.',
  retention: 'How long data is kept.',
  sessions: 'Sign-in of people at the console.',
  settings: 'The settings in force, and where each comes from.',
  health: 'Liveness, readiness and metrics.',
} as const

const pascal = (part: string): string =>
  part
    .split(/[-_.]/)
    .map((word) => `${word.charAt(0).toUpperCase()}${word.slice(1)}`)
    .join('')
const singular = (part: string): string => pascal(part.endsWith('s') && !part.endsWith('ss') ? part.slice(0, -1) : part)

const verbs: Readonly<Record<string, string>> = { GET: 'get', POST: 'create', PATCH: 'update', PUT: 'replace', DELETE: 'delete' }

/** The name of an operation: `listOrders`, `getOrder`, `confirmCommand`, `listSyncRuns`. */
export const operationIdOf = (method: string, url: string, isList: boolean): string => {
  const parts = url.split('/').filter((part) => part !== '' && part !== 'v1')
  const names = parts.filter((part) => !part.startsWith(':'))
  const [first = 'root', ...actions] = names
  const ofOne = parts.length > names.length
  const action = actions.map(pascal).join('')
  if (isList) return ofOne ? `list${singular(first)}${action}` : `list${pascal(first)}${action}`
  const subject = ofOne ? singular(first) : pascal(first)
  if (actions.length > 0 && method === 'POST') return `${action.charAt(0).toLowerCase()}${action.slice(1)}${subject}`
  const verb = verbs[method] ?? method.toLowerCase()
  return `${verb}${method === 'POST' && !ofOne ? singular(first) : subject}${action}`
}

/** Gives every operation that is added from now on its name, and a description where it has a summary only. */
export const nameOperations = (app: Pick<FastifyInstance, 'addHook'>): void => {
  app.addHook('onRoute', (route) => {
    const { schema } = route
    if (schema === undefined || schema.hide === true) return
    const { querystring, summary } = schema
    const isList = querystring instanceof z.ZodObject && 'cursor' in querystring.shape
    const method = String([route.method].flat()[0])
    route.schema = {
      ...schema,
      operationId: schema.operationId ?? operationIdOf(method, route.url, isList),
      ...(summary === undefined ? {} : { description: schema.description ?? `${summary}.` }),
    }
  })
}

type Json = Record<string, unknown>

const memberOf = (value: unknown, ...path: readonly string[]): Json => {
  const found = path.reduce<unknown>((at, name) => (isObject(at) ? Reflect.get(at, name) : undefined), value)
  return isObject(found) ? { ...found } : {}
}

const jsonSchemaOf = (schema: z.ZodType, io: 'input' | 'output'): Json => {
  const { $schema: _, ...rest } = z.toJSONSchema(schema, { io, unrepresentable: 'any' })
  return rest
}

const refTo = (name: string): Json => ({ $ref: `#/components/schemas/${name}` })

const mapping = (kinds: readonly { readonly type: string; readonly name: string }[]): Json => ({
  propertyName: 'type',
  mapping: Object.fromEntries(kinds.map(({ type, name }) => [type, refTo(name)['$ref']])),
})

/** `Change` as one schema for each type of the catalogue. */
const changeSchemas = (change: Json): Json => {
  const kinds = allChangeTypes.map((type) => ({ type, name: `Change${pascal(type)}` }))
  const schemas = kinds.map(({ type, name }) => {
    const { meaning, data } = changeTypes[type]
    const properties = {
      ...memberOf(change, 'properties'),
      type: { type: 'string', const: type },
      data: { anyOf: [jsonSchemaOf(data, 'output'), refTo('ErasedData')] },
    }
    return [name, { ...change, description: meaning, properties, examples: [changeExample(type)] }]
  })
  return {
    ...Object.fromEntries(schemas),
    ErasedData: {
      type: 'object',
      description: 'Instead of data from which an erased buyer had to be removed.',
      properties: { erased: { type: 'boolean', const: true } },
      required: ['erased'],
      additionalProperties: false,
    },
    Change: {
      description: 'One change, by its type.',
      oneOf: kinds.map(({ name }) => refTo(name)),
      discriminator: mapping(kinds),
    },
  }
}

/** The events of the ERP, one schema for each type. */
const erpEventSchemas = (): Json => {
  const kinds = Object.entries(erpEventKinds).map(([type, kind]) => ({ type, name: `Event${pascal(type)}`, ...kind }))
  const schemas = kinds.map(({ type, name, description, data, example }) => [
    name,
    {
      type: 'object',
      description,
      properties: {
        specversion: { type: 'string', const: '1.0' },
        id: { type: 'string', minLength: 1, description: 'Unique within its source.' },
        source: { type: 'string', minLength: 1, description: 'URI reference of the sender.' },
        type: { type: 'string', const: type },
        time: { type: 'string', format: 'date-time' },
        subject: { type: 'string' },
        datacontenttype: { type: 'string', examples: ['application/json'] },
        data: jsonSchemaOf(data, 'input'),
      },
      required: ['specversion', 'id', 'source', 'type', 'data'],
      examples: [{ specversion: '1.0', id: `${type}-4711`, source: '/erp', type, data: example }],
    },
  ])
  return {
    ...Object.fromEntries(schemas),
    ErpEvent: {
      description: 'A CloudEvent 1.0 of the ERP.',
      oneOf: kinds.map(({ name }) => refTo(name)),
      discriminator: mapping(kinds),
    },
  }
}

const header = (name: string, description: string, example: string): Json => ({
  name,
  in: 'header',
  required: false,
  description,
  schema: { type: 'string' },
  example,
})

const eventHeaders = [
  header('ce-specversion', 'Binary mode: version of CloudEvents, 1.0.', '1.0'),
  header('ce-id', 'Binary mode: id of the event, unique within its source.', 'dispatch-4711'),
  header('ce-source', 'Binary mode: URI reference of the sender.', '/erp'),
  header('ce-type', 'Binary mode: type of the event.', 'erp.order.accepted'),
  header('ce-time', 'Binary mode: when it happened, RFC 3339.', '2026-03-01T09:30:00Z'),
  header('webhook-id', 'Standard Webhooks: id of the message. Required when `EVENTS_SECRET` is set.', 'msg_4711'),
  header('webhook-timestamp', 'Standard Webhooks: seconds since 1970. Required when `EVENTS_SECRET` is set.', '1772357400'),
  header(
    'webhook-signature',
    'Standard Webhooks: `v1,` and the signature. Required when `EVENTS_SECRET` is set.',
    'v1,K5oZfzN95Z9UVu1EsfQmfVNQhnkZ2pj9o9NDN/H/pI4=',
  ),
]

/** What an endpoint of `/v1/webhooks` gets, as a request that the daemon makes. */
const postedChange = (): Json => ({
  operationId: 'receiveChange',
  tags: ['webhooks'],
  summary: 'A change, posted to an endpoint',
  description:
    'At least once, and in order for each purchase order. Every attempt and every redelivery of a message has the same `webhook-id`; verify the signature over the body as it came.',
  security: [],
  parameters: [
    {
      ...header('webhook-id', 'Id of the message; the same for each attempt.', 'wh_0123456789abcdef0123456789abcdef_4711'),
      required: true,
    },
    { ...header('webhook-timestamp', 'Seconds since 1970 of this attempt.', '1772357400'), required: true },
    {
      ...header(
        'webhook-signature',
        '`v1,` and the signature of `{id}.{timestamp}.{body}`; two of them, with a space between, while the secret is being rotated.',
        'v1,K5oZfzN95Z9UVu1EsfQmfVNQhnkZ2pj9o9NDN/H/pI4=',
      ),
      required: true,
    },
  ],
  requestBody: { required: true, content: { [eventMediaTypes.structured]: { schema: refTo('ChangeEvent') } } },
  responses: {
    '204': { description: 'Taken; any status from 200 to 299 says so.' },
    '410': { description: 'Not wanted any more: the endpoint is disabled.' },
    '429': { description: 'Later, after `Retry-After`. Every other status is a failure, and is tried again.' },
  },
})

/** Replaces what a path of members leads to; a member that is missing is made. */
const withMember = (value: unknown, [name, ...path]: readonly string[], member: unknown): unknown => {
  if (name === undefined) return member
  const object = isObject(value) ? value : {}
  return { ...object, [name]: withMember(Reflect.get(object, name), path, member) }
}

/** Names of the schemas that a part of the document refers to. */
const namedBy = (part: unknown): ReadonlySet<string> =>
  new Set([...JSON.stringify(part).matchAll(/"#\/components\/schemas\/([^"]+)"/g)].flatMap(([, name]) => name ?? []))

/** Those schemas to which something leads. */
const usedSchemas = (paths: unknown, schemas: Json): Json => {
  const used = new Set<string>()
  const pending = [...namedBy(paths)]
  for (let name = pending.pop(); name !== undefined; name = pending.pop()) {
    if (used.has(name)) continue
    used.add(name)
    pending.push(...namedBy(Reflect.get(schemas, name) ?? null))
  }
  return Object.fromEntries(Object.entries(schemas).filter(([name]) => used.has(name)))
}

/** Descriptions where an answer has none but the default. */
const described = (paths: Json): Json => {
  const text = JSON.stringify(paths, (name, value: unknown) =>
    isObject(value) && value['description'] === 'Default Response'
      ? { ...value, description: STATUS_CODES[name] ?? name }
      : value,
  )
  return memberOf(JSON.parse(text))
}

/** Completes the document as it is made of the routes. */
export const completeDocument = (document: object): Json => {
  const requests = ['paths', '/v1/events', 'post', 'requestBody', 'content'] as const
  const post = memberOf(document, 'paths', '/v1/events', 'post')
  const parameters = Array.isArray(post['parameters']) ? post['parameters'] : []
  const members: readonly (readonly [readonly string[], unknown])[] = [
    [
      ['paths', '/v1/events', 'post', 'parameters'],
      [...parameters, ...eventHeaders],
    ],
    [[...requests, eventMediaTypes.structured, 'schema'], refTo('ErpEvent')],
    [[...requests, eventMediaTypes.batch, 'schema'], { type: 'array', items: refTo('ErpEvent') }],
  ]
  const complete = memberOf(members.reduce<unknown>((at, [path, member]) => withMember(at, path, member), document))
  const components = memberOf(complete, 'components')
  const schemas = memberOf(components, 'schemas')
  const paths = described(memberOf(complete, 'paths'))
  const all = { ...schemas, ...changeSchemas(memberOf(schemas, 'Change')), ...erpEventSchemas() }
  const webhooks = { change: { post: postedChange() } }
  return { ...complete, paths, webhooks, components: { ...components, schemas: usedSchemas({ paths, webhooks }, all) } }
}
