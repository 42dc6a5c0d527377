import type { FastifySchemaCompiler, FastifySerializerCompiler } from 'fastify'
import { createJsonSchemaTransform, createJsonSchemaTransformObject, createSerializerCompiler } from 'fastify-type-provider-zod'
import { type core, z } from 'zod'
import { unstorable } from '../../domain/values/text.ts'
import { type ProblemFault, pathText } from '../problems.ts'

/** A request that does not match the schema of its route; `part` is `body`, `querystring`, `params` or `headers`. */
export class InvalidRequest extends Error {
  override readonly name = 'InvalidRequest'
  readonly part: string
  readonly faults: readonly ProblemFault[]
  constructor(part: string, faults: readonly ProblemFault[]) {
    super('the request does not match the schema of its route')
    this.part = part
    this.faults = faults
  }
}

const partNames: Readonly<Record<string, string>> = { querystring: 'query', params: 'path', headers: 'headers' }

/** Texts in a validated part of a request that Postgres can neither store nor search for. */
const findTextFaults = (value: unknown, path: readonly PropertyKey[]): { path: readonly PropertyKey[]; message: string }[] => {
  if (typeof value === 'string') {
    const message = unstorable(value)
    return message === null ? [] : [{ path, message }]
  }
  if (Array.isArray(value)) return value.flatMap((item: unknown, index) => findTextFaults(item, [...path, index]))
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([name, member]) => findTextFaults(member, [...path, name]))
}

/** Validates a part of a request with its zod schema, and that Postgres can store its texts. Every error has its path; in bodies relative to the body. */
export const validatorCompiler: FastifySchemaCompiler<core.$ZodType> =
  ({ schema, httpPart = 'body' }) =>
  (data) => {
    const result = z.safeParse(schema, data)
    const prefix = partNames[httpPart]
    const formatPath = (path: readonly PropertyKey[]): string => pathText(prefix === undefined ? path : [prefix, ...path])
    if (result.success) {
      // A cursor has its own problem (`invalid-cursor`), after it is decoded.
      const isCursor = ({ path }: { path: readonly PropertyKey[] }) => httpPart === 'querystring' && path[0] === 'cursor'
      const found = findTextFaults(result.data, []).filter((fault) => !isCursor(fault))
      const faults = found.map(({ path, message }) => ({ path: formatPath(path), message }))
      return faults.length === 0 ? { value: result.data } : { error: new InvalidRequest(httpPart, faults) }
    }
    const faults = result.error.issues.flatMap((issue) => {
      const paths = issue.code === 'unrecognized_keys' ? issue.keys.map((key) => [...issue.path, key]) : [issue.path]
      return paths.map((path) => ({
        path: formatPath(path),
        message: issue.code === 'unrecognized_keys' ? 'is unknown' : issue.message,
      }))
    })
    return { error: new InvalidRequest(httpPart, faults) }
  }

/** Validates an answer with its zod schema and serializes it as JSON; a bigint becomes text, a date ISO 8601. */
export const serializerCompiler: FastifySerializerCompiler<core.$ZodType | { properties: core.$ZodType }> =
  createSerializerCompiler({
    replacer: (_key, value: unknown) => (typeof value === 'bigint' ? value.toString() : value),
  })

// JSON Schema of types without a JSON type, as they are serialized.
const zodToJsonConfig: Parameters<typeof createJsonSchemaTransform>[0]['zodToJsonConfig'] = {
  unrepresentable: 'any',
  override: ({ zodSchema, jsonSchema }) => {
    const { type } = zodSchema._zod.def
    if (type === 'date') Object.assign(jsonSchema, { type: 'string', format: 'date-time' })
    if (type === 'bigint') Object.assign(jsonSchema, { type: 'string', pattern: String.raw`^\d+$` })
  },
}

/** Converts the zod schemas of a route into its part of the OpenAPI document. */
export const openapiTransform = createJsonSchemaTransform({ zodToJsonConfig })
/** Adds the named zod schemas to the OpenAPI document. */
export const openapiTransformObject = createJsonSchemaTransformObject({ zodToJsonConfig })
