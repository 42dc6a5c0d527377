import { DiagLogLevel, diag, logs, SeverityNumber } from '@opentelemetry/api'
import { emptyResource } from '@opentelemetry/resources'
import { type MetricData, PeriodicExportingMetricReader, type PushMetricExporter } from '@opentelemetry/sdk-metrics'
import { startNodeSdk } from '@opentelemetry/sdk-node'
import { type MetricFamilies, toOtlpMetrics } from './otlp-metrics.ts'

/** The export of traces, metrics and logs to an OpenTelemetry collector. */
export interface Telemetry {
  /** Exports a line of the log, given as JSON. */
  readonly onLogLine: (line: string) => void
  /** Exports these metrics from now on, in place of those before. */
  exportMetrics(read: () => Promise<MetricFamilies>): void
  /** Reports faults of the export from now on, such as a collector that does not answer. */
  onFault(report: (message: string) => void): void
  /** Exports what is left and stops; gives up after some seconds. */
  stop(): Promise<void>
}

/** The version of the program, and the commit of a release. */
export interface Build {
  readonly version: string
  readonly commit: string | null
}

const stopTimeoutMs = 5_000
const defaultIntervalMs = 60_000

/** By the variables by which the SDK chooses the exporters of traces and logs. */
const createMetricExporter = async (): Promise<PushMetricExporter> => {
  const protocol = process.env['OTEL_EXPORTER_OTLP_METRICS_PROTOCOL'] ?? process.env['OTEL_EXPORTER_OTLP_PROTOCOL']
  switch (protocol?.trim()) {
    case 'grpc':
      return new (await import('@opentelemetry/exporter-metrics-otlp-grpc')).OTLPMetricExporter()
    case 'http/json':
      return new (await import('@opentelemetry/exporter-metrics-otlp-http')).OTLPMetricExporter()
    default:
      return new (await import('@opentelemetry/exporter-metrics-otlp-proto')).OTLPMetricExporter()
  }
}

const createMetricReaders = async (
  version: string,
  collect: () => Promise<MetricData[]>,
): Promise<PeriodicExportingMetricReader[]> => {
  if (process.env['OTEL_METRICS_EXPORTER']?.trim() === 'none') return []
  const wanted = Number(process.env['OTEL_METRIC_EXPORT_INTERVAL'])
  const exportIntervalMillis = Number.isInteger(wanted) && wanted > 0 ? wanted : defaultIntervalMs
  return [
    new PeriodicExportingMetricReader({
      exporter: await createMetricExporter(),
      exportIntervalMillis,
      exportTimeoutMillis: Math.min(exportIntervalMillis, 30_000),
      metricProducers: [
        {
          collect: async () => ({
            resourceMetrics: {
              resource: emptyResource(),
              scopeMetrics: [{ scope: { name: 'tallyman', version }, metrics: await collect() }],
            },
            errors: [],
          }),
        },
      ],
    }),
  ]
}

const severities: Readonly<Record<string, SeverityNumber>> = {
  trace: SeverityNumber.TRACE,
  debug: SeverityNumber.DEBUG,
  info: SeverityNumber.INFO,
  warn: SeverityNumber.WARN,
  error: SeverityNumber.ERROR,
  fatal: SeverityNumber.FATAL,
}

/** The lines are those of the log: secrets and personal data are already redacted. */
const exportLogLine = (line: string): void => {
  const { level, time, msg, trace_id: _trace, span_id: _span, ...attributes } = JSON.parse(line)
  // The active span is added by the SDK.
  logs.getLogger('tallyman').emit({
    timestamp: new Date(time),
    severityText: level,
    severityNumber: severities[level] ?? SeverityNumber.UNSPECIFIED,
    body: msg,
    attributes,
  })
}

/**
 * Starts the official SDK, which reads the standard `OTEL_…` variables. Only this module loads it: without a collector a start does not pay
 * for it, and every span costs next to nothing.
 */
export const startTelemetry = async ({ version, commit }: Build): Promise<Telemetry> => {
  const startedMs = Date.now()
  let read: () => Promise<MetricFamilies> = async () => []
  const sdk = startNodeSdk({
    logLevel: 'none',
    resourceAttributes: {
      ...(process.env['OTEL_SERVICE_NAME'] === undefined ? { 'service.name': 'tallyman' } : {}),
      'service.version': version,
      ...(commit === null ? {} : { 'vcs.ref.head.revision': commit }),
    },
    metricReaders: await createMetricReaders(version, async () => toOtlpMetrics(await read(), startedMs, Date.now())),
  })
  return {
    onLogLine: exportLogLine,
    exportMetrics: (source) => {
      read = source
    },
    onFault: (report) => {
      const ignore = (): void => undefined
      // The SDK gives an error as JSON with its stack.
      const tell = (text: string): void => report((/"message":"((?:[^"\\]|\\.)*)"/.exec(text)?.[1] ?? text).slice(0, 500))
      diag.setLogger(
        { error: tell, warn: tell, info: ignore, debug: ignore, verbose: ignore },
        { logLevel: DiagLogLevel.WARN, suppressOverrideMessage: true },
      )
    },
    stop: async () => {
      const late = new Promise<void>((resolve) => setTimeout(resolve, stopTimeoutMs).unref())
      // What cannot be exported any more is a fault of the export, not of the daemon that stops.
      const ended = sdk.shutdown().catch((error: unknown) => diag.error(String(error)))
      await Promise.race([ended, late])
    },
  }
}
