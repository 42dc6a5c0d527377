import { execFileSync, spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { parse, parseAllDocuments } from 'yaml'
import { z } from 'zod'
import { readConfig } from '../../src/config/config.ts'
import { environment, secrets } from '../../src/config/environment.ts'
import { intervalEnvironment } from '../../src/config/intervals.ts'
import { createMetrics } from '../../src/observability/metrics.ts'
import { placeOrder, sandboxSeller, untilEffects } from '../daemon/support.ts'
import { withDatabase } from '../support/database.ts'
import { accepted, cloudEvent } from '../support/events.ts'
import { eventually } from '../support/eventually.ts'
import { manifestFaults } from '../support/kubernetes.ts'
import { kustomize, type Manifest } from '../support/kustomize.ts'
import { type Program, startProgram } from '../support/process.ts'
import { startTestSandbox, type TestSandbox } from '../support/sandbox.ts'

const folders = ['deploy/kubernetes/base', 'deploy/kubernetes/overlays/example'] as const
const [base, example] = folders.map(kustomize)
if (base === undefined || example === undefined) throw new Error('nothing was built')

const variable = z.strictObject({
  name: z.string(),
  value: z.string().optional(),
  valueFrom: z.strictObject({ configMapKeyRef: z.strictObject({ name: z.string(), key: z.string() }) }).optional(),
})
const securitySchema = z.strictObject({
  allowPrivilegeEscalation: z.literal(false),
  readOnlyRootFilesystem: z.literal(true),
  capabilities: z.strictObject({ drop: z.tuple([z.literal('ALL')]) }),
})
const probe = z.looseObject({ httpGet: z.strictObject({ path: z.string(), port: z.string() }) })
const container = z.looseObject({
  name: z.string(),
  image: z.string(),
  args: z.array(z.string()).optional(),
  env: z.array(variable),
  envFrom: z.array(z.strictObject({ configMapRef: z.strictObject({ name: z.string() }) })).default([]),
  ports: z.array(z.strictObject({ name: z.string(), containerPort: z.int() })).default([]),
  startupProbe: probe.optional(),
  livenessProbe: probe.optional(),
  readinessProbe: probe.optional(),
  lifecycle: z.object({ preStop: z.object({ exec: z.object({ command: z.array(z.string()) }) }) }).optional(),
  volumeMounts: z.array(z.looseObject({ name: z.string(), mountPath: z.string() })),
  securityContext: securitySchema,
})
const labels = z.record(z.string(), z.string())
const podSchema = z.looseObject({
  terminationGracePeriodSeconds: z.int(),
  securityContext: z.looseObject({ runAsNonRoot: z.literal(true), runAsUser: z.int().positive() }),
  initContainers: z.tuple([container]),
  containers: z.tuple([container]),
  volumes: z.array(
    z.looseObject({
      name: z.string(),
      secret: z
        .object({ secretName: z.string(), items: z.array(z.strictObject({ key: z.string(), path: z.string() })) })
        .optional(),
    }),
  ),
})
const deploymentSchema = z.object({
  spec: z.object({
    selector: z.object({ matchLabels: labels }),
    template: z.object({ metadata: z.object({ labels }), spec: podSchema }),
  }),
})

const named = (objects: readonly Manifest[], kind: string, name: string): Manifest => {
  const found = objects.find((object) => object.kind === kind && object.metadata.name === name)
  if (found === undefined) throw new Error(`there is no ${kind} ${name}`)
  return found
}
const buildPod = (objects: readonly Manifest[], name: string) =>
  deploymentSchema.parse(named(objects, 'Deployment', name)).spec.template
const findSettings = (objects: readonly Manifest[]) =>
  z.object({ data: z.record(z.string(), z.string()) }).parse(named(objects, 'ConfigMap', 'tallyman')).data

const roles = { 'tallyman-http': 'http', 'tallyman-worker': 'scheduler,worker' } as const
const pods = Object.keys(roles).map((name) => ({ name, ...buildPod(example, name) }))

/** The environment of a container, with secrets in this folder in place of the mounted one. */
const buildEnvironment = (objects: readonly Manifest[], { env, envFrom }: z.infer<typeof container>, secretsAt: string) => ({
  ...(envFrom.length > 0 ? findSettings(objects) : {}),
  ...Object.fromEntries(
    env.map(({ name, value, valueFrom }) => {
      const text = valueFrom === undefined ? value : findSettings(objects)[valueFrom.configMapKeyRef.key]
      if (text === undefined) throw new Error(`${name} has no value`)
      return [name, text.replace('/run/secrets/tallyman', secretsAt)]
    }),
  ),
})

describe.each(folders)('%s', (folder) => {
  const objects = kustomize(folder)

  test('holds valid objects, each once', () => {
    expect(objects.length).toBeGreaterThan(8)
    for (const object of objects) expect(manifestFaults(object), `${object.kind} ${object.metadata.name}`).toEqual([])
    const names = objects.map(({ kind, metadata }) => `${kind} ${metadata.name}`)
    expect(new Set(names).size).toBe(names.length)
  })

  test('is what Kustomize itself makes of it, where it is installed', ({ skip }) => {
    const tool = [['kubectl', 'kustomize'] as const, ['kustomize', 'build'] as const].find(
      ([program]) => spawnSync(program, ['version', '--client'], { stdio: 'ignore' }).status === 0,
    )
    if (tool === undefined) return skip('neither kubectl nor kustomize is installed')
    const made = execFileSync(tool[0], [tool[1], folder], { encoding: 'utf8' }).replaceAll(
      /\btallyman-[a-z0-9]{10}$/gm,
      'tallyman',
    )
    const sorted = (all: readonly unknown[]) => all.map((one) => JSON.stringify(sortKeys(one))).toSorted()
    expect(sorted(parseAllDocuments(made).map((document) => document.toJS()))).toEqual(sorted(objects))
  })
})

const sortKeys = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(sortKeys)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value)
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, inner]) => [key, sortKeys(inner)]),
  )
}

