import { createMetrics } from './metrics.ts'

// Generates the page docs/metrics.md from the declarations of the metrics.

/** The declaration of a metric. */
export interface DocumentedMetric {
  readonly name: string
  readonly type: string
  readonly labels: readonly string[]
  readonly help: string
}

const listLabels = (metric: object | undefined): readonly string[] => {
  const labels: unknown = metric === undefined ? [] : Reflect.get(metric, 'labelNames')
  return Array.isArray(labels) ? labels.map(String) : []
}

/** Every metric of the program and of its process, in the order of the declarations. */
export const documentedMetrics = async (): Promise<readonly DocumentedMetric[]> => {
  const { registry } = createMetrics({ version: '0' })
  const described = await registry.getMetricsAsJSON()
  return described.map(({ name, type, help }) => ({
    name,
    type: String(type),
    labels: listLabels(registry.getSingleMetric(name)),
    help,
  }))
}

const introduction = `# Metrics

<!-- Generated from src/observability/metrics.ts by npm run metrics-page. -->
\`GET /metrics\` returns all metrics in the text format of Prometheus. If \`API_KEY\` is set, a request needs that key, or [another one](keys.md) with the
scope \`read\`; it may be the password of HTTP Basic. Names of the daemon's metrics begin with \`tallyman_\`; units are base units. Labels are bounded:
sellers come from the settings, all other values from fixed lists. No label is an id of an order, a command or an event.

\`deploy/prometheus/alerts.yaml\` has alert rules, \`deploy/prometheus/alerts.test.yaml\` their tests (\`promtool test rules\`), and
\`deploy/grafana/dashboard.json\` a dashboard. [runbooks.md](runbooks.md) explains what to do when an alert fires.

`

const row = ({ name, type, labels, help }: DocumentedMetric): string => {
  const named = labels.length === 0 ? '' : labels.map((label) => `\`${label}\``).join(', ')
  return `| \`${name}\` | ${type} | ${named} | ${help} |`
}
const table = (metrics: readonly DocumentedMetric[]): string =>
  ['| metric | type | labels | meaning |', '| --- | --- | --- | --- |', ...metrics.map(row)].join('\n')

/** The text of docs/metrics.md. */
export const metricsPage = async (): Promise<string> => {
  const metrics = await documentedMetrics()
  const own = metrics.filter(({ name }) => name.startsWith('tallyman_'))
  const ofProcess = metrics.filter(({ name }) => !name.startsWith('tallyman_'))
  return `${introduction}## Of the daemon\n${table(own)}\n\n## Of the process\nOn Linux; other systems have fewer.\n\n${table(ofProcess)}\n`
}
