import { type Attributes, context, isSpanContextValid, propagation, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api'

// Only the API: without an SDK (`node --import …`) every span is a no-op with negligible cost.
const tracer = trace.getTracer('tallyman')

/** Ids of the active span, as fields of a log line; empty if there is none. A new object each time, since pino modifies it. */
export const activeTraceIds = (): object => {
  const spanContext = trace.getActiveSpan()?.spanContext()
  return spanContext !== undefined && isSpanContextValid(spanContext)
    ? { trace_id: spanContext.traceId, span_id: spanContext.spanId }
    : {}
}

/** The active trace as a text that is stored with a job; null if there is no trace. */
export const serializeTrace = (): string | null => {
  const carrier: Record<string, string> = {}
  propagation.inject(context.active(), carrier)
  return Object.keys(carrier).length === 0 ? null : JSON.stringify(carrier)
}

const deserializeTrace = (text: string | null) => {
  if (text === null) return context.active()
  try {
    return propagation.extract(context.active(), JSON.parse(text))
  } catch {
    // The stored text is not trusted: another program may have added the job. If it is unreadable, only the link is lost.
    return context.active()
  }
}

/** A span to start. */
export interface SpanOptions {
  readonly kind: 'producer' | 'consumer' | 'client' | 'internal'
  readonly attributes?: Attributes
  /** The result of `serializeTrace` at the time of the request. */
  readonly parent?: string | null
}

const kinds = {
  producer: SpanKind.PRODUCER,
  consumer: SpanKind.CONSUMER,
  client: SpanKind.CLIENT,
  internal: SpanKind.INTERNAL,
} as const

/** Runs `work` inside a span; its failure marks the span with `error.type` and is rethrown. */
export const inSpan = async <Result>(name: string, options: SpanOptions, work: () => Promise<Result>): Promise<Result> =>
  tracer.startActiveSpan(
    name,
    { kind: kinds[options.kind], ...(options.attributes === undefined ? {} : { attributes: options.attributes }) },
    deserializeTrace(options.parent ?? null),
    async (span) => {
      try {
        return await work()
      } catch (error) {
        span.setAttribute('error.type', error instanceof Error ? error.name : typeof error)
        span.setStatus({ code: SpanStatusCode.ERROR })
        throw error
      } finally {
        span.end()
      }
    },
  )

/** Adds a span that has already ended: `durationMs` long until now. */
export const recordSpan = (
  name: string,
  { kind, attributes, failed, durationMs }: Pick<SpanOptions, 'kind' | 'attributes'> & { failed: boolean; durationMs: number },
): void => {
  const endedMs = Date.now()
  const span = tracer.startSpan(name, {
    kind: kinds[kind],
    startTime: endedMs - durationMs,
    ...(attributes === undefined ? {} : { attributes }),
  })
  if (failed) span.setStatus({ code: SpanStatusCode.ERROR })
  span.end(endedMs)
}

/** The span of a request that the daemon answers. */
export interface ServerSpan {
  /** Runs `work` with this span as the active one. */
  enter(work: () => void): void
  /** Ends it with the status of the answer. */
  end(status: number): void
}

/**
 * Begins the span of a request in the trace of its caller, whom the headers `traceparent` and `tracestate` name. Null: no SDK is loaded. A span that
 * the sampler leaves out is entered too: jobs and requests that follow are left out with it, and do not begin traces of their own.
 * The header `baggage` is not read: its content would be stored with each job.
 */
export const startServerSpan = (
  name: string,
  { traceparent, tracestate }: Readonly<Record<string, string | readonly string[] | undefined>>,
  attributes: Attributes,
): ServerSpan | null => {
  const parent = propagation.extract(context.active(), { traceparent, tracestate })
  const span = tracer.startSpan(name, { kind: SpanKind.SERVER, attributes }, parent)
  if (!isSpanContextValid(span.spanContext())) return null
  return {
    enter: (work) => context.with(trace.setSpan(parent, span), work),
    end: (status) => {
      span.setAttribute('http.response.status_code', status)
      if (status >= 500) span.setStatus({ code: SpanStatusCode.ERROR })
      span.end()
    },
  }
}

/** Attributes of a span about a job, by the semantic conventions for messaging (v1.44). */
export const messagingAttributes = (
  operation: 'send' | 'process',
  queue: string,
  job: { readonly id?: string; readonly name: string; readonly batchSize?: number },
): Attributes => ({
  'messaging.system': 'bullmq',
  'messaging.operation.name': operation,
  'messaging.operation.type': operation,
  'messaging.destination.name': queue,
  'tallyman.job.name': job.name,
  ...(job.id === undefined ? {} : { 'messaging.message.id': job.id }),
  ...(job.batchSize === undefined ? {} : { 'messaging.batch.message_count': job.batchSize }),
})
