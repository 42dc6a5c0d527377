import fc from 'fast-check'
import { z } from 'zod'
import { buildValues, hostileText, type JsonSchema } from './values.ts'

/** A request as it goes over the wire. */
export interface HostileRequest {
  readonly method: string
  /** Path and query, ready to be sent. */
  readonly target: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: Uint8Array | null
}

const parameterSchema = z.object({ name: z.string(), in: z.string(), schema: z.custom<JsonSchema>().optional() })
const operationSchema = z.object({
  parameters: z.array(parameterSchema).default([]),
  requestBody: z.object({ content: z.record(z.string(), z.object({ schema: z.custom<JsonSchema>().optional() })) }).optional(),
})
const documentSchema = z.object({
  paths: z.record(z.string(), z.record(z.string(), operationSchema)),
  components: z.object({ schemas: z.record(z.string(), z.custom<JsonSchema>()).default({}) }).optional(),
})

// Half a character cannot be written in UTF-8; it goes out as bytes that are none.
const encode = (text: string): string =>
  text.isWellFormed() ? encodeURIComponent(text) : encodeURIComponent(text.toWellFormed()).replaceAll('%EF%BF%BD', '%ED%A0%80')

const asText = (value: unknown): string => (typeof value === 'string' ? value : (JSON.stringify(value) ?? ''))

const seldom = <T>(arbitrary: fc.Arbitrary<T>): fc.Arbitrary<T | null> =>
  fc.oneof({ weight: 5, arbitrary: fc.constant(null) }, { weight: 1, arbitrary })

/** Bytes in place of a body that is what it says. */
const brokenBytes = fc.oneof(
  fc.uint8Array({ maxLength: 64 }),
  fc
    .constantFrom('{', '[1,', '{"a":1,"a":2}', '\ufeff{}', '{"__proto__":{"x":1}}', '', 'null', '"x"', '1e999', '<x/>', 'a=1&b=2')
    .map((text) => new TextEncoder().encode(text)),
  fc.integer({ min: 1_000, max: 50_000 }).map((depth) => new TextEncoder().encode('['.repeat(depth) + ']'.repeat(depth))),
)

const mediaTypes = [
  'application/json',
  'application/cloudevents+json',
  'application/cloudevents-batch+json',
  'application/xml',
  'application/x-www-form-urlencoded',
  'text/plain',
  'application/json; charset=utf-16',
  'nonsense',
]

/** Requests to every route that an OpenAPI document names, each as the document says or in ways that it does not. `texts`: names of what is there. */
export const buildRequests = (document: unknown, texts: readonly string[]): fc.Arbitrary<HostileRequest> => {
  const { paths, components } = documentSchema.parse(document)
  const resolve = (ref: string): JsonSchema => components?.schemas[ref.slice(ref.lastIndexOf('/') + 1)] ?? {}
  const values = (schema: JsonSchema | undefined): fc.Arbitrary<unknown> => buildValues(schema ?? {}, resolve, texts)
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => {
      const query = operation.parameters.filter((parameter) => parameter.in === 'query')
      const content = Object.entries(operation.requestBody?.content ?? {})
      const bodies = content.map(([type, { schema }]) =>
        values(schema).map((value) => ({ type, bytes: new TextEncoder().encode(JSON.stringify(value) ?? '') })),
      )
      const broken = fc.record({ type: fc.constantFrom(...mediaTypes), bytes: brokenBytes })
      const none = fc.constant(null)
      return fc
        .record({
          inPath: fc.array(fc.oneof({ weight: 4, arbitrary: fc.constantFrom(...texts) }, { weight: 1, arbitrary: hostileText }), {
            minLength: 4,
            maxLength: 4,
          }),
          asked: fc.tuple(...query.map(({ name, schema }) => seldom(values(schema).map((value) => [name, value] as const)))),
          unknown: seldom(seldom(fc.tuple(hostileText, hostileText))),
          body:
            method === 'get'
              ? fc.oneof({ weight: 9, arbitrary: none }, broken)
              : fc.oneof({ weight: 4, arbitrary: bodies.length > 0 ? fc.oneof(...bodies) : none }, broken),
          accept: fc.constantFrom('*/*', 'application/json', 'text/csv', 'text/event-stream', 'x'),
          lastEventId: seldom(hostileText),
        })
        .map(({ inPath, asked, unknown, body, accept, lastEventId }): HostileRequest => {
          let at = 0
          const filled = path.replaceAll(/\{[^}]+\}/g, () => {
            at += 1
            return encode(inPath[at - 1] ?? '')
          })
          const pairs = [...asked.flatMap((pair) => (pair === null ? [] : [pair])), ...(unknown === null ? [] : [unknown])]
          const search = pairs.map(([name, value]) => `${encode(name)}=${encode(asText(value))}`).join('&')
          // What a header may not hold cannot be sent as one.
          const id = (lastEventId ?? '').replaceAll(/[^\x20-\x7e]/g, '')
          return {
            method: method.toUpperCase(),
            target: search === '' ? filled : `${filled}?${search}`,
            headers: {
              accept,
              ...(body === null ? {} : { 'content-type': body.type }),
              ...(id === '' ? {} : { 'last-event-id': id.slice(0, 200) }),
            },
            body: body?.bytes ?? null,
          }
        })
    }),
  )
  return fc.oneof(...operations)
}
