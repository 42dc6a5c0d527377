import type { FastifySchemaCompiler, FastifySerializerCompiler } from 'fastify'
import { createJsonSchemaTransform, createJsonSchemaTransformObject, createSerializerCompiler } from 'fastify-type-provider-zod'
import { type core, z } from 'zod'
import { type ProblemFault, pathText } from './problems.ts'

/** A request that does not fit the schema of its route; `part` is `body`, `querystring`, `params` or `headers`. */
export class InvalidRequest extends Error {
  override readonly name = 'InvalidRequest'
  readonly part: string
  readonly faults: readonly ProblemFault[]
  constructor(part: string, faults: readonly ProblemFault[]) {
    super('the request does not fit the schema of its route')
    this.part = part
    this.faults = faults
  }
}

const partNames: Readonly<Record<string, string>> = { querystring: 'query', params: 'path', headers: 'headers' }

/** Checks a part of a request with its zod schema; every fault with its path, which for a body begins in the body itself. */
export const validatorCompiler: FastifySchemaCompiler<core.$ZodType> =
  ({ schema, httpPart = 'body' }) =>
  (data) => {
    const result = z.safeParse(schema, data)
    if (result.success) return { value: result.data }
    const prefix = partNames[httpPart]
    const faults = result.error.issues.flatMap((issue) => {
      const paths = issue.code === 'unrecognized_keys' ? issue.keys.map((key) => [...issue.path, key]) : [issue.path]
      return paths.map((path) => ({
        path: pathText(prefix === undefined ? path : [prefix, ...path]),
        message: issue.code === 'unrecognized_keys' ? 'is unknown' : issue.message,
      }))
    })
    return { error: new InvalidRequest(httpPart, faults) }
  }

/** Checks an answer with its zod schema and writes it as JSON; a bigint becomes text, a date ISO 8601. */
export const serializerCompiler: FastifySerializerCompiler<core.$ZodType | { properties: core.$ZodType }> =
  createSerializerCompiler({
    replacer: (_key, value: unknown) => (typeof value === 'bigint' ? value.toString() : value),
  })

// What JSON has no word for, as it goes over the wire.
const zodToJsonConfig: Parameters<typeof createJsonSchemaTransform>[0]['zodToJsonConfig'] = {
  unrepresentable: 'any',
  override: ({ zodSchema, jsonSchema }) => {
    const { type } = zodSchema._zod.def
    if (type === 'date') Object.assign(jsonSchema, { type: 'string', format: 'date-time' })
    if (type === 'bigint') Object.assign(jsonSchema, { type: 'string', pattern: String.raw`^\d+$` })
  },
}

/** Turns the zod schemas of a route into its part of the OpenAPI document. */
export const openapiTransform = createJsonSchemaTransform({ zodToJsonConfig })
/** Adds the named zod schemas to the OpenAPI document. */
export const openapiTransformObject = createJsonSchemaTransformObject({ zodToJsonConfig })
