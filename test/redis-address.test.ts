import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { readConfig } from '../src/config/config.ts'
import { parseSentinelAddress } from '../src/util/net/redis-address.ts'
import { type CertificateFiles, makeAuthority, type TestAuthority } from './support/certificates.ts'
import { configFaults } from './support/config-faults.ts'

describe('an address of sentinels', () => {
  const plain = { db: 0, username: null, password: null, sentinelUsername: null, sentinelPassword: null, tls: false }

  test.each([
    [
      'redis+sentinel://one.example:26380/orders',
      { ...plain, sentinels: [{ host: 'one.example', port: 26380 }], master: 'orders' },
    ],
    [
      'redis+sentinel://one.example,[::1]:26381, 10.0.0.7/mymaster/3',
      {
        ...plain,
        sentinels: [
          { host: 'one.example', port: 26379 },
          { host: '::1', port: 26381 },
          { host: '10.0.0.7', port: 26379 },
        ],
        master: 'mymaster',
        db: 3,
      },
    ],
    [
      'rediss+sentinel://tallyman:p%40ss%3Aword@one:1/my?sentinel_username=watch&sentinel_password=w%26t',
      {
        ...plain,
        sentinels: [{ host: 'one', port: 1 }],
        master: 'my',
        username: 'tallyman',
        password: 'p@ss:word',
        sentinelUsername: 'watch',
        sentinelPassword: 'w&t',
        tls: true,
      },
    ],
    ['redis+sentinel://:p@ss@one:1/my', { ...plain, sentinels: [{ host: 'one', port: 1 }], master: 'my', password: 'p@ss' }],
  ])('%s', (text, address) => {
    expect(parseSentinelAddress(text)).toEqual(address)
  })

  test.each([
    'redis://one:6379',
    'redis+sentinel://one:26379',
    'redis+sentinel://one:26379/',
    'redis+sentinel:///mymaster',
    'redis+sentinel://one:0/mymaster',
    'redis+sentinel://one:70000/mymaster',
    'redis+sentinel://one,/mymaster',
    'redis+sentinel://one/mymaster/zero',
    'redis+sentinel://:50%@one/mymaster',
    'redis+sentinel://one/mymaster?sentinelPassword=s',
    'redis+sentinel://one/mymaster, redis+sentinel://two/mymaster',
  ])('is not %s', (text) => {
    expect(parseSentinelAddress(text)).toBeNull()
  })
})

describe('REDIS_URL', () => {
  test('may name sentinels, one server, or the nodes of a cluster', () => {
    for (const url of ['redis+sentinel://:secret@one,two:26380/mymaster/1', 'rediss://one:6380/2', 'redis://one,redis://two'])
      expect(readConfig({ REDIS_URL: url }, false)).toMatchObject({ redisUrl: url })
  })

  test.each([
    'redis+sentinel://:hunter2@one,two',
    'redis+sentinels://:hunter2@one/mymaster',
    'redis+sentinel://one/my?password=hunter2',
  ])('is refused without being quoted: %s', (url) => {
    const [fault = '', ...others] = configFaults({ REDIS_URL: url })
    expect(others).toEqual([])
    expect(fault).toMatch(/^REDIS_URL: is not a Redis address; accepted: .*redis\+sentinel:\/\//)
    expect(fault).not.toContain('hunter2')
  })
})

describe('the files of TLS with Redis', () => {
  let authority: TestAuthority
  let files: CertificateFiles
  const redis = { REDIS_URL: 'rediss+sentinel://one/my' }

  beforeAll(async () => {
    authority = await makeAuthority()
    files = await authority.issue('tallyman')
  })
  afterAll(() => authority.remove())

  test('are read, and shown by their paths alone', async () => {
    const config = readConfig(
      { ...redis, REDIS_CA_FILE: authority.ca, REDIS_CERT_FILE: files.cert, REDIS_KEY_FILE: files.key },
      false,
    )
    expect(config.redisTls).toEqual(await authority.pem(files))
    expect(config.shown.find(({ name }) => name === 'REDIS_KEY_FILE')).toMatchObject({ value: files.key })
    expect(JSON.stringify(config.shown)).not.toContain('PRIVATE KEY')
  })

  test.each([
    ['no file', () => ({ ...redis, REDIS_CA_FILE: '/nowhere/ca.pem' }), /^REDIS_CA_FILE: is not the path of a readable file/],
    [
      'a file of something else',
      () => ({ ...redis, REDIS_CA_FILE: files.key }),
      /^REDIS_CA_FILE: is not the path .* certificate/,
    ],
    [
      'a certificate in place of its key',
      () => ({ ...redis, REDIS_CERT_FILE: files.cert, REDIS_KEY_FILE: files.cert }),
      /^REDIS_KEY_FILE: is not the path .* private key/,
    ],
    ['a certificate without its key', () => ({ ...redis, REDIS_CERT_FILE: files.cert }), /both or none$/],
    ['an address without TLS', () => ({ REDIS_URL: 'redis://one', REDIS_CA_FILE: authority.ca }), /REDIS_URL is not over TLS/],
    ['no address', () => ({ REDIS_CA_FILE: authority.ca }), /REDIS_URL is not over TLS/],
  ])('%s is refused', (_, environment, fault) => {
    expect(configFaults(environment())).toEqual([expect.stringMatching(fault)])
  })
})

test('DATABASE_DIRECT_URL stands beside DATABASE_URL', () => {
  const direct = 'postgresql://tallyman:hunter2@db.example/tallyman'
  expect(configFaults({ DATABASE_DIRECT_URL: direct })).toEqual([
    'DATABASE_DIRECT_URL: is set while DATABASE_URL is unset; accepted: beside DATABASE_URL',
  ])
  const pooled = direct.replace('db', 'pooler')
  const config = readConfig({ DATABASE_URL: pooled, DATABASE_DIRECT_URL: direct }, false)
  expect(config).toMatchObject({ databaseUrl: pooled, databaseDirectUrl: direct })
  expect(JSON.stringify(config.shown)).not.toContain('hunter2')
  expect(readConfig({ DATABASE_URL: pooled }, false)).toMatchObject({ databaseUrl: pooled, databaseDirectUrl: null })
})
