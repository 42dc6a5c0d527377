import { once } from 'node:events'
import { createServer } from 'node:http'
import { z } from 'zod'

const attributesSchema = z
  .array(z.object({ key: z.string(), value: z.record(z.string(), z.unknown()) }))
  .default([])
  .transform((list) => Object.fromEntries(list.map(({ key, value }) => [key, Object.values(value)[0]])))
const spanSchema = z.object({
  traceId: z.string(),
  spanId: z.string(),
  parentSpanId: z.string().optional(),
  name: z.string(),
  attributes: attributesSchema,
})
const logRecordSchema = z.object({
  traceId: z.string().optional(),
  severityText: z.string().optional(),
  body: z.object({ stringValue: z.string() }),
  attributes: attributesSchema,
})
const scoped = <Schema extends z.ZodType>(of: string, list: string, item: Schema) =>
  z
    .record(z.string(), z.unknown())
    .transform((body) => z.array(z.record(z.string(), z.unknown())).catch([]).parse(body[`resource${of}`]))
    .transform((resources) =>
      resources.flatMap((resource) => z.array(z.record(z.string(), z.unknown())).parse(resource[`scope${of}`])),
    )
    .transform((scopes) => scopes.flatMap((scope) => z.array(item).parse(scope[list])))

const routes = {
  '/v1/traces': scoped('Spans', 'spans', spanSchema),
  '/v1/logs': scoped('Logs', 'logRecords', logRecordSchema),
  '/v1/metrics': scoped('Metrics', 'metrics', z.object({ name: z.string() })),
} as const

/** An OpenTelemetry collector for tests, which keeps what it is sent (OTLP over HTTP, as JSON). */
export interface TestCollector {
  readonly url: string
  readonly spans: z.infer<typeof spanSchema>[]
  readonly logRecords: z.infer<typeof logRecordSchema>[]
  readonly metricNames: Set<string>
  stop(): Promise<void>
}

/** Starts one on a free port. */
export const startTestCollector = async (): Promise<TestCollector> => {
  const spans: TestCollector['spans'] = []
  const logRecords: TestCollector['logRecords'] = []
  const metricNames = new Set<string>()
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const body: unknown = JSON.parse(Buffer.concat(chunks).toString('utf8'))
      if (request.url === '/v1/traces') spans.push(...routes['/v1/traces'].parse(body))
      if (request.url === '/v1/logs') logRecords.push(...routes['/v1/logs'].parse(body))
      if (request.url === '/v1/metrics') for (const { name } of routes['/v1/metrics'].parse(body)) metricNames.add(name)
      response.setHeader('content-type', 'application/json').end('{}')
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('the collector has no port')
  return {
    url: `http://127.0.0.1:${address.port}`,
    spans,
    logRecords,
    metricNames,
    stop: async () => {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}