describe('the manifests', () => {
  test('a field that no schema has, a wrong type and an unknown kind are faults', () => {
    const service = named(base, 'Service', 'tallyman')
    expect(manifestFaults({ ...service, spec: { ports: [{ port: 80, targetport: 'http' }] } })).toEqual([
      '/spec/ports/0/targetport: is no field of Service',
    ])
    expect(manifestFaults({ ...service, spec: { ports: [{ port: 'http' }] } })[0]).toContain('port')
    expect(manifestFaults({ ...service, kind: 'Servise' })[0]).toContain('no schema')
  })

  test('run the image of this version, with the roles that there are', () => {
    const { version } = z.object({ version: z.string() }).parse(JSON.parse(readFileSync('package.json', 'utf8')))
    for (const [objects, image] of [
      [base, 'tallyman'],
      [example, 'registry.example/tallyman'],
    ] as const) {
      for (const [name, role] of Object.entries(roles)) {
        const { spec } = buildPod(objects, name)
        for (const each of [...spec.initContainers, ...spec.containers]) expect(each.image).toBe(`${image}:${version}`)
        expect(spec.containers[0].env).toContainEqual({ name: 'ROLES', value: role })
        expect(readConfig({ ROLES: role }, false).roles).toEqual(role.split(','))
      }
    }
  })

  test('give settings that there are, and files of secrets that are mounted', () => {
    const settings = new Set([
      ...Object.keys(environment.shape),
      ...Object.keys(intervalEnvironment.shape),
      ...secrets.map((name) => `${name}_FILE`),
    ])
    for (const { name, spec } of pods) {
      const mounts = spec.containers[0].volumeMounts
      const files = spec.volumes.flatMap(({ name: volume, secret }) =>
        (secret?.items ?? []).map((item) => `${mounts.find((mount) => mount.name === volume)?.mountPath}/${item.path}`),
      )
      const used = [...spec.initContainers, ...spec.containers].flatMap((each) =>
        Object.entries(buildEnvironment(example, each, '/run/secrets/tallyman')),
      )
      for (const [variableName] of used) expect(settings, `${name} sets ${variableName}`).toContain(variableName)
      const asked = used.flatMap(([variableName, value]) => (variableName.endsWith('_FILE') ? [value] : []))
      expect([...new Set(asked)].toSorted(), name).toEqual(files.toSorted())
      // Secrets come by file alone.
      for (const secret of secrets) expect(used.map(([variableName]) => variableName)).not.toContain(secret)
    }
  })

  test('an installation that names no marketplace does not start: each process would have a sandbox of its own', () => {
    for (const name of Object.keys(roles)) {
      const { env } = buildPod(base, name).spec.containers[0]
      expect(env.find((one) => one.name === 'MARKETPLACE_URL')?.valueFrom?.configMapKeyRef).toEqual({
        name: 'tallyman',
        key: 'MARKETPLACE_URL',
      })
      expect(findSettings(base)).not.toHaveProperty('MARKETPLACE_URL')
    }
  })

  test('ask the health port, and leave time to drain', () => {
    for (const { name, spec } of pods) {
      const [main] = spec.containers
      expect(main.ports.find((port) => port.name === 'health')?.containerPort).toBe(Number(findSettings(example)['HEALTH_PORT']))
      expect(main.startupProbe?.httpGet).toEqual({ path: '/livez', port: 'health' })
      expect(main.livenessProbe?.httpGet).toEqual({ path: '/livez', port: 'health' })
      expect(main.readinessProbe?.httpGet).toEqual({ path: '/readyz', port: 'health' })
      const { drainTimeoutMs } = readConfig({}, false)
      const pauseMs = Number(main.lifecycle?.preStop.exec.command[1] ?? 0) * 1_000
      expect(spec.terminationGracePeriodSeconds * 1_000, name).toBeGreaterThanOrEqual(pauseMs + drainTimeoutMs + 10_000)
    }
    expect(buildPod(example, 'tallyman-http').spec.containers[0].ports.find(({ name }) => name === 'http')?.containerPort).toBe(
      readConfig({}, false).http.port,
    )
  })

  test('select what is there: services, budgets, policies, autoscaler and monitor', () => {
    const podLabels = pods.map((pod) => pod.metadata.labels)
    const fits = (selector: Record<string, string>, all: readonly Record<string, string>[]) =>
      all.filter((one) => Object.entries(selector).every(([key, value]) => one[key] === value)).length
    const selectors = example.flatMap(({ kind, metadata, spec }): (readonly [string, Record<string, string>])[] => {
      const at = z
        .object({
          selector: z.union([z.strictObject({ matchLabels: labels }), labels]).optional(),
          podSelector: z.strictObject({ matchLabels: labels }).optional(),
        })
        .parse(spec ?? {})
      const found = at.selector ?? at.podSelector
      if (found === undefined || kind === 'ServiceMonitor') return []
      return [[`${kind} ${metadata.name}`, labels.parse('matchLabels' in found ? found['matchLabels'] : found)]]
    })
    expect(selectors.length).toBe(8)
    for (const [name, selector] of selectors) expect(fits(selector, podLabels), name).toBeGreaterThan(0)
    const scaled = z
      .object({ spec: z.object({ scaleTargetRef: z.object({ kind: z.string(), name: z.string() }) }) })
      .parse(named(example, 'HorizontalPodAutoscaler', 'tallyman-worker')).spec.scaleTargetRef
    expect(named(example, scaled.kind, scaled.name)).not.toHaveProperty('spec.replicas')
    const monitor = z
      .object({
        spec: z.object({
          jobLabel: z.string(),
          selector: z.object({ matchLabels: labels }),
          endpoints: z.tuple([z.looseObject({ port: z.string(), path: z.literal('/metrics') })]),
        }),
      })
      .parse(named(example, 'ServiceMonitor', 'tallyman')).spec
    const services = example.filter(
      ({ kind, metadata }) => kind === 'Service' && fits(monitor.selector.matchLabels, [labels.parse(metadata['labels'])]) > 0,
    )
    expect(services).toHaveLength(1)
    expect(services[0]).toMatchObject({ spec: { ports: [{ name: monitor.endpoints[0].port }] } })
    // The job name of deploy/prometheus/alerts.yaml.
    expect(services[0]?.metadata['labels']).toHaveProperty([monitor.jobLabel], 'tallyman')
  })

  test('the autoscaler goes by a metric that there is', () => {
    const { registry } = createMetrics({ version: '1', processMetrics: false })
    const metrics = z
      .object({
        spec: z.object({
          metrics: z.array(z.looseObject({ pods: z.object({ metric: z.object({ name: z.string() }) }).optional() })),
        }),
      })
      .parse(named(example, 'HorizontalPodAutoscaler', 'tallyman-worker')).spec.metrics
    const names = metrics.flatMap(({ pods: one }) => (one === undefined ? [] : [one.metric.name]))
    expect(names).toEqual(['tallyman_work_waiting_seconds'])
    for (const name of names) expect(registry.getSingleMetric(name)).toBeDefined()
    const adapter = z
      .object({
        rules: z.object({ custom: z.array(z.object({ seriesQuery: z.string(), name: z.object({ as: z.string() }) })) }),
      })
      .parse(parse(readFileSync('deploy/prometheus/adapter-rules.yaml', 'utf8')))
    expect(adapter.rules.custom.map(({ seriesQuery, name }) => [seriesQuery.split('{')[0], name.as])).toEqual(
      names.map((name) => [name, name]),
    )
  })
})

