import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { parse } from 'yaml'
import { z } from 'zod'
import { readConfig } from '../src/config/config.ts'
import { withDatabase } from './support/database.ts'
import { eventually } from './support/eventually.ts'
import { type Program, startProgram } from './support/process.ts'
import { startTestRedis, type TestRedis } from './support/redis.ts'

const serviceSchema = z.object({
  image: z.string().optional(),
  build: z.string().optional(),
  command: z.array(z.string()).optional(),
  environment: z.record(z.string(), z.string()).default({}),
  ports: z.array(z.string()).default([]),
  volumes: z.array(z.string()).default([]),
  depends_on: z.record(z.string(), z.object({ condition: z.string(), required: z.boolean().optional() })).default({}),
  healthcheck: z
    .object({ test: z.array(z.string()).min(2), interval: z.string(), timeout: z.string(), retries: z.int().positive() })
    .optional(),
  restart: z.string().optional(),
  stop_grace_period: z.string().optional(),
})
const composeSchema = z.strictObject({
  name: z.string(),
  'x-daemon': z.unknown(),
  services: z.record(z.string(), serviceSchema),
  volumes: z.record(z.string(), z.null()),
})

const compose = composeSchema.parse(parse(readFileSync('docker-compose.yml', 'utf8'), { merge: true }))
const services = Object.entries(compose.services)
const service = (name: string) => {
  const found = compose.services[name]
  if (found === undefined) throw new Error(`docker-compose.yml has no service ${name}`)
  return found
}
/** Secrets as `scripts/make-env.mjs` makes them. */
const secrets = new Map(
  execFileSync(process.execPath, ['scripts/make-env.mjs'], { encoding: 'utf8' })
    .trim()
    .split('\n')
    .map((line) => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)]),
)
/** What compose makes of `${NAME:-default}` and `${NAME:?what to do}` when nothing but the secrets is set. */
const plain = (text: string): string =>
  text.replace(/\$\{\w+:-([^}]*)\}/g, '$1').replace(/\$\{(\w+):\?[^}]*\}/g, (_, name: string) => {
    const value = secrets.get(name)
    if (value === undefined) throw new Error(`nothing makes ${name}`)
    return value
  })

const dockerfile = readFileSync('Dockerfile', 'utf8')
  .split('\n')
  .filter((line) => !line.startsWith('#'))

