import { DataPointType } from '@opentelemetry/sdk-metrics'
import { Counter, Gauge, Histogram, Registry } from 'prom-client'
import { expect, test } from 'vitest'
import { toOtlpMetrics } from '../../src/observability/otlp-metrics.ts'

test('counters, gauges and histograms keep their names, labels and values', async () => {
  const registry = new Registry()
  const registers = [registry]
  const requests = new Counter({ name: 'requests_total', help: 'Requests.', labelNames: ['outcome'], registers })
  requests.inc({ outcome: 'ok' }, 3)
  requests.inc({ outcome: 'failed' }, 1)
  new Gauge({ name: 'waiting', help: 'Waiting.', registers }).set(-2.5)
  const seconds = new Histogram({ name: 'seconds', help: 'Time.', labelNames: ['route'], buckets: [0.1, 1, 10], registers })
  for (const [route, value] of [
    ['a', 0.05],
    ['a', 0.5],
    ['a', 0.6],
    ['a', 100],
    ['b', 10],
  ] as const)
    seconds.observe({ route }, value)

  const times = { startTime: [1_000, 0], endTime: [1_061, 500_000_000] }
  const found = toOtlpMetrics(await registry.getMetricsAsJSON(), 1_000_000, 1_061_500)
  expect(found).toMatchObject([
    {
      descriptor: { name: 'requests_total', description: 'Requests.' },
      dataPointType: DataPointType.SUM,
      isMonotonic: true,
      dataPoints: [
        { ...times, attributes: { outcome: 'ok' }, value: 3 },
        { ...times, attributes: { outcome: 'failed' }, value: 1 },
      ],
    },
    { descriptor: { name: 'waiting' }, dataPointType: DataPointType.GAUGE, dataPoints: [{ attributes: {}, value: -2.5 }] },
    {
      descriptor: { name: 'seconds' },
      dataPointType: DataPointType.HISTOGRAM,
      dataPoints: [
        {
          attributes: { route: 'a' },
          value: { buckets: { boundaries: [0.1, 1, 10], counts: [1, 2, 0, 1] }, sum: 101.15, count: 4 },
        },
        { attributes: { route: 'b' }, value: { buckets: { boundaries: [0.1, 1, 10], counts: [0, 0, 1, 0] }, sum: 10, count: 1 } },
      ],
    },
  ])
})
