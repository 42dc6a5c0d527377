import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { expect, test } from 'vitest'
import { createMetrics } from '../../src/observability/metrics.ts'
import { metricsPage } from '../../src/observability/metrics-page.ts'

test('every name of its own begins with tallyman_, those of the process are the usual ones, in base units, and the content type is one that scrapers accept', async () => {
  const metrics = createMetrics({ version: '1.2.3', commit: 'abc' })
  metrics.apiRequests.inc({ operation: 'orders.list', outcome: 'ok' })
  const { body, contentType } = await metrics.read()
  expect(contentType).toBe('text/plain; version=0.0.4; charset=utf-8')
  expect(body).toContain('tallyman_build_info{version="1.2.3",commit="abc"} 1')
  expect(body).toContain('tallyman_api_requests_total{operation="orders.list",outcome="ok"} 1')
  const described = await metrics.registry.getMetricsAsJSON()
  expect(described.length).toBeGreaterThan(25)
  for (const { name, type, help } of described) {
    expect(name).toMatch(/^(tallyman|process|nodejs)_[a-z][a-z0-9_]*$/)
    expect(help).not.toBe('')
    if (String(type) === 'counter' && name.startsWith('tallyman_')) expect(name).toMatch(/_total$/)
    if (String(type) === 'histogram') expect(name).toMatch(/_(seconds|bytes)$/)
    expect(name).not.toMatch(/_(ms|milliseconds|minutes)$/)
  }
})

test.skipIf(process.platform !== 'linux')('docs/metrics.md is up to date (npm run metrics-page)', async () => {
  expect(readFileSync('docs/metrics.md', 'utf8')).toBe(await metricsPage())
})

test('two sets do not know of each other', async () => {
  const one = createMetrics({ version: '1', processMetrics: false })
  const two = createMetrics({ version: '2', processMetrics: false })
  one.commandsHeld.set(3)
  expect((await two.read()).body).toContain('tallyman_commands_held 0')
})

const filesUnder = (folder: string, extension: string): readonly string[] =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith(extension))
    .map((file) => path.join(folder, file))

test('every metric is set somewhere', () => {
  const { registry: _, read: __, ...metrics } = createMetrics({ version: '1', processMetrics: false })
  const source = filesUnder('src', '.ts')
    .filter((file) => !file.startsWith('src/observability/') && !file.startsWith('src/store/generated/'))
    .map((file) => readFileSync(file, 'utf8'))
    .join('\n')
  const unset = Object.keys(metrics).filter(
    (name) => !new RegExp(`\\b${name}\\.(inc|set|setToCurrentTime|observe|startTimer)\\(`).test(source),
  )
  expect(unset).toEqual([])
})

test('every metric that the documents name is there', async () => {
  const known = (await createMetrics({ version: '1' }).registry.getMetricsAsJSON()).map(({ name }) => name)
  // Roles of Postgres are named alike, without such an end.
  const named = ['README.md', 'CHANGELOG.md', ...filesUnder('docs', '.md')].flatMap((file) =>
    [...readFileSync(file, 'utf8').matchAll(/`(tallyman_\w+_(?:total|seconds|rows|bytes|info|up))\b/g)].map(([, name]) => name),
  )
  expect(named.length).toBeGreaterThan(3)
  expect(named.filter((name) => name === undefined || !known.includes(name))).toEqual([])
})
