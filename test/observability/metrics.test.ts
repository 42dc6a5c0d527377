import { expect, test } from 'vitest'
import { createMetrics } from '../../src/observability/metrics.ts'

test('every name begins with tallyman_, in base units, and the content type is one that scrapers accept', async () => {
  const metrics = createMetrics({ version: '1.2.3', commit: 'abc' })
  metrics.apiRequests.inc({ operation: 'orders.list', outcome: 'ok' })
  const { body, contentType } = await metrics.read()
  expect(contentType).toBe('text/plain; version=0.0.4; charset=utf-8')
  expect(body).toContain('tallyman_build_info{version="1.2.3",commit="abc"} 1')
  expect(body).toContain('tallyman_api_requests_total{operation="orders.list",outcome="ok"} 1')
  const described = await metrics.registry.getMetricsAsJSON()
  expect(described.length).toBeGreaterThan(25)
  for (const { name, type, help } of described) {
    expect(name).toMatch(/^tallyman_[a-z][a-z0-9_]*$/)
    expect(help).not.toBe('')
    if (String(type) === 'counter' && !name.includes('_process_') && !name.includes('_nodejs_')) expect(name).toMatch(/_total$/)
    if (String(type) === 'histogram') expect(name).toMatch(/_(seconds|bytes)$/)
    expect(name).not.toMatch(/_(ms|milliseconds|minutes)$/)
  }
})

test('two sets do not know of each other', async () => {
  const one = createMetrics({ version: '1', processMetrics: false })
  const two = createMetrics({ version: '2', processMetrics: false })
  one.commandsHeld.set(3)
  expect((await two.read()).body).toContain('tallyman_commands_held 0')
})
