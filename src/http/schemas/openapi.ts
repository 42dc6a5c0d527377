import { STATUS_CODES } from 'node:http'
import type { FastifyInstance } from 'fastify'
import { z } from 'zod'
import { allChangeTypes, changeTypes } from '../../domain/changes/catalogue.ts'
import { isObject } from '../../domain/values/values.ts'
import { eventMediaTypes } from '../cloud-events.ts'
import { changeExample, erpEventKinds, eventExample, requestExample } from './openapi-examples.ts'

// Parts of the OpenAPI document that are not in the schemas of the routes: names of operations, headers, schemas of events and changes.

/** Descriptions of the tags. */
export const tagDescriptions = {
  events: 'Events of the ERP, and their results.',
  proposals: 'Events that programs propose, and the decisions of people.',
  notifications: 'Webhooks of the marketplace.',
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
  audit: 'Actions of operators.',
  inventory: 'Inventory reports compared with the inventory log.',
  alarms: 'Conditions that need an operator.',
  retention: 'How long data is kept.',
  sessions: 'Sign-in of people at the console.',
  settings: 'The effective settings and their sources.',
  health: 'Liveness, readiness and metrics.',
  demonstration: 'What only a demonstration has.',
} as const

const pascal = (part: string): string =>
  part
    .split(/[-_.]/)
    .map((word) => `${word.charAt(0).toUpperCase()}${word.slice(1)}`)
    .join('')
const singular = (part: string): string => pascal(part.endsWith('s') && !part.endsWith('ss') ? part.slice(0, -1) : part)

const verbs: Readonly<Record<string, string>> = { GET: 'get', POST: 'create', PATCH: 'update', PUT: 'replace', DELETE: 'delete' }

/** The name of an operation: `listOrders`, `getOrder`, `confirmCommand`, `listSyncRuns`. */
export const buildOperationId = (method: string, url: string, isList: boolean): string => {
  const parts = url.split('/').filter((part) => part !== '' && part !== 'v1')
  const names = parts.filter((part) => !part.startsWith(':'))
  const [first = 'root', ...actions] = names
  const isOfOne = parts.length > names.length
  const action = actions.map(pascal).join('')
  if (isList) return isOfOne ? `list${singular(first)}${action}` : `list${pascal(first)}${action}`
  const subject = isOfOne ? singular(first) : pascal(first)
  if (actions.length > 0 && method === 'POST') return `${action.charAt(0).toLowerCase()}${action.slice(1)}${subject}`
  const verb = verbs[method] ?? method.toLowerCase()
  return `${verb}${method === 'POST' && !isOfOne ? singular(first) : subject}${action}`
}

/** Names every operation that is added after this call, and describes it by its summary if it has no description. */
export const nameOperations = (app: Pick<FastifyInstance, 'addHook'>): void => {
  app.addHook('onRoute', (route) => {
    const { schema } = route
    if (schema === undefined || schema.hide === true) return
    const { querystring, summary } = schema
    const isList = querystring instanceof z.ZodObject && 'cursor' in querystring.shape
    const method = String([route.method].flat()[0])
    route.schema = {
      ...schema,
      operationId: schema.operationId ?? buildOperationId(method, route.url, isList),
      ...(summary === undefined ? {} : { description: schema.description ?? `${summary}.` }),
    }
  })
}

type Json = Record<string, unknown>

const findMember = (value: unknown, ...path: readonly string[]): Json => {
  const found = path.reduce<unknown>((at, name) => (isObject(at) ? Reflect.get(at, name) : undefined), value)
  return isObject(found) ? { ...found } : {}
}

const buildJsonSchema = (schema: z.ZodType, io: 'input' | 'output'): Json => {
  const { $schema: _, ...rest } = z.toJSONSchema(schema, { io, unrepresentable: 'any' })
  return rest
}

const refTo = (name: string): Json => ({ $ref: `#/components/schemas/${name}` })

const buildDiscriminator = (kinds: readonly { readonly type: string; readonly name: string }[]): Json => ({
  propertyName: 'type',
  mapping: Object.fromEntries(kinds.map(({ type, name }) => [type, refTo(name)['$ref']])),
})

