import { z } from 'zod'

/** A tool for agents that reads one path of the HTTP interface. */
export interface ReadTool {
  /** Name of the operation, such as `listOrders`. */
  readonly name: string
  readonly description: string
  /** JSON Schema of its arguments: the parameters of the path and of the query. */
  readonly inputSchema: { readonly type: 'object'; readonly [member: string]: unknown }
  /** `/v1/orders/{purchaseOrderId}`. */
  readonly path: string
  readonly parameters: readonly string[]
  /** Arguments that are always sent; an agent cannot set them. */
  readonly fixed: Readonly<Record<string, boolean>>
  /** Number of records that a list returns if the agent does not state one; null: it is no list. */
  readonly defaultLimit: number | null
}

const parameterSchema = z.looseObject({
  name: z.string(),
  in: z.string(),
  required: z.boolean().optional(),
  description: z.string().optional(),
  schema: z.record(z.string(), z.unknown()),
})

const operationSchema = z.looseObject({
  operationId: z.string(),
  description: z.string().optional(),
  security: z.array(z.record(z.string(), z.array(z.string()))).optional(),
  parameters: z.array(parameterSchema).default([]),
  responses: z.looseObject({ 200: z.looseObject({ content: z.record(z.string(), z.unknown()).optional() }).optional() }),
})

const documentSchema = z.looseObject({
  paths: z.record(z.string(), z.looseObject({ get: operationSchema.optional() })),
})

/** Parameters that hide buyers' data: always true. */
const masking = 'masked'
/** Agents read what they are given: pages are short unless they ask for more. */
const agentLimit = 20

const buildTool = (path: string, { operationId, description, parameters }: z.infer<typeof operationSchema>): ReadTool => {
  const own = parameters.filter(
    (parameter) => (parameter.in === 'path' || parameter.in === 'query') && parameter.name !== masking,
  )
  const isList = own.some(({ name }) => name === 'cursor')
  const properties = Object.fromEntries(
    own.map(({ name, schema, description: meaning }) => [
      name,
      {
        ...schema,
        ...(meaning === undefined ? {} : { description: meaning }),
        ...(isList && name === 'limit' ? { default: agentLimit } : {}),
      },
    ]),
  )
  return {
    name: operationId,
    description: `${description ?? operationId} (GET ${path})`,
    inputSchema: {
      type: 'object',
      properties,
      required: own.filter((parameter) => parameter.in === 'path' || parameter.required === true).map(({ name }) => name),
      additionalProperties: false,
    },
    path,
    parameters: own.map(({ name }) => name),
    fixed: parameters.some(({ name }) => name === masking) ? { [masking]: true } : {},
    defaultLimit: isList ? agentLimit : null,
  }
}

/** The tools of an OpenAPI document: every GET under `/v1` that answers JSON and that a key with the scope `read` may call. */
export const buildReadTools = (document: unknown): readonly ReadTool[] =>
  Object.entries(documentSchema.parse(document).paths).flatMap(([path, { get }]) => {
    if (get === undefined || !path.startsWith('/v1/')) return []
    const needsRead = get.security?.some((requirement) => requirement['apiKey']?.includes('read')) === true
    const hasJson = get.responses[200]?.content?.['application/json'] !== undefined
    return needsRead && hasJson ? [buildTool(path, get)] : []
  })

const valueSchema = z.union([z.string(), z.number(), z.boolean()], 'must be a text, a number or a boolean')
/** Arguments of a tool that reads. */
export const readArgumentsSchema = z.record(z.string(), valueSchema)

/** The path and the query of a call; a text: what is wrong with its arguments. */
export const buildReadRequest = (
  { path, parameters, fixed, defaultLimit }: Pick<ReadTool, 'path' | 'parameters' | 'fixed' | 'defaultLimit'>,
  values: z.infer<typeof readArgumentsSchema>,
): { readonly path: string; readonly query: Readonly<Record<string, string | number | boolean>> } | string => {
  const unknown = Object.keys(values).filter((name) => !parameters.includes(name))
  if (unknown.length > 0) return `unknown arguments: ${unknown.join(', ')}; accepted: ${parameters.join(', ') || 'none'}`
  const inPath = [...path.matchAll(/\{(\w+)\}/g)].flatMap(([, name]) => name ?? [])
  // A browser's URL parser would resolve these.
  const missing = inPath.filter((name) => ['', '.', '..'].includes(String(values[name] ?? '')))
  if (missing.length > 0) return `arguments are missing: ${missing.join(', ')}`
  const query = Object.entries(values).filter(([name]) => !inPath.includes(name))
  return {
    path: path.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(String(values[name]))),
    query: { ...(defaultLimit === null ? {} : { limit: defaultLimit }), ...Object.fromEntries(query), ...fixed },
  }
}
