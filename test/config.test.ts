import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { readConfig, readSellersAgain } from '../src/config/config.ts'
import { configFaults } from './support/config-faults.ts'

const file = (name: string, content: string): string => {
  const folder = mkdtempSync(path.join(tmpdir(), 'tallyman-config-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const target = path.join(folder, name)
  writeFileSync(target, content)
  return target
}

const marketplace = {
  MARKETPLACE_URL: 'https://marketplace.example',
  SELLER_ID: 's-1',
  CLIENT_ID: 'c-1',
  CLIENT_SECRET: 'secret-1',
}

describe('readConfig', () => {
  test('needs nothing: embedded Postgres, queues in Postgres, built-in sandbox and demonstration', () => {
    const config = readConfig({}, false)
    expect(config).toMatchObject({ databaseUrl: null, redisUrl: null, sandbox: { port: 8181, demo: true } })
    expect(config.sellers).toHaveLength(1)
    expect(config.http).toMatchObject({ host: '127.0.0.1', port: 8080, apiKey: null })
    expect(readConfig({ DEMO: 'off' }, false).intervals).toMatchObject({
      POLL_ORDERS: 60_000,
      POLL_ORDER_SWEEP: 86_400_000,
      POLL_RETURNS: 900_000,
    })
  })

  test('one seller may have a refresh token and a partner id, also from a file that is read again', () => {
    const [plain] = readConfig({ ...marketplace, REFRESH_TOKEN: 'rt-1', PARTNER_ID: '10002' }, false).sellers
    expect(plain).toMatchObject({ refreshToken: 'rt-1', partnerId: '10002' })
    expect(readConfig(marketplace, false).sellers[0]).toMatchObject({ refreshToken: null, partnerId: null })
    const path = file('token', 'rt-2\n')
    const source = { ...marketplace, REFRESH_TOKEN_FILE: path }
    expect(readConfig(source, false).sellers[0]?.refreshToken).toBe('rt-2')
    writeFileSync(path, 'rt-3')
    expect(readSellersAgain(source)[0]?.refreshToken).toBe('rt-3')
    expect(configFaults({ ...marketplace, SELLER_ID: 'K\u{1F600}', REFRESH_TOKEN: 'rt-1' })).toEqual([
      'PARTNER_ID: is missing while the id of the seller cannot be the value of a header; accepted: its id at the marketplace',
    ])
    expect(configFaults({ REFRESH_TOKEN: 'rt-1' })).toEqual([
      expect.stringMatching(/^MARKETPLACE_URL: is unset while REFRESH_TOKEN is set/),
    ])
  })

  test('keys that encrypt refresh tokens have 32 bytes, and are shown nowhere', () => {
    const [one, two] = [Buffer.alloc(32, 1), Buffer.alloc(32, 2)]
    const text = `${one.toString('base64')},${two.toString('base64')}`
    const config = readConfig({ TOKEN_ENCRYPTION_KEY: text }, false)
    expect(config.tokenEncryptionKeys).toEqual([one, two])
    expect(readConfig({}, false).tokenEncryptionKeys).toEqual([])
    expect(config.shown.find(({ name }) => name === 'TOKEN_ENCRYPTION_KEY')).toMatchObject({
      value: null,
      secret: true,
      isSet: true,
    })
    for (const wrong of ['hunter2', Buffer.alloc(16, 1).toString('base64'), `${one.toString('base64')},hunter2`]) {
      const faults = configFaults({ TOKEN_ENCRYPTION_KEY: wrong })
      expect(faults).toEqual([
        expect.stringMatching(/^TOKEN_ENCRYPTION_KEY: is not a list of keys; accepted: base64 of 32 bytes/),
      ])
      expect(faults.join()).not.toContain('hunter2')
    }
  })

  test('a mail server has an address and a sender, and its password is shown nowhere', () => {
    const mail = { SMTP_URL: 'smtps://alarms:hunter2@mail.example', SMTP_FROM: 'Tallyman <alarms@shop.example>' }
    const config = readConfig(mail, false)
    expect(config.smtp).toMatchObject({ host: 'mail.example', port: 465, credentials: { user: 'alarms', password: 'hunter2' } })
    expect(JSON.stringify(config.shown)).not.toContain('hunter2')
    expect(readConfig({}, false)).toMatchObject({ smtp: null, consoleUrl: null })
    expect(configFaults({ SMTP_URL: mail.SMTP_URL })).toEqual(['SMTP_URL, SMTP_FROM: one of them is set; accepted: both or none'])
    for (const wrong of [
      'mail.example',
      'http://mail.example',
      'smtp://u@mail.example',
      'smtp://m/path',
      'smtp://m?x=1',
      'smtp://u:%zz@m',
    ]) {
      const faults = configFaults({ ...mail, SMTP_URL: wrong })
      expect(faults, wrong).toEqual([expect.stringMatching(/^SMTP_URL: is not the address of a mail server; accepted: /)])
    }
    for (const wrong of [
      'alarms',
      'A <alarms>',
      'a@shop.example, b@shop.example',
      'x\r\nBcc: <a@shop.example>',
      '<a@shop.example> x',
    ])
      expect(configFaults({ ...mail, SMTP_FROM: wrong }), wrong).toEqual([expect.stringMatching(/^SMTP_FROM: is not a sender/)])
    expect(readConfig({ ...mail, SMTP_FROM: 'alarms@shop.example' }, false).smtp?.from).toBe('alarms@shop.example')
  })

  test('acknowledges before it ships, unless told to refuse', () => {
    expect(readConfig({}, false).shipUnacknowledged).toBe('acknowledge-first')
    expect(readConfig({ SHIP_UNACKNOWLEDGED: 'refuse' }, false).shipUnacknowledged).toBe('refuse')
    expect(configFaults({ SHIP_UNACKNOWLEDGED: 'never' })[0]).toContain('acknowledge-first, refuse')
  })

  test('data is kept for as long as it says, and the inventory log no shorter than the reconciliation needs', () => {
    const dayMs = 86_400_000
    expect(readConfig({}, false).retention).toEqual({
      runs: 30 * dayMs,
      attempts: 400 * dayMs,
      versions: 400 * dayMs,
      changes: 90 * dayMs,
      events: 400 * dayMs,
      alarms: 400 * dayMs,
      quarantine: 400 * dayMs,
      deliveries: 30 * dayMs,
      notifications: 30 * dayMs,
      'log-entries': 800 * dayMs,
    })
    const given = { RETAIN_RUNS: '12h', RETAIN_CHANGES: 'forever', RETAIN_LOG_ENTRIES: '400d', RETAIN_EVENTS: '1d' }
    expect(readConfig(given, false).retention).toMatchObject({
      runs: dayMs / 2,
      changes: 'forever',
      'log-entries': 400 * dayMs,
      events: dayMs,
    })
    const faults = configFaults({ RETAIN_LOG_ENTRIES: '365d', RETAIN_RUNS: 'never', RETAIN_ATTEMPTS: '40000d', RETAIN_RUN: '1d' })
    expect(faults).toEqual([
      expect.stringMatching(/^RETAIN_RUN: .*RETAIN_RUNS/),
      expect.stringMatching(/^RETAIN_RUNS: is not a duration; accepted: .* or forever$/),
      expect.stringMatching(/^RETAIN_ATTEMPTS: is too long; accepted: .* up to 36500d; or forever$/),
      expect.stringMatching(
        /^RETAIN_LOG_ENTRIES: is too short; accepted: .* at least 397d \(the reconciliation reads .*\), .* or forever$/,
      ),
    ])
  })

  test('reports every fault at once, each with its variable and what is accepted', () => {
    const faults = configFaults({
      PORT: '99999',
      POLL_ORDERS: '5',
      LOG_LEVEL: 'loud',
      ROLES: 'worker,cook',
      DATABASE_URL: 'mysql://x',
    })
    for (const name of ['PORT', 'POLL_ORDERS', 'LOG_LEVEL', 'ROLES', 'DATABASE_URL']) {
      expect(
        faults.filter((fault) => fault.startsWith(`${name}: `) && fault.includes('accepted')),
        name,
      ).toHaveLength(1)
    }
  })

  test('bounds are whole numbers within reason', () => {
    expect(readConfig({}, false).http.limits).toEqual({
      bodyBytes: 1_048_576,
      batchEvents: 1_000,
      connections: 500,
      streams: 100,
      maxReportedFaults: 100,
    })
    expect(readConfig({}, false).maxPageRecords).toBe(10_000)
    expect(readConfig({ MAX_STREAMS: '0', MAX_CONNECTIONS: '7' }, false).http.limits).toMatchObject({
      streams: 0,
      connections: 7,
    })
    expect(configFaults({ MAX_BATCH_EVENTS: '1001', MAX_STREAMS: '-1', MAX_CONNECTIONS: 'many', MAX_BODY_BYTES: '1e6' })).toEqual(
      [
        'MAX_BODY_BYTES: is not a valid number; accepted: a whole number from 1024 to 16777216',
        'MAX_BATCH_EVENTS: is not a valid number; accepted: a whole number from 1 to 1000',
        'MAX_CONNECTIONS: is not a valid number; accepted: a whole number from 1 to 100000',
        'MAX_STREAMS: is not a valid number; accepted: a whole number from 0 to 100000',
      ],
    )
  })

  test('never repeats a secret in a fault', () => {
    const faults = configFaults({ API_KEY: 'hunter2', EVENTS_SECRET: 'whsec_!!', DATABASE_URL: 'mysql://user:hunter2@host' })
    expect(faults).toHaveLength(3)
    expect(faults.join()).not.toContain('hunter2')
  })

  test('takes how far back and how often to read again', () => {
    expect(readConfig({}, false)).toMatchObject({
      lookBackMs: 1_800_000,
      intervals: { REREAD_EVERY: 86_400_000 },
      rereadDepthMs: 45 * 86_400_000,
    })
    const given = { LOOK_BACK: '2h', REREAD_EVERY: '12h', REREAD_DEPTH: '7d' }
    expect(readConfig(given, false)).toMatchObject({
      lookBackMs: 7_200_000,
      intervals: { REREAD_EVERY: 43_200_000 },
      rereadDepthMs: 604_800_000,
    })
    expect(readConfig({ REREAD_EVERY: 'off' }, false).intervals['REREAD_EVERY']).toBe('off')
    expect(configFaults({ REREAD_DEPTH: '99999d' })[0]).toContain('up to 3650d')
    expect([{}, { POLL_ORDERS_NOTIFIED: '10m' }].map((each) => readConfig(each, false).notifiedIntervalMs)).toEqual([
      null,
      600_000,
    ])
    const refused = ['16m', '500ms', 'off'].map((given) => configFaults({ POLL_ORDERS_NOTIFIED: given })[0])
    expect(refused).toEqual([
      expect.stringMatching(/^POLL_ORDERS_NOTIFIED: is too long; accepted: .* up to 15m$/),
      expect.stringMatching(/^POLL_ORDERS_NOTIFIED: is too short; accepted: /),
      expect.stringMatching(/^POLL_ORDERS_NOTIFIED: is not a duration; accepted: /),
    ])
    expect(configFaults({ REREAD_DEPTH: '5m', LOOK_BACK: 'long' }).map((fault) => fault.split(':')[0])).toEqual([
      'LOOK_BACK',
      'REREAD_DEPTH',
    ])
  })

  test('takes limits of operations, and names an operation that there is not', () => {
    const given = { RATE_LIMITS: '{"orders.ship": {"tokens": 30, "per": "1m"}}' }
    expect(readConfig(given, false).sellers[0]?.rateLimits).toEqual({ 'orders.ship': { tokens: 30, perMs: 60_000 } })
    expect(readConfig({}, false).sellers[0]?.rateLimits).toEqual({})
    for (const wrong of [
      '{"orders.sip": {"tokens": 30, "per": "1m"}}',
      '{"orders.ship": {"tokens": 0, "per": "1m"}}',
      '{"orders.ship": 5}',
      '7',
    ])
      expect(configFaults({ RATE_LIMITS: wrong })[0]).toMatch(/^RATE_LIMITS: .*orders\.ship/)
  })

  test('takes an empty variable as unset', () => {
    expect(readConfig({ REDIS_URL: '', PORT: '' }, false)).toMatchObject({ redisUrl: null, http: { port: 8080 } })
  })

  test('reads what reasons of the inventory log mean, by their words', () => {
    const reasons = (source: Record<string, string>) => [...(readConfig(source, false).sellers[0]?.logReasons ?? [])]
    expect(reasons({})).toEqual([])
    expect(reasons({ LOG_REASONS: '{"GoneWest": "lost", "Q-7": "other"}' })).toEqual([
      ['gone west', 'lost'],
      ['q 7', 'other'],
    ])
    for (const wrong of ['{', '[]', '{"Q7": "stolen"}', '"lost"']) {
      expect(configFaults({ LOG_REASONS: wrong }), wrong).toEqual([
        expect.stringMatching(/^LOG_REASONS: .*accepted.*lost, found/),
      ])
    }
    const own = file('s.json', JSON.stringify([{ sellerId: 'a', clientId: 'c', clientSecret: 's', logReasons: { Q7: 'found' } }]))
    const seller = { MARKETPLACE_URL: 'https://m.example', SELLERS_FILE: own, LOG_REASONS: '{"Q7": "lost"}' }
    expect(reasons(seller)).toEqual([['q7', 'found']])
  })

  test('shows every setting with where it comes from, and no secret', () => {
    const { shown } = readConfig(
      {
        ...marketplace,
        MARKETPLACE_URL: 'https://marketplace.example/api',
        API_KEY_FILE: file('key', 'hunter2-hunter2-hunter2'),
        DATABASE_URL: 'postgres://user:hunter2@host/db',
        LOOK_BACK: '90m',
        POLL_RETURNS: 'off',
        RETAIN_RUNS: 'forever',
        ROLES: 'worker,http',
        RATE_LIMITS: '',
      },
      false,
    )
    const of = (name: string) => shown.find((setting) => setting.name === name)
    expect(of('MARKETPLACE_URL')).toEqual({
      name: 'MARKETPLACE_URL',
      meaning: 'Address of the marketplace. Unset: the built-in sandbox.',
      value: 'https://marketplace.example/api',
      secret: false,
      isSet: true,
      from: 'environment',
    })
    expect(of('API_KEY')).toMatchObject({
      meaning: expect.stringMatching(/It can create others\.$/),
      value: null,
      secret: true,
      isSet: true,
      from: 'file',
    })
    expect(of('CLIENT_SECRET')).toMatchObject({ value: null, secret: true, isSet: true, from: 'environment' })
    expect(of('EVENTS_SECRET')).toMatchObject({ value: null, secret: true, isSet: false, from: 'default' })
    expect(of('LOOK_BACK')).toMatchObject({ value: '90m', from: 'environment' })
    expect(of('SETTLE_TIME')).toMatchObject({ value: '2m', from: 'default' })
    expect(of('RETAIN_RUNS')).toMatchObject({ value: 'forever', from: 'environment' })
    expect(of('RETAIN_CHANGES')).toMatchObject({ value: '90d', from: 'default' })
    expect(of('POLL_RETURNS')).toMatchObject({ value: 'off', from: 'environment' })
    expect(of('POLL_ORDERS')).toMatchObject({ value: '1m', from: 'default' })
    expect(of('ROLES')).toMatchObject({ value: 'worker,http', from: 'environment' })
    expect(of('RATE_LIMITS')).toMatchObject({ value: '{}', from: 'default' })
    expect(of('LOG_FORMAT')).toMatchObject({ value: 'json', from: 'default' })
    expect(of('PORT')).toMatchObject({ value: '8080', from: 'default' })
    expect(JSON.stringify(shown)).not.toMatch(/hunter2|secret-1/)
    expect(shown.map(({ name }) => name)).toEqual(expect.arrayContaining(Object.keys(readConfig({}, false).intervals)))
  })

  test('demands API_KEY, EVENTS_SECRET and NOTIFICATIONS_SECRET away from the loopback interface', () => {
    const faults = configFaults({ HOST: '0.0.0.0' })
    expect(faults.map((fault) => fault.split(':')[0])).toEqual(['API_KEY', 'EVENTS_SECRET', 'NOTIFICATIONS_SECRET'])
    // A process without the role http answers health alone.
    expect(readConfig({ HOST: '0.0.0.0', ROLES: 'scheduler,worker', HEALTH_PORT: '8081' }, false).http).toMatchObject({
      apiKey: null,
      healthPort: 8081,
    })
    expect(readConfig({}, false).http.healthPort).toBeNull()
  })

  test('demands a settle time longer than a request can live', () => {
    expect(configFaults({ REQUEST_TIMEOUT: '30s', SETTLE_TIME: '30s' })[0]).toMatch(/^SETTLE_TIME: /)
  })

  test('reads secrets from files, and refuses both spellings at once', () => {
    const { CLIENT_SECRET: _, ...rest } = marketplace
    const secret = file('secret', 'from-file\n')
    expect(readConfig({ ...rest, CLIENT_SECRET_FILE: secret }, false).sellers[0]?.clientSecret).toBe('from-file')
    expect(configFaults({ ...marketplace, CLIENT_SECRET_FILE: secret })[0]).toMatch(/^CLIENT_SECRET and CLIENT_SECRET_FILE/)
    expect(configFaults({ ...rest, CLIENT_SECRET_FILE: '/nowhere' })[0]).toMatch(/^CLIENT_SECRET_FILE: /)
  })

  test('does not start the sandbox when there is a marketplace', () => {
    expect(readConfig(marketplace, false)).toMatchObject({
      sandbox: null,
      sellers: [{ sellerId: 's-1', marketplaceUrl: 'https://marketplace.example' }],
    })
  })

  test('refuses an address with a user name or a password, without repeating it', () => {
    for (const userInfo of ['user', 'user:hunter2', ':hunter2']) {
      const faults = configFaults({ ...marketplace, MARKETPLACE_URL: `https://${userInfo}@marketplace.example` })
      expect(faults).toEqual([expect.stringMatching(/^MARKETPLACE_URL: contains a user name or a password/)])
      expect(faults[0]).not.toContain('hunter2')
    }
  })

  test('refuses what no request can be made of: an address with a query, a name that no header can carry', () => {
    for (const end of ['?a=b', '#c', '/path?', '/#'])
      expect(configFaults({ ...marketplace, MARKETPLACE_URL: `https://marketplace.example${end}` })).toEqual([
        expect.stringMatching(/^MARKETPLACE_URL: contains a query/),
      ])
    for (const name of ['Zürich ☃', 'x\r\nEvil: 1', 'a\u007fb'])
      expect(configFaults({ ...marketplace, SERVICE_NAME: name })).toEqual([
        expect.stringMatching(/^SERVICE_NAME: contains characters that are invalid in a header/),
      ])
    expect(readConfig({ ...marketplace, SERVICE_NAME: 'Zürich 2' }, false).sellers[0]?.serviceName).toBe('Zürich 2')
  })

  test('says what is missing beside MARKETPLACE_URL, and the other way round', () => {
    expect(configFaults({ MARKETPLACE_URL: 'https://m.example' }).map((fault) => fault.split(':')[0])).toEqual([
      'SELLER_ID',
      'CLIENT_ID',
      'CLIENT_SECRET',
    ])
    expect(configFaults({ CLIENT_ID: 'c' })[0]).toMatch(/^MARKETPLACE_URL: /)
  })

  test('reads many sellers from YAML or JSON, each with settings of its own', () => {
    const yaml = file(
      'sellers.yaml',
      'sellers:\n  - {sellerId: a, clientId: ca, clientSecret: sa}\n  - {sellerId: b, clientId: cb, clientSecret: sb, profile: walmart-us}\n',
    )
    const config = readConfig({ MARKETPLACE_URL: 'https://m.example/', SELLERS_FILE: yaml }, false)
    expect(config.sellers.map((seller) => [seller.sellerId, seller.profile, seller.marketplaceUrl])).toEqual([
      ['a', 'specification', 'https://m.example'],
      ['b', 'walmart-us', 'https://m.example'],
    ])
    const json = file('sellers.json', JSON.stringify([{ sellerId: 'a', clientId: 'ca', clientSecret: 'other' }]))
    expect(readSellersAgain({ MARKETPLACE_URL: 'https://m.example', SELLERS_FILE: json })[0]?.clientSecret).toBe('other')
  })

  test('refuses a sellers file with a seller twice, without a secret, or with unknown keys', () => {
    const twice = file('s.json', JSON.stringify([1, 2].map(() => ({ sellerId: 'a', clientId: 'c', clientSecret: 's' }))))
    expect(configFaults({ MARKETPLACE_URL: 'https://m.example', SELLERS_FILE: twice })[0]).toContain('twice')
    const without = file('s.json', JSON.stringify([{ sellerId: 'a', clientId: 'c' }]))
    expect(configFaults({ MARKETPLACE_URL: 'https://m.example', SELLERS_FILE: without })[0]).toContain('clientSecret is missing')
    const unknown = file('s.json', JSON.stringify([{ sellerId: 'a', clientId: 'c', clientSecret: 's', colour: 'red' }]))
    expect(configFaults({ MARKETPLACE_URL: 'https://m.example', SELLERS_FILE: unknown })[0]).toContain('SELLERS_FILE')
  })

  test('names the place of each fault in a sellers file, and never what stands there', () => {
    const sellers = [
      { sellerId: 7, clientSecret: 'hunter2' },
      { sellerId: 'b', clientId: 'c', clientSecret: ['hunter2'], profile: 'hunter2', colour: 'red', clientIdd: 'c' },
    ]
    // In the list alone its first seller begins in line 2, in a document in line 3.
    for (const [document, first] of [
      [sellers, 2],
      [{ sellers }, 3],
    ] as const) {
      const name = file('s.json', JSON.stringify(document, null, 1))
      const faults = configFaults({ MARKETPLACE_URL: 'https://m.example', SELLERS_FILE: name })
      expect(faults.map((fault) => fault.slice(`SELLERS_FILE: ${name}: `.length).split('; accepted:')[0])).toEqual([
        expect.stringMatching(new RegExp(`^line ${first + 1}: sellers\\[0\\]\\.sellerId is wrong: `)),
        expect.stringMatching(new RegExp(`^line ${first + 7}: sellers\\[1\\]\\.clientSecret is wrong: `)),
        expect.stringMatching(new RegExp(`^line ${first + 10}: sellers\\[1\\]\\.profile is wrong: .*specification`)),
        `line ${first + 11}: sellers[1].colour is unknown`,
        `line ${first + 12}: sellers[1].clientIdd is unknown (did you mean clientId?)`,
      ])
      expect(faults.join()).not.toContain('hunter2')
    }
    for (const [text, fault] of [
      ['', 'sellers is missing'],
      ['[]', 'sellers is wrong: must contain at least one seller'],
      ['{"seller": []}', 'seller is unknown (did you mean sellers?)'],
      ['"text"', 'the document is wrong'],
    ] as const) {
      const faults = configFaults({ MARKETPLACE_URL: 'https://m.example', SELLERS_FILE: file('s.yaml', text) })
      expect(faults.join(), text).toContain(fault)
    }
  })
})

describe('a misspelt setting', () => {
  test('is a fault that names the one that is meant', () => {
    expect(configFaults({ POLL_ORDRES: '5m', MARKETPLACE_PROFIL: 'walmart-us', MAX_STREAM: '3', Poll_returns: 'off' })).toEqual([
      'POLL_ORDRES: is not a setting (did you mean POLL_ORDERS?)',
      'MARKETPLACE_PROFIL: is not a setting (did you mean MARKETPLACE_PROFILE?)',
      'MAX_STREAM: is not a setting (did you mean MAX_STREAMS?)',
      'Poll_returns: is not a setting (did you mean POLL_RETURNS?)',
    ])
  })

  test('also where its first word is misspelt', () => {
    expect(
      configFaults({
        EVENT_SECRET: 'x',
        NOTIFICATION_SECRET: 'x',
        SELERS_FILE: 'x',
        MARKETPLACEURL: 'x',
        RETIAN_RUNS: '3d',
        MX_STREAMS: '3',
      }),
    ).toEqual([
      'EVENT_SECRET: is not a setting (did you mean EVENTS_SECRET?)',
      'NOTIFICATION_SECRET: is not a setting (did you mean NOTIFICATIONS_SECRET?)',
      'SELERS_FILE: is not a setting (did you mean SELLERS_FILE?)',
      'MARKETPLACEURL: is not a setting (did you mean MARKETPLACE_URL?)',
      'RETIAN_RUNS: is not a setting (did you mean RETAIN_RUNS?)',
      'MX_STREAMS: is not a setting (did you mean MAX_STREAMS?)',
    ])
  })

  test('is left to others where they may mean something else by it', () => {
    const others = {
      CLIENT_IP: '1',
      DATADIR: '/x',
      PORTS: '1',
      LOGNAME: 'me',
      DISPLAY: ':0',
      SANDBOX_SERVICE_HOST: 'x',
      SANDBOX_URL: 'http://127.0.0.1:8181',
      HOSTNAME: 'x',
    }
    expect(readConfig(others, false).unknownSettings).toEqual([])
    expect(readConfig({ POLL_ORDRES: '', POLL_WEATHER: '5m' }, false).unknownSettings).toEqual(['POLL_WEATHER'])
  })
})