describe('docker-compose.yml', () => {
  test('has the stores, the one-shot migration and the daemon: everything that starts is needed', () => {
    expect(services.map(([name]) => name)).toEqual(['postgres', 'redis', 'migrate', 'tallyman'])
  })

  test('pins images exactly and builds the rest', () => {
    for (const [name, { image, build }] of services) {
      if (image === undefined) expect(build, name).toBe('.')
      else expect(image, name).toMatch(/^[a-z]+:\d+\.\d+(\.\d+)?-[a-z0-9-]+@sha256:[0-9a-f]{64}$/)
    }
  })

  test('opens ports on the loopback interface alone', () => {
    const ports = services.flatMap(([, { ports: opened }]) => opened)
    expect(ports.length).toBeGreaterThan(0)
    for (const port of ports) expect(port).toMatch(/^127\.0\.0\.1:\d+:\d+$/)
  })

  test('asks every service that stays after its health, and starts it again', () => {
    for (const [name, { healthcheck, restart }] of services) {
      if (name === 'migrate') continue
      expect(healthcheck, name).toBeDefined()
      expect(restart, name).toBe('unless-stopped')
    }
    expect(service('redis').healthcheck?.test.slice(0, 2)).toEqual(['CMD', 'redis-cli'])
    expect(service('tallyman').healthcheck?.test.join(' ')).toContain('/readyz')
  })

  test('Redis throws nothing away and keeps what it has', () => {
    const command = service('redis').command?.join(' ') ?? ''
    expect(command).toContain('--maxmemory-policy noeviction')
    expect(command).toContain('--appendonly yes')
    expect(service('redis').volumes).toEqual(['redis:/data'])
  })

  test('the daemon starts when the stores answer and the one-shot migration is done', () => {
    expect(service('migrate')).toMatchObject({
      restart: 'no',
      command: ['node_modules/.bin/node', 'src/cli.ts', 'migrate'],
      depends_on: { postgres: { condition: 'service_healthy' } },
    })
    expect(service('tallyman').depends_on).toMatchObject({
      postgres: { condition: 'service_healthy' },
      redis: { condition: 'service_healthy' },
      migrate: { condition: 'service_completed_successfully' },
    })
  })

  test('the daemon gets time to drain before it is killed', () => {
    const { DRAIN_TIMEOUT: drainTimeout = '' } = service('tallyman').environment
    const graceMs = Number.parseInt(service('tallyman').stop_grace_period ?? '0', 10) * 1_000
    expect(graceMs).toBeGreaterThanOrEqual(readConfig({ DRAIN_TIMEOUT: drainTimeout }, false).drainTimeoutMs + 10_000)
  })

  test('the daemon accepts its settings, on the interface that the port mapping needs', () => {
    const image = Object.fromEntries(
      dockerfile
        .filter((line) => line.startsWith('ENV '))
        .flatMap((line) => [...line.matchAll(/(\w+)=(\S+)/g)])
        .map(([, name = '', value = '']) => [name, value]),
    )
    const settings = { ...image, ...service('tallyman').environment }
    const config = readConfig(Object.fromEntries(Object.entries(settings).map(([name, value]) => [name, plain(value)])), false)
    // The sandbox that the daemon brings along, since no other marketplace is named.
    expect(config).toMatchObject({ sandbox: { demo: true }, http: { host: '0.0.0.0', port: 8080 }, dataDir: '/data' })
    expect(new URL(config.databaseUrl ?? '').hostname).toBe('postgres')
    expect(new URL(config.redisUrl ?? '').hostname).toBe('redis')
    expect(config.sellers[0]?.marketplaceUrl).toBeNull()
  })

  test('has no secret of its own: each must be given, and what is missing says what makes it', () => {
    const source = readFileSync('docker-compose.yml', 'utf8')
    expect(source).not.toMatch(/CHANGEME|whsec_/)
    const names = ['API_KEY', 'EVENTS_SECRET', 'NOTIFICATIONS_SECRET', 'POSTGRES_PASSWORD', 'REDIS_PASSWORD']
    expect([...secrets.keys()].toSorted()).toEqual(names)
    for (const name of names) {
      const uses = [...source.matchAll(new RegExp(`\\$\\{?${name}\\b[^}]*\\}?`, 'g'))].map(([use]) => use)
      expect(uses.length, name).toBeGreaterThan(0)
      for (const use of uses) expect(use).toBe(`\${${name}:?is unset; node scripts/make-env.mjs > .env makes it}`)
    }
    // What is left is unset, which means the built-in sandbox.
    const defaults = [...source.matchAll(/\$\{(\w+):-([^}]*)\}/g)].map(([, name, value]) => [name, value])
    expect(Object.fromEntries(defaults)).toEqual({
      MARKETPLACE_URL: '',
      MARKETPLACE_PROFILE: 'specification',
      SELLER_ID: '',
      CLIENT_ID: '',
      CLIENT_SECRET: '',
    })
  })

  test('both sides of each password are the same', () => {
    const { DATABASE_URL: databaseUrl = '', REDIS_URL: redisUrl = '' } = service('tallyman').environment
    const {
      POSTGRES_USER: postgresUser,
      POSTGRES_PASSWORD: postgresPassword = '',
      POSTGRES_DB: postgresDb,
    } = service('postgres').environment
    const database = new URL(plain(databaseUrl))
    expect([database.username, database.password, database.pathname]).toEqual([
      postgresUser,
      plain(postgresPassword),
      `/${postgresDb}`,
    ])
    const { password } = new URL(plain(redisUrl))
    const { command = [], environment, healthcheck } = service('redis')
    expect(plain(command[command.indexOf('--requirepass') + 1] ?? '')).toBe(password)
    expect(plain(environment['REDISCLI_AUTH'] ?? '')).toBe(password)
    expect(healthcheck?.test).not.toContain('-a')
    // Merged from the daemon's settings: `environment` in a service would replace the whole of it.
    expect(service('migrate').environment['DATABASE_URL']).toBe(databaseUrl)
  })

  test('a marketplace without credentials ends the start, and names what is missing', () => {
    const given = Object.entries(service('tallyman').environment).map(([name, value]) => [name, plain(value)])
    const named = { ...Object.fromEntries(given), MARKETPLACE_URL: 'https://marketplace.example' }
    const fault = (): unknown => {
      try {
        return readConfig(named, false)
      } catch (error) {
        return error
      }
    }
    expect(fault()).toMatchObject({ faults: expect.arrayContaining([expect.stringMatching(/^CLIENT_ID/)]) })
    expect(readConfig({ ...named, SELLER_ID: 'acme', CLIENT_ID: 'id', CLIENT_SECRET: 'secret' }, false)).toMatchObject({
      sandbox: null,
    })
  })

  test('declares every volume that it mounts, and mounts every volume that it declares', () => {
    const mounted = services.flatMap(([, { volumes }]) => volumes.map((volume) => volume.split(':')[0]))
    expect(mounted.toSorted()).toEqual(Object.keys(compose.volumes).toSorted())
  })
})