/** `Change` as one schema for each type of the catalogue. */
const buildChangeSchemas = (change: Json): Json => {
  const kinds = allChangeTypes.map((type) => ({ type, name: `Change${pascal(type)}` }))
  const schemas = kinds.map(({ type, name }) => {
    const { meaning, data } = changeTypes[type]
    const properties = {
      ...findMember(change, 'properties'),
      type: { type: 'string', const: type },
      data: { anyOf: [buildJsonSchema(data, 'output'), refTo('ErasedData')] },
    }
    return [name, { ...change, description: meaning, properties, examples: [changeExample(type)] }]
  })
  return {
    ...Object.fromEntries(schemas),
    ErasedData: {
      type: 'object',
      description: 'Replaces data from which an erased buyer had to be removed.',
      properties: { erased: { type: 'boolean', const: true } },
      required: ['erased'],
      additionalProperties: false,
    },
    Change: {
      description: 'One change, by its type.',
      oneOf: kinds.map(({ name }) => refTo(name)),
      discriminator: buildDiscriminator(kinds),
    },
  }
}

/** The events of the ERP, one schema for each type. */
const buildEventSchemas = (): Json => {
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
        data: buildJsonSchema(data, 'input'),
      },
      required: ['specversion', 'id', 'source', 'type', 'data'],
      examples: [eventExample(type, example)],
    },
  ])
  return {
    ...Object.fromEntries(schemas),
    ErpEvent: {
      description: 'A CloudEvent 1.0 of the ERP.',
      oneOf: kinds.map(({ name }) => refTo(name)),
      discriminator: buildDiscriminator(kinds),
    },
  }
}

const buildHeader = (name: string, description: string): Json => ({
  name,
  in: 'header',
  required: false,
  description,
  schema: { type: 'string' },
})

// Without examples: Swagger UI would fill them in, and any of these headers changes the mode of the request.
const eventHeaders = [
  buildHeader('ce-specversion', 'Binary mode: version of CloudEvents, `1.0`.'),
  buildHeader('ce-id', 'Binary mode: id of the event, unique within its source, such as `dispatch-4711`.'),
  buildHeader('ce-source', 'Binary mode: URI reference of the sender, such as `/erp`.'),
  buildHeader('ce-type', 'Binary mode: type of the event, such as `erp.order.accepted`.'),
  buildHeader('ce-time', 'Binary mode: when it happened, RFC 3339, such as `2026-03-01T09:30:00Z`.'),
  buildHeader('webhook-id', 'Standard Webhooks: id of the message. Required when `EVENTS_SECRET` is set.'),
  buildHeader('webhook-timestamp', 'Standard Webhooks: seconds since 1970. Required when `EVENTS_SECRET` is set.'),
  buildHeader('webhook-signature', 'Standard Webhooks: `v1,` and the signature in Base64. Required when `EVENTS_SECRET` is set.'),
]

/** The request that the daemon sends to an endpoint of `/v1/webhooks`. */
const buildWebhookOperation = (): Json => ({
  operationId: 'receiveChange',
  tags: ['webhooks'],
  summary: 'A change, posted to an endpoint',
  description:
    'At least once, and in order for each purchase order. Every attempt and every redelivery of a message has the same `webhook-id`; verify the signature over the body as received.',
  security: [],
  parameters: [
    {
      ...buildHeader('webhook-id', 'Id of the message; the same for each attempt.'),
      required: true,
      example: 'wh_0123456789abcdef0123456789abcdef_4711',
    },
    { ...buildHeader('webhook-timestamp', 'Seconds since 1970 of this attempt.'), required: true, example: '1772357400' },
    {
      ...buildHeader(
        'webhook-signature',
        '`v1,` and the signature of `{id}.{timestamp}.{body}`; two of them, with a space between, while the secret is being rotated.',
      ),
      required: true,
      example: 'v1,K5oZfzN95Z9UVu1EsfQmfVNQhnkZ2pj9o9NDN/H/pI4=',
    },
  ],
  requestBody: { required: true, content: { [eventMediaTypes.structured]: { schema: refTo('ChangeEvent') } } },
  responses: {
    '204': { description: 'Accepted; any status from 200 to 299 means so.' },
    '410': { description: 'No longer wanted: the endpoint is disabled.' },
    '429': { description: 'Retried after `Retry-After`. Every other status is a failure and is retried.' },
  },
})

