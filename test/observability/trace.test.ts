import { AsyncLocalStorage } from 'node:async_hooks'
import {
  type Attributes,
  type Context,
  type ContextManager,
  context,
  INVALID_SPAN_CONTEXT,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  type SpanOptions,
  trace,
} from '@opentelemetry/api'
import { afterAll, describe, expect, test } from 'vitest'
import { createLogger } from '../../src/observability/log.ts'
import { activeTraceIds, inSpan, messagingAttributes, serializeTrace } from '../../src/observability/trace.ts'

// The least that an SDK does, so that spans can be seen.
const record = () => {
  const spans: { name: string; kind: SpanKind | undefined; attributes: Attributes; failed: boolean; ended: boolean }[] = []
  const storage = new AsyncLocalStorage<Context>()
  const manager: ContextManager = {
    active: () => storage.getStore() ?? ROOT_CONTEXT,
    with: (active, work, self, ...args) => storage.run(active, () => work.apply(self, args)),
    bind: (_active, target) => target,
    enable: () => manager,
    disable: () => manager,
  }
  const start = (name: string, options: SpanOptions): Span => {
    const seen = { name, kind: options.kind, attributes: { ...options.attributes }, failed: false, ended: false }
    spans.push(seen)
    const span: Span = {
      spanContext: () => ({ traceId: '1'.repeat(32), spanId: '2'.repeat(16), traceFlags: 1 }),
      setAttribute: (key, value) => {
        seen.attributes[key] = value
        return span
      },
      setAttributes: () => span,
      addEvent: () => span,
      addLink: () => span,
      addLinks: () => span,
      setStatus: () => {
        seen.failed = true
        return span
      },
      updateName: () => span,
      end: () => {
        seen.ended = true
      },
      isRecording: () => true,
      recordException: () => undefined,
    }
    return span
  }
  context.setGlobalContextManager(manager)
  trace.setGlobalTracerProvider({
    getTracer: () => ({
      startSpan: start,
      startActiveSpan: (name: string, ...rest: unknown[]) => {
        const work = rest.at(-1)
        const [options] = rest
        if (typeof work !== 'function') throw new TypeError('no work')
        const span = start(name, typeof options === 'object' && options !== null ? options : {})
        return context.with(trace.setSpan(context.active(), span), () => work(span))
      },
    }),
  })
  return spans
}

describe('traces', () => {
  // Once, at the end: `disable` cuts off tracers that were handed out before.
  afterAll(() => {
    trace.disable()
    context.disable()
  })

  test('without an SDK nothing is traced, and nothing is added to log lines', async () => {
    expect(await inSpan('process sync', { kind: 'consumer', parent: 'not JSON' }, async () => serializeTrace())).toBeNull()
    expect(activeTraceIds()).toEqual({})
    expect(trace.wrapSpanContext(INVALID_SPAN_CONTEXT).isRecording()).toBe(false)
  })

  test('a span has its name, kind and attributes; log lines within carry its ids; a failure is marked and thrown on', async () => {
    const spans = record()
    const lines: Record<string, unknown>[] = []
    const log = createLogger({
      level: 'info',
      format: 'json',
      destination: { write: (line) => void lines.push(JSON.parse(line)) },
    })
    const attributes = messagingAttributes('process', 'commands', { name: 'command.run', id: 'command.run~1' })
    await inSpan('process commands', { kind: 'consumer', attributes }, async () => log.info('within'))
    await expect(inSpan('send sync', { kind: 'producer' }, () => Promise.reject(new RangeError('no')))).rejects.toThrow('no')
    expect(lines).toMatchObject([{ trace_id: '1'.repeat(32), span_id: '2'.repeat(16) }])
    expect(spans).toEqual([
      { name: 'process commands', kind: SpanKind.CONSUMER, attributes, failed: false, ended: true },
      { name: 'send sync', kind: SpanKind.PRODUCER, attributes: { 'error.type': 'RangeError' }, failed: true, ended: true },
    ])
    expect(attributes).toMatchObject({
      'messaging.system': 'bullmq',
      'messaging.operation.type': 'process',
      'messaging.destination.name': 'commands',
      'messaging.message.id': 'command.run~1',
    })
  })
})
