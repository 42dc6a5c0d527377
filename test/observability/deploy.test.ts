import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { createMetrics } from '../../src/observability/metrics.ts'
import { alertRules, dashboardPanels, listNames } from '../support/promql.ts'

const expressions = () => [
  ...alertRules().map(({ expr }) => expr),
  ...dashboardPanels().flatMap(({ targets }) => targets.map(({ expr }) => expr)),
]

describe('the alert rules and the dashboard', () => {
  test('are PromQL, and name a metric each', () => {
    expect(expressions().length).toBeGreaterThan(20)
    for (const expr of expressions()) expect(listNames(expr).metrics, expr).not.toEqual([])
    expect(() => listNames('sum by (kind (x)')).toThrow('no PromQL')
    expect(listNames('sum by (a) (rate(x_total{b!="c"}[5m])) > 1')).toEqual({ metrics: ['x_total'], labels: ['a', 'b'] })
  })

  test('ask for labels that their metrics have', () => {
    const { registry: _, read: __, ...metrics } = createMetrics({ version: '1', processMetrics: false })
    const listLabels = new Map(
      Object.values(metrics).map((metric) => [
        String(Reflect.get(metric, 'name')),
        z.array(z.string()).parse(Reflect.get(metric, 'labelNames')),
      ]),
    )
    for (const expr of expressions()) {
      const named = listNames(expr)
      const known = named.metrics.flatMap((name) => listLabels.get(name.replace(/_(bucket|sum|count)$/, '')) ?? [])
      const bucket = named.metrics.some((name) => name.endsWith('_bucket')) ? ['le'] : []
      const scraped = named.metrics.includes('up') ? ['job'] : []
      expect([...known, ...bucket, ...scraped], expr).toEqual(expect.arrayContaining([...named.labels]))
    }
  })

  test('have names of their own, and panels that do not overlap in their ids', () => {
    const names = alertRules().map(({ alert }) => alert)
    expect(new Set(names).size).toBe(names.length)
    const ids = dashboardPanels().map(({ id }) => id)
    expect(new Set(ids).size).toBe(ids.length)
  })
})