describe('the processes of the manifests', () => {
  const stage = withDatabase()
  const folder = mkdtempSync(path.join(tmpdir(), 'tallyman-pod-'))
  const running: Program[] = []
  let sandbox: TestSandbox
  beforeAll(async () => {
    sandbox = await startTestSandbox()
    const files = {
      'database-url': stage.url,
      'client-id': sandboxSeller.CLIENT_ID,
      'client-secret': sandboxSeller.CLIENT_SECRET,
      'api-key': 'a-key-of-the-tests',
      'notifications-secret': 'marketplace:a-password-of-the-tests',
      'events-secret': `whsec_${Buffer.from('a secret of the tests').toString('base64')}`,
    }
    for (const [name, text] of Object.entries(files)) writeFileSync(path.join(folder, name), `${text}\n`)
  })
  afterEach(async () => {
    for (const program of running.splice(0)) await program.kill()
  })
  afterAll(async () => {
    await sandbox?.stop()
    rmSync(folder, { recursive: true, force: true })
  })

  /** Starts a container on free ports, in the environment that its image and its pod give it. */
  const run = (name: keyof typeof roles, which: 'initContainers' | 'containers'): Program => {
    const [one] = buildPod(base, name).spec[which]
    const [, script = 'src/main.ts', ...args] = one.args ?? []
    const dataDir = path.join(folder, name)
    mkdirSync(dataDir, { recursive: true })
    const given = { ...findSettings(base), MARKETPLACE_URL: sandbox.url }
    const objects = base.map((object) => (object.kind === 'ConfigMap' ? { ...object, data: given } : object))
    const program = startProgram(
      script,
      {
        ...buildEnvironment(objects, one, folder),
        ...(which === 'containers' ? { HOST: '0.0.0.0', PORT: '0', HEALTH_PORT: '0', SELLER_ID: sandboxSeller.SELLER_ID } : {}),
        DATA_DIR: dataDir,
        POLL_ORDERS: '1s',
      },
      args,
    )
    running.push(program)
    return program
  }
  const listens = async (program: Program, what: string): Promise<string> => {
    const [, url = ''] = await program.says(new RegExp(`"${what}":"(http:[^"]+?)/?"`))
    return url.replace('0.0.0.0', '127.0.0.1')
  }

  test('migrate, become ready, and carry an event from one to the other', async () => {
    const migration = run('tallyman-worker', 'initContainers')
    await migration.ended
    expect([migration.child.exitCode, migration.output()]).toEqual([0, expect.stringContaining('up to date')])
    const [http, worker] = [run('tallyman-http', 'containers'), run('tallyman-worker', 'containers')]
    for (const program of [http, worker]) {
      const health = await listens(program, 'health')
      await eventually(async () => expect((await fetch(`${health}/readyz`)).status).toBe(200))
      expect((await fetch(`${health}/livez`)).status).toBe(200)
      expect(await (await fetch(`${health}/metrics`)).text()).toMatch(/^tallyman_work_waiting_seconds \d/m)
      expect((await fetch(`${health}/v1/orders`)).status).toBe(404)
    }
    const url = await listens(http, 'console')
    expect((await fetch(`${url}/v1/orders`)).status).toBe(401)
    expect(worker.output()).not.toContain('"console"')
    const order = await placeOrder(sandbox, 1)
    await startProgramTo(['src/cli.ts', 'send', eventFile(order.purchaseOrderId)], {
      TALLYMAN_URL: url,
      API_KEY_FILE: path.join(folder, 'api-key'),
      EVENTS_SECRET_FILE: path.join(folder, 'events-secret'),
    })
    await untilEffects(sandbox, order, ['acknowledged'])
    expect(await worker.stop()).toBe(0)
    expect(await http.stop()).toBe(0)
  })

  const eventFile = (purchaseOrderId: string): string => {
    const file = path.join(folder, 'event.json')
    writeFileSync(file, JSON.stringify(cloudEvent(accepted({ sellerId: sandboxSeller.SELLER_ID, purchaseOrderId }), '/erp')))
    return file
  }
  const startProgramTo = async (
    [script = '', ...args]: readonly string[],
    env: Readonly<Record<string, string>>,
  ): Promise<void> => {
    const program = startProgram(script, env, args)
    running.push(program)
    await program.ended
    if (program.child.exitCode !== 0) throw new Error(program.output())
  }
})
