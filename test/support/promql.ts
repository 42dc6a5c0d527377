import { readFileSync } from 'node:fs'
import type { SyntaxNodeRef } from '@lezer/common'
import { parser } from '@prometheus-io/lezer-promql'
import { parse } from 'yaml'
import { z } from 'zod'

const ruleSchema = z.strictObject({
  alert: z.string().regex(/^Tallyman[A-Z]\w+$/),
  expr: z.string(),
  for: z.string().regex(/^\d+[smh]$/),
  labels: z.strictObject({ severity: z.enum(['critical', 'warning']) }),
  annotations: z.strictObject({
    summary: z.string().min(1),
    action: z.string().min(1),
    runbook: z.string().startsWith('docs/runbooks.md'),
  }),
})
const rulesSchema = z.strictObject({ groups: z.array(z.strictObject({ name: z.string(), rules: z.array(ruleSchema) })) })
const dashboardSchema = z.object({
  panels: z.array(z.object({ id: z.int(), title: z.string(), targets: z.array(z.object({ expr: z.string() })).min(1) })),
})

/** The alert rules of `deploy/prometheus`. */
export const alertRules = () =>
  rulesSchema.parse(parse(readFileSync('deploy/prometheus/alerts.yaml', 'utf8'))).groups.flatMap(({ rules }) => rules)

/** The panels of the dashboard of `deploy/grafana`. */
export const dashboardPanels = () =>
  dashboardSchema.parse(JSON.parse(readFileSync('deploy/grafana/dashboard.json', 'utf8'))).panels

/** What a PromQL expression names: its metrics, and the labels that it asks for or groups by, by their texts. @throws when it is no PromQL */
export const listNames = (expression: string): { readonly metrics: readonly string[]; readonly labels: readonly string[] } => {
  const metrics: string[] = []
  const labels: string[] = []
  parser.parse(expression).iterate({
    enter: (node: SyntaxNodeRef) => {
      const text = expression.slice(node.from, node.to)
      if (node.type.isError) throw new Error(`no PromQL at ${node.from}: ${expression}`)
      if (node.name === 'Identifier' && node.node.parent?.name === 'VectorSelector') metrics.push(text)
      if (node.name === 'LabelName') labels.push(text)
    },
  })
  return { metrics, labels }
}