describe('the processes of docker-compose.yml', () => {
  const stage = withDatabase()
  let redis: TestRedis
  let folder: string
  const running: Program[] = []
  beforeAll(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'tallyman-compose-'))
    redis = await startTestRedis()
  })
  afterAll(async () => {
    for (const program of running) await program.kill()
    await redis?.stop()
    await rm(folder, { recursive: true, force: true })
  })

  /** Starts what a service runs, in its environment, with the stores of the tests and on free ports. */
  const run = (name: 'migrate' | 'tallyman'): Program => {
    const given = Object.entries(service(name).environment).map(([variable, value]) => [variable, plain(value)])
    const [, script = 'src/main.ts', ...args] = service(name).command ?? []
    const program = startProgram(
      script,
      {
        ...Object.fromEntries(given),
        HOST: '0.0.0.0',
        ...{ DATABASE_URL: stage.url, REDIS_URL: redis.url, DATA_DIR: folder, PORT: '0', SANDBOX_PORT: '0' },
      },
      args,
    )
    running.push(program)
    return program
  }

  test('migrate, and work with the sandbox and the ERP of the demonstration', async () => {
    const migration = run('migrate')
    await migration.ended
    expect(migration.child.exitCode, migration.output()).toBe(0)
    const daemon = run('tallyman')
    const [, url = ''] = await daemon.says(/"console":"(http:[^"]+)\/"/)
    const here = url.replace('0.0.0.0', '127.0.0.1')
    await eventually(async () => expect((await fetch(`${here}/readyz`)).status).toBe(200))
    expect((await fetch(`${here}/v1/commands`)).status).toBe(401)
    await eventually(async () => {
      daemon.assertRuns()
      const authorization = `Bearer ${plain(service('tallyman').environment['API_KEY'] ?? '')}`
      const answer = await fetch(`${here}/v1/commands?state=confirmed`, { headers: { authorization } })
      expect(itemsSchema.parse(await answer.json()).items.length).toBeGreaterThan(0)
    })
    expect(await daemon.stop()).toBe(0)
  })
})
const itemsSchema = z.object({ items: z.array(z.unknown()) })