/** Replaces the member at a path; creates missing objects on the path. */
const withMember = (value: unknown, [name, ...path]: readonly string[], member: unknown): unknown => {
  if (name === undefined) return member
  const object = isObject(value) ? value : {}
  return { ...object, [name]: withMember(Reflect.get(object, name), path, member) }
}

/** Names of the schemas that a part of the document refers to. */
const findReferences = (part: unknown): ReadonlySet<string> =>
  new Set([...JSON.stringify(part).matchAll(/"#\/components\/schemas\/([^"]+)"/g)].flatMap(([, name]) => name ?? []))

/** The schemas that the paths refer to, directly or indirectly. */
const selectUsedSchemas = (paths: unknown, schemas: Json): Json => {
  const used = new Set<string>()
  const pending = [...findReferences(paths)]
  for (let name = pending.pop(); name !== undefined; name = pending.pop()) {
    if (used.has(name)) continue
    used.add(name)
    pending.push(...findReferences(Reflect.get(schemas, name) ?? null))
  }
  return Object.fromEntries(Object.entries(schemas).filter(([name]) => used.has(name)))
}

/** Replaces default descriptions of answers by the text of their status. */
const addResponseDescriptions = (paths: Json): Json => {
  const text = JSON.stringify(paths, (name, value: unknown) =>
    isObject(value) && value['description'] === 'Default Response'
      ? { ...value, description: STATUS_CODES[name] ?? name }
      : value,
  )
  return findMember(JSON.parse(text))
}

const isFlag = (schema: unknown): boolean =>
  isObject(schema) && JSON.stringify(schema['enum']) === JSON.stringify(['true', 'false'])

/** A flag in a query: a boolean for programs, or its text. */
const buildFlag = ({ type: _, enum: texts, ...rest }: Json): Json => ({
  ...rest,
  anyOf: [{ type: 'boolean' }, { type: 'string', enum: texts }],
})

/**
 * The paths with booleans for flags, and with JSON as the only form of an answer that has it. With several forms, each answer of a generated client
 * would be an object or text. The descriptions name the other forms.
 */
const simplifyForClients = (paths: Json): Json => {
  const text = JSON.stringify(paths, (_name, value: unknown) => {
    if (!isObject(value)) return value
    if (value['in'] === 'query' && isFlag(value['schema'])) return { ...value, schema: buildFlag(findMember(value, 'schema')) }
    const json = findMember(value, 'content', 'application/json')
    const isAnswer = typeof value['description'] === 'string' && !('required' in value)
    return isAnswer && 'schema' in json ? { ...value, content: { 'application/json': json } } : value
  })
  return findMember(JSON.parse(text))
}

/** Completes the document that is generated of the routes. */
export const completeDocument = (document: object): Json => {
  const requests = ['paths', '/v1/events', 'post', 'requestBody', 'content'] as const
  const post = findMember(document, 'paths', '/v1/events', 'post')
  const parameters = Array.isArray(post['parameters']) ? post['parameters'] : []
  const members: readonly (readonly [readonly string[], unknown])[] = [
    [
      ['paths', '/v1/events', 'post', 'parameters'],
      [...parameters, ...eventHeaders],
    ],
    [[...requests, eventMediaTypes.json, 'example'], requestExample],
    [[...requests, eventMediaTypes.structured], { schema: refTo('ErpEvent'), example: requestExample }],
    [[...requests, eventMediaTypes.batch], { schema: { type: 'array', items: refTo('ErpEvent') }, example: [requestExample] }],
  ]
  const complete = findMember(members.reduce<unknown>((at, [path, member]) => withMember(at, path, member), document))
  const components = findMember(complete, 'components')
  const schemas = findMember(components, 'schemas')
  const paths = simplifyForClients(addResponseDescriptions(findMember(complete, 'paths')))
  const all = { ...schemas, ...buildChangeSchemas(findMember(schemas, 'Change')), ...buildEventSchemas() }
  const webhooks = { change: { post: buildWebhookOperation() } }
  return { ...complete, paths, webhooks, components: { ...components, schemas: selectUsedSchemas({ paths, webhooks }, all) } }
}
