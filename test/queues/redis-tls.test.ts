import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createRedisStore } from '../../src/clients/rate-limit/redis-store.ts'
import { createLogger, createQuietLog } from '../../src/observability/log.ts'
import { createMetrics } from '../../src/observability/metrics.ts'
import { createQueueBackend } from '../../src/queues/backend/backend.ts'
import { connectRedis, describeRedisError, findRedisWarnings, knowsMaster } from '../../src/queues/backend/redis-connection.ts'
import { createQueueRuntime } from '../../src/queues/runtime.ts'
import { parseSentinelAddress, type RedisTls } from '../../src/util/net/redis-address.ts'
import { cli } from '../cli/run.ts'
import { type CertificateFiles, makeAuthority, type TestAuthority } from '../support/certificates.ts'
import { eventually } from '../support/eventually.ts'
import { startProgram } from '../support/process.ts'
import { hasRedisServer, startTestRedis, startTestSentinel, type TestRedis, type TestRedisTls } from '../support/redis.ts'

describe.skipIf(!hasRedisServer())('a Redis over TLS', () => {
  let authority: TestAuthority
  let other: TestAuthority
  let client: CertificateFiles
  let own: RedisTls
  let tls: TestRedisTls
  let redis: TestRedis
  const stops: (() => Promise<unknown>)[] = []
  const quiet = createQuietLog(createLogger({ level: 'silent', format: 'json', destination: { write: () => undefined } }))

  /** Whether the server's reason arrives before it closes the connection is a matter of luck. */
  const withoutOurs = /Redis wants a certificate of ours .* REDIS_CERT_FILE and REDIS_KEY_FILE$|ECONNRESET|closed/
  const inWords = (error: unknown): Error => new Error(describeRedisError(error))

  beforeAll(async () => {
    ;[authority, other] = await Promise.all([makeAuthority(), makeAuthority()])
    stops.push(() => Promise.all([authority.remove(), other.remove()]))
    const server = await authority.issue('redis', ['localhost', '127.0.0.1'])
    client = await authority.issue('tallyman')
    own = await authority.pem(client)
    // As Redis does where nothing else is said.
    tls = { ca: authority.ca, ...server, clients: 'yes', caller: own }
    redis = await startTestRedis([], { tls })
    stops.push(() => redis.stop())
  })
  afterAll(async () => {
    for (const stop of stops.reverse()) await stop()
  })

  test('holds the queues and the rate budget, with a certificate of the daemon', async () => {
    const backend = createQueueBackend({ redisUrl: redis.url, redisTls: own, databaseUrl: '', quiet })
    const log = createLogger({ level: 'silent', format: 'json', destination: { write: () => undefined } })
    const runtime = createQueueRuntime({ backend, log, metrics: createMetrics({ version: 'test', processMetrics: false }) })
    const ran: string[] = []
    runtime.register('command.run', async ({ data }) => {
      ran.push(data.commandId)
      return { done: true }
    })
    const limits = connectRedis(redis.url, 'producer', own)
    try {
      await runtime.start()
      await runtime.opened
      await runtime.enqueueMany([{ name: 'command.run', data: { commandId: '1' } }])
      await eventually(() => expect(ran).toEqual(['1']))
      expect(await createRedisStore(limits).nowMs()).toBeGreaterThan(0)
    } finally {
      limits.disconnect()
      await runtime.close()
    }
  })

  test.each([
    ['of another authority', async () => other.pem(client), /signed by an authority that is not trusted: .* REDIS_CA_FILE$/],
    ['that nobody has named', async () => ({}), /signed by an authority that is not trusted: .* REDIS_CA_FILE$/],
    ['without one of ours', async () => authority.pem(), withoutOurs],
  ])('a certificate %s: says what to do', async (_, pem, said) => {
    const redisTls = await pem()
    await expect(
      findRedisWarnings(redis.url, redisTls).catch((error: unknown) => Promise.reject(inWords(error))),
    ).rejects.toThrow(said)
    const backend = createQueueBackend({ redisUrl: redis.url, redisTls, databaseUrl: '', quiet })
    try {
      await expect(backend.open()).rejects.toThrow(said)
      await eventually(async () =>
        expect(await backend.check(2_000)).toMatchObject({ ok: false, detail: expect.stringMatching(said) }),
      )
    } finally {
      await backend.close()
    }
  })

  test('whose certificate is for another name', async () => {
    const files = await authority.issue('elsewhere', ['elsewhere', 'localhost'])
    const elsewhere = await startTestRedis([], { tls: { ...tls, ...files } })
    stops.push(() => elsewhere.stop())
    const look = findRedisWarnings(elsewhere.url.replace('localhost', '127.0.0.1'), own)
    await expect(look.catch((error: unknown) => Promise.reject(inWords(error)))).rejects.toThrow('is for other names')
  })

  test('that is a cluster', async () => {
    const node = await startTestRedis(
      ['--cluster-enabled', 'yes', '--cluster-announce-ip', '127.0.0.1', '--tls-cluster', 'yes'],
      {
        tls,
      },
    )
    stops.push(() => node.stop())
    await node.command('CLUSTER', 'ADDSLOTSRANGE', '0', '16383')
    await eventually(async () => expect(await node.command('CLUSTER', 'INFO')).toContain('cluster_state:ok'))
    const backend = createQueueBackend({ redisUrl: `${node.url}, ${node.url}`, redisTls: own, databaseUrl: '', quiet })
    try {
      await backend.open()
      expect(await backend.check(2_000)).toMatchObject({ ok: true })
    } finally {
      await backend.close()
    }
  })

  test('behind sentinels, which are spoken to over TLS as well', async () => {
    const sentinel = await startTestSentinel('orders', tls)
    stops.push(() => sentinel.stop())
    const address = parseSentinelAddress(sentinel.url)
    const [first] = address?.sentinels ?? []
    if (address === null || first === undefined) throw new Error('it has an address')
    expect(sentinel.url).toMatch(/^rediss\+sentinel:/)
    expect(await findRedisWarnings(sentinel.url, own)).toEqual([])
    expect(await knowsMaster(address, first, own)).toBe(true)
    for (const [pem, said] of [
      [await other.pem(client), 'signed by an authority that is not trusted'],
      [await authority.pem(), withoutOurs],
    ] as const) {
      const asked = knowsMaster(address, first, pem).catch((error: unknown) => Promise.reject(inWords(error)))
      await expect(asked).rejects.toThrow(said)
      const looked = findRedisWarnings(sentinel.url, pem).catch((error: unknown) => Promise.reject(inWords(error)))
      await expect(looked).rejects.toThrow(
        /^no sentinel of REDIS_URL names the master \(.*\); tallyman doctor checks each of them$/,
      )
    }
  })

  test('the doctor takes the files of the settings, or the authorities that Node trusts besides', async () => {
    const files = { REDIS_CA_FILE: authority.ca, REDIS_CERT_FILE: client.cert, REDIS_KEY_FILE: client.key }
    const doctor = await cli(['doctor'], { REDIS_URL: redis.url, TALLYMAN_URL: 'http://127.0.0.1:1', ...files })
    expect(doctor.out).toMatch(/^ok +redis: localhost:\d+ answers$/m)
    const refused = await cli(['doctor'], { REDIS_URL: redis.url, TALLYMAN_URL: 'http://127.0.0.1:1' })
    expect(refused.out).toMatch(/^fail +redis: localhost:\d+ does not answer: the certificate of Redis .* in REDIS_CA_FILE$/m)

    const lenient = await startTestRedis([], { tls: { ...tls, clients: 'no' } })
    stops.push(() => lenient.stop())
    const program = startProgram(
      'src/cli.ts',
      { REDIS_URL: lenient.url, TALLYMAN_URL: 'http://127.0.0.1:1', NODE_EXTRA_CA_CERTS: authority.ca },
      ['doctor'],
    )
    await program.ended
    expect(program.output()).toMatch(/^ok +redis: localhost:\d+ answers$/m)
  })
})