describe('Dockerfile', () => {
  test('is based on an exact version, the one of package.json, by its digest', () => {
    const { dependencies } = z
      .object({ dependencies: z.object({ node: z.string() }) })
      .parse(JSON.parse(readFileSync('package.json', 'utf8')))
    const bases = dockerfile.filter((line) => line.startsWith('FROM ')).map((line) => line.split(' ')[1] ?? '')
    expect(new Set(bases).size).toBe(1)
    for (const base of bases) expect(base).toMatch(/^node:[\d.]+-bookworm-slim@sha256:[0-9a-f]{64}$/)
    expect(bases[0]).toContain(`node:${dependencies.node}-bookworm-slim@`)
  })

  test('has no development packages, and nothing of the stage that installs but the program', () => {
    const last = dockerfile.findLastIndex((line) => line.startsWith('FROM '))
    // The stage before makes the database client and the console; only these are taken from there.
    const build = dockerfile.findIndex((line) => line.startsWith('FROM ') && line.endsWith(' AS build'))
    const [installing, shipped] = [dockerfile.slice(build, last), dockerfile.slice(last)]
    expect(installing.indexOf('ENV NPM_CONFIG_OMIT=dev')).toBeGreaterThan(0)
    expect(installing.indexOf('ENV NPM_CONFIG_OMIT=dev')).toBeLessThan(installing.findIndex((line) => line.startsWith('RUN ')))
    expect(shipped.filter((line) => line.startsWith('COPY '))).toEqual(['COPY --from=build /app ./'])
    expect(shipped.join('\n')).not.toMatch(/npm|setup\.mjs/)
    // npm takes packages that another one accepts for needed as long as the project names them for its development.
    expect(installing.findLast((line) => line.startsWith('RUN '))).toMatch(/ npm pkg delete devDependencies && npm prune /)
  })

  test('runs as an ordinary user, under an init', () => {
    const users = dockerfile.filter((line) => line.startsWith('USER '))
    expect(users).toEqual(['USER node'])
    const after = dockerfile.slice(dockerfile.indexOf('USER node'))
    expect(after.some((line) => line.startsWith('COPY '))).toBe(false)
    expect(after).toContain('ENTRYPOINT ["dumb-init", "--"]')
    // One process, with the very flags of `npm start`.
    const started = /^run (node_modules\/\.bin\/node .*src\/main\.ts)$/m.exec(readFileSync('scripts/start.sh', 'utf8'))?.[1]
    expect(started).toBeDefined()
    expect(after).toContain(
      `CMD [${started
        ?.split(' ')
        .map((word) => `"${word}"`)
        .join(', ')}]`,
    )
    // What that compiles is compiled by the user who runs it, with the same flags: Node keeps it apart by both.
    const compiles = after.flatMap((line) => /^RUN (.*)$/.exec(line)?.[1] ?? [])
    expect(compiles).toEqual([`PORT=none ${started} || [ $? -eq 78 ]`])
  })

  test('keeps what Node compiles of the whole program, which needs no TypeScript to be read then', async () => {
    const [line] = dockerfile.flatMap((text) => /^RUN (PORT=none .*)$/.exec(text)?.[1] ?? [])
    const folder = await mkdtemp(path.join(tmpdir(), 'tallyman-compiled-'))
    onTestFinished(() => rm(folder, { recursive: true }))
    const run = () =>
      spawnSync('sh', ['-c', line ?? 'false'], {
        encoding: 'utf8',
        maxBuffer: 100_000_000,
        env: { PATH: process.env['PATH'], NODE_COMPILE_CACHE: folder, NODE_DEBUG_NATIVE: 'COMPILE_CACHE' },
      })
    expect(run().status).toBe(0)
    const second = run()
    expect(second.status).toBe(0)
    const found = [...second.stderr.matchAll(/retrieving transpile cache for StrippedTypeScript file:.*\.\.\.(.*)$/gm)].map(
      ([, how]) => how,
    )
    expect(found.length).toBeGreaterThan(300)
    expect(new Set(found)).toEqual(new Set(['success']))
    expect(second.stderr).not.toContain('no transpile cache')
  })

  test('copies only what is there and what the build may see', () => {
    const copied = dockerfile
      .filter((line) => line.startsWith('COPY ') && !line.includes('--from='))
      .flatMap((line) => line.split(/\s+/).slice(1, -1))
    expect(copied.length).toBeGreaterThan(0)
    for (const file of copied) {
      expect(existsSync(file), file).toBe(true)
      if (file !== '.') expect(isIgnored(file), file).toBe(false)
    }
  })
})

const patterns = readFileSync('.dockerignore', 'utf8')
  .split('\n')
  .filter((line) => line !== '' && !line.startsWith('#'))

/** Stars of Docker stand for names that begin with a point too. */
const pointless = (text: string): string => text.replaceAll(/(^|\/)\./g, '$1point-')

/** Whether a file stays out of the image: the last pattern that fits it, or a folder above it, decides. */
const isIgnored = (file: string): boolean => {
  const places = file.split('/').map((_, index, parts) => pointless(parts.slice(0, index + 1).join('/')))
  const fits = (pattern: string) => places.some((place) => path.matchesGlob(place, pointless(pattern.replace(/^!/, ''))))
  return patterns.findLast(fits)?.startsWith('!') === false
}

describe('.dockerignore', () => {
  test.each([
    ...['sellers.yaml', 'sellers.yml', 'sellers.json', 'sellers-us.json', 'config/sellers.yaml', 'src/sellers.json'],
    ...[
      'key.pem',
      'src/key.pem',
      'prisma/deep/er/tls.key',
      'cert.p12',
      '.env',
      '.env.production',
      'src/.env',
      'sandbox/.env.local',
    ],
    ...['.data/postgres.password', '.data', 'sandbox/.data/x', '.git/config', 'node_modules/x', 'src/store/generated/client.ts'],
    ...['coverage/x', 'npm-debug.log', 'test/x.ts', 'docker-compose.yml', 'notes.txt', 'dump.sql', 'secrets/client'],
  ])('keeps %s out of the image', (file) => {
    expect(isIgnored(file)).toBe(true)
  })

  test('lets in what the program needs', () => {
    const files = ['src', 'sandbox', 'bin', 'prisma', 'scripts']
      .flatMap((folder) => readdirSync(folder, { recursive: true, withFileTypes: true }))
      .filter((entry) => entry.isFile() && !entry.parentPath.startsWith('src/store/generated'))
      .map((entry) => path.join(entry.parentPath, entry.name))
      .concat('package.json', 'package-lock.json', '.npmrc', 'prisma.config.ts', 'tsconfig.json')
    expect(files.length).toBeGreaterThan(100)
    expect(files.filter(isIgnored)).toEqual([])
  })
})
