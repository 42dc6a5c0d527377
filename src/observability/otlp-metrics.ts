import { type HrTime, ValueType } from '@opentelemetry/api'
import { AggregationTemporality, DataPointType, type MetricData } from '@opentelemetry/sdk-metrics'
import type { Registry } from 'prom-client'

/** All metrics of a registry of `prom-client`, as it lists them. */
export type MetricFamilies = Awaited<ReturnType<Registry['getMetricsAsJSON']>>

const toHrTime = (ms: number): HrTime => [Math.floor(ms / 1_000), Math.round((ms % 1_000) * 1_000_000)]

type Labels = Readonly<Record<string, string | number>>

/** One histogram of a family: its labels and its cumulative buckets. */
interface Series {
  readonly labels: Labels
  readonly buckets: { readonly upTo: number; readonly count: number }[]
  sum: number
  count: number
}

const groupSeries = (values: MetricFamilies[number]['values'], name: string): readonly Series[] => {
  const found = new Map<string, Series>()
  for (const { labels, value, metricName } of values as readonly { labels: Labels; value: number; metricName?: string }[]) {
    const { le, ...own } = labels
    const key = JSON.stringify(Object.entries(own).sort())
    const series = found.get(key) ?? { labels: own, buckets: [], sum: 0, count: 0 }
    found.set(key, series)
    if (metricName === `${name}_sum`) series.sum = value
    else if (metricName === `${name}_count`) series.count = value
    else if (le !== undefined && le !== '+Inf') series.buckets.push({ upTo: Number(le), count: value })
  }
  return [...found.values()]
}

const toHistogram = ({ buckets, sum, count }: Series) => {
  const ordered = [...buckets].sort((one, other) => one.upTo - other.upTo)
  const cumulative = [...ordered.map((bucket) => bucket.count), count]
  return {
    buckets: {
      boundaries: ordered.map(({ upTo }) => upTo),
      counts: cumulative.map((total, at) => total - (cumulative[at - 1] ?? 0)),
    },
    sum,
    count,
  }
}

/** The metrics of `/metrics` as OTLP sends them, under the same names: counters and histograms since `startedMs`, gauges as they are at `nowMs` (epoch ms). */
export const toOtlpMetrics = (families: MetricFamilies, startedMs: number, nowMs: number): MetricData[] => {
  const times = { startTime: toHrTime(startedMs), endTime: toHrTime(nowMs) }
  return families.map((family): MetricData => {
    const base = {
      descriptor: { name: family.name, description: family.help, unit: '', valueType: ValueType.DOUBLE },
      aggregationTemporality: AggregationTemporality.CUMULATIVE,
    }
    // prom-client gives the type as its word, though it declares a number.
    const type = String(family.type)
    if (type === 'histogram') {
      const dataPoints = groupSeries(family.values, family.name).map((series) => ({
        ...times,
        attributes: { ...series.labels },
        value: toHistogram(series),
      }))
      return { ...base, dataPointType: DataPointType.HISTOGRAM, dataPoints }
    }
    const dataPoints = family.values.map(({ labels, value }) => ({ ...times, attributes: { ...(labels as Labels) }, value }))
    return type === 'counter'
      ? { ...base, dataPointType: DataPointType.SUM, isMonotonic: true, dataPoints }
      : { ...base, dataPointType: DataPointType.GAUGE, dataPoints }
  })
}
