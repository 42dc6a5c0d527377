import { readFileSync } from 'node:fs'
import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { z } from 'zod'
import { alertRules } from '../support/promql.ts'
import { hasPromtool, promtool } from './promtool.ts'

const caseSchema = z.object({
  name: z.string(),
  promql_expr_test: z.array(z.object({ expr: z.string(), exp_samples: z.array(z.object({ labels: z.string() })) })).min(1),
})
const { tests: cases } = z
  .object({ tests: z.array(caseSchema) })
  .parse(parse(readFileSync('deploy/prometheus/alerts.test.yaml', 'utf8')))

test('every alert has a case in which it fires and one in which it stays quiet, and every case looks at all that fires', () => {
  const alerts = alertRules().map(({ alert }) => alert)
  expect(cases.map(({ name }) => name.split(' ').slice(0, 2).join(' '))).toEqual(
    alerts.flatMap((alert) => [`${alert}: fires`, `${alert}: quiet`]),
  )
  for (const { name, promql_expr_test: looks } of cases) {
    const fired = looks.flatMap(({ exp_samples: samples }) => samples.map(({ labels }) => /alertname="(\w+)"/.exec(labels)?.[1]))
    expect(new Set(fired), name).toEqual(new Set(name.includes(': fires') ? [name.split(':')[0]] : []))
    for (const { expr } of looks) expect(expr).toBe('ALERTS{alertstate="firing"}')
  }
})

describe.skipIf(!hasPromtool())('by promtool', () => {
  let folder: string
  beforeAll(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'tallyman-alerts-'))
    await cp('deploy/prometheus', folder, { recursive: true })
  })
  afterAll(() => rm(folder, { recursive: true }))

  test('the rules are valid, and fire and stay quiet as their cases say', () => {
    expect(promtool(folder, 'check', 'rules', 'alerts.yaml')).toMatchObject({ code: 0 })
    const { code, said } = promtool(folder, 'test', 'rules', 'alerts.test.yaml')
    expect(said).toContain('SUCCESS')
    expect(code).toBe(0)
  })

  test.each([
    ['TallymanAway', 'for: 3m', 'for: 2m'],
    ['TallymanAway', 'up{job="tallyman"}', 'up'],
    ['TallymanAlarmCritical', 'sum by (kind)', 'sum by (kind, instance)'],
    ['TallymanAlarmWarning', 'severity="warning"}', 'severity=~".*"}'],
    ['TallymanRelayStopped', '> 300', '>= 300'],
    ['TallymanWorkWaits', '(tallyman_outbox_oldest_timestamp_seconds > 0)', 'tallyman_outbox_oldest_timestamp_seconds'],
    ['TallymanQueuesAway', 'min(', 'max('],
    ['TallymanMarketplaceFails', '> 0.5', '>= 0.5'],
    ['TallymanNotificationsRefused', '>= 20', '>= 16'],
    ['TallymanNotificationsRefused', '{outcome!="refused"}', '{outcome!="accepted"}'],
  ])('a rule of %s with %j changed to %j fails its cases', async (alert, from, to) => {
    const rules = await readFile('deploy/prometheus/alerts.yaml', 'utf8')
    const at = rules.indexOf(`alert: ${alert}\n`)
    const changed = rules.slice(0, at) + rules.slice(at).replace(from, to)
    expect(changed).not.toBe(rules)
    await writeFile(path.join(folder, 'alerts.yaml'), changed)
    expect(promtool(folder, 'test', 'rules', 'alerts.test.yaml')).toMatchObject({
      code: 1,
      said: expect.stringContaining('FAILED'),
    })
  })
})
