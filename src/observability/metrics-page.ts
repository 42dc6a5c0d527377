import { createMetrics } from './metrics.ts'

// The page docs/metrics.md, made from the declarations of the metrics.

/** A metric as it is declared. */
export interface DocumentedMetric {
  readonly name: string
  readonly type: string
  readonly labels: readonly string[]
  readonly help: string
}

const labelsOf = (metric: object | undefined): readonly string[] => {
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
    labels: labelsOf(registry.getSingleMetric(name)),
    help,
  }))
}

const introduction = `# Metrics

<!-- Made from src/observability/metrics.ts by npm run metrics-page. -->
\`GET /metrics\` answers in the text format of Prometheus. With \`API_KEY\` set it needs that key, or [another](keys.md) with the scope \`read\`; as the
password of HTTP Basic too. Names of its own begin with \`tallyman_\`, units are base units. Labels are bounded: sellers come from the settings, all other
values from fixed lists; none is an id of an order, a command or an event.

\`deploy/prometheus/alerts.yaml\` has alert rules, \`deploy/prometheus/alerts.test.yaml\` the cases that try them (\`promtool test rules\`),
\`deploy/grafana/dashboard.json\` a dashboard. [runbooks.md](runbooks.md) says what to do.

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
