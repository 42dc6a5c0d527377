import { chown, copyFile, stat, writeFile } from 'node:fs/promises'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { inboundQueue, queueNames } from '../../src/queues/jobs.ts'
import { cli } from '../cli/run.ts'
import { type CertificateFiles, makeAuthority, type TestAuthority } from '../support/certificates.ts'
import { startTestDaemon } from '../support/daemon.ts'
import { accepted } from '../support/events.ts'
import { eventually } from '../support/eventually.ts'
import { startTestPostgres, type TestPostgres } from '../support/postgres.ts'
import { startProgram } from '../support/process.ts'
import { query } from '../support/query.ts'
import { startTestSandbox, type TestSandbox } from '../support/sandbox.ts'
import { placeOrder, post, sandboxSeller, untilEffects } from './support.ts'

/** Lets a Postgres take connections over TLS alone: by password, and those of `certified` by certificate. */
const insistOnTls = async (url: string, authority: TestAuthority): Promise<void> => {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    const { rows } = await client.query<{ data_directory: string }>('SHOW data_directory')
    const folder = rows[0]?.data_directory ?? ''
    const { uid, gid } = await stat(folder)
    const { cert, key } = await authority.issue('postgres', ['localhost'])
    for (const [from, name] of [
      [cert, 'server.pem'],
      [key, 'server.key'],
      [authority.ca, 'ca.pem'],
    ] as const) {
      await copyFile(from, `${folder}/${name}`)
      await chown(`${folder}/${name}`, uid, gid)
    }
    await client.query(`CREATE ROLE certified LOGIN SUPERUSER`)
    for (const [name, value] of Object.entries({
      ssl: 'on',
      ssl_cert_file: 'server.pem',
      ssl_key_file: 'server.key',
      ssl_ca_file: 'ca.pem',
    }))
      await client.query(`ALTER SYSTEM SET ${name} = '${value}'`)
    const rules = ['certified 127.0.0.1/32 cert', 'all 127.0.0.1/32 scram-sha-256']
    await writeFile(`${folder}/pg_hba.conf`, rules.map((rule) => `hostssl all ${rule}\n`).join(''))
    await client.query('SELECT pg_reload_conf()')
  } finally {
    await client.end()
  }
}

/** Several servers, and the daemon. */
const startMs = 120_000

describe('a Postgres that lets nobody in without TLS', () => {
  let postgres: TestPostgres
  let sandbox: TestSandbox
  let authority: TestAuthority
  let other: TestAuthority
  let client: CertificateFiles
  let address: URL
  const stops: (() => Promise<unknown>)[] = []

  /** The address of a database over TLS. */
  const over = (parameters: Readonly<Record<string, string>>, host = 'localhost'): string => {
    const url = new URL(address)
    url.hostname = host
    for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value)
    return url.href
  }
  const verified = () => over({ sslmode: 'verify-full', sslrootcert: authority.ca })

  beforeAll(async () => {
    ;[postgres, sandbox, authority, other] = await Promise.all([
      startTestPostgres(),
      startTestSandbox(),
      makeAuthority(),
      makeAuthority(),
    ])
    stops.push(
      () => postgres.stop(),
      () => sandbox.stop(),
      () => authority.remove(),
      () => other.remove(),
    )
    client = await authority.issue('certified')
    address = new URL(await postgres.emptyDatabase())
    await insistOnTls(postgres.url, authority)
    await eventually(async () => expect(query(address.href, 'SELECT 1')).rejects.toThrow('no encryption'))
  }, startMs)
  afterAll(async () => {
    for (const stop of stops.reverse()) await stop()
  })

  test('every connection of the daemon and of the command line is over it', { timeout: 240_000 }, async () => {
    const environment = { DATABASE_URL: verified() }
    const daemon = await startTestDaemon({
      ...sandboxSeller,
      ...environment,
      MARKETPLACE_URL: sandbox.url,
      DATA_DIR: sandbox.folder,
      POLL_ORDERS: '1s',
    })
    stops.push(() => daemon.program.kill())
    const order = await placeOrder(sandbox, 1)
    expect(await post(daemon, accepted(order))).toBe(202)
    await untilEffects(sandbox, order, ['acknowledged'])
    const backends = await query<{ name: string; ssl: boolean }>(
      verified(),
      `SELECT DISTINCT application_name AS name, ssl FROM pg_stat_activity JOIN pg_stat_ssl USING (pid)
       WHERE datname = current_database() AND pid <> pg_backend_pid() ORDER BY 1`,
    )
    // Connections on which a queue listens have its name.
    expect(backends.map(({ name }) => name)).toEqual(
      [...queueNames, inboundQueue, 'tallyman', 'tallyman listener', 'tallyman-queues'].sort(),
    )
    expect(backends.filter(({ ssl }) => !ssl)).toEqual([])

    for (const command of ['migrate', 'grants', 'vacuum']) expect(await cli([command], environment)).toMatchObject({ code: 0 })
    expect((await cli(['doctor'], { ...environment, TALLYMAN_URL: daemon.url })).out).toMatch(
      /^ok +database: answers and is migrated$/m,
    )
    expect(await daemon.program.stop()).toBe(0)
  })

  test('a certificate takes the place of a password', async () => {
    address.username = 'certified'
    address.password = ''
    try {
      const url = over({ sslmode: 'verify-full', sslrootcert: authority.ca, sslcert: client.cert, sslkey: client.key })
      expect(await cli(['migrate'], { DATABASE_URL: url })).toMatchObject({ code: 0 })
    } finally {
      const { username, password } = new URL(postgres.url)
      address.username = username
      address.password = password
    }
  })

  test('Node may be told of the authority in place of the address', async () => {
    const program = startProgram(
      'src/cli.ts',
      { DATABASE_URL: over({ sslmode: 'verify-full' }), NODE_EXTRA_CA_CERTS: authority.ca, TALLYMAN_URL: 'http://127.0.0.1:1' },
      ['doctor'],
    )
    await program.ended
    expect(program.output()).toMatch(/^ok +database: answers/m)
  })

  test.each([
    ['no TLS at all', () => over({}), 'Postgres requires TLS: add sslmode=verify-full to DATABASE_URL'],
    [
      'another authority',
      () => over({ sslmode: 'verify-full', sslrootcert: other.ca }),
      'signed by an authority that is not trusted: name the file of that authority in sslrootcert of DATABASE_URL',
    ],
    ['no authority', () => over({ sslmode: 'verify-full' }), 'name the file of that authority in sslrootcert of DATABASE_URL'],
    [
      'another name',
      () => over({ sslmode: 'verify-full', sslrootcert: authority.ca }, '127.0.0.1'),
      'the certificate of Postgres is for other names',
    ],
  ])('%s: the doctor says what to do', async (_, url, said) => {
    const { out } = await cli(['doctor'], { DATABASE_URL: url(), TALLYMAN_URL: 'http://127.0.0.1:1' })
    expect(out).toMatch(new RegExp(`^fail +database: does not answer: .*${RegExp.escape(said)}`, 'm'))
    expect(out).not.toContain(decodeURIComponent(address.password))
  })

  test('the daemon says it too, and ends', async () => {
    const url = over({ sslmode: 'verify-full', sslrootcert: other.ca })
    const program = startProgram('src/main.ts', {
      ...sandboxSeller,
      DATABASE_URL: url,
      DATA_DIR: sandbox.folder,
      MARKETPLACE_URL: sandbox.url,
      PORT: '0',
    })
    stops.push(() => program.kill())
    await program.says(/signed by an authority that is not trusted: .* sslrootcert of DATABASE_URL, for 10 seconds now/)
    await program.ended
    expect(program.child.exitCode).not.toBe(0)
    expect(program.output()).not.toContain(decodeURIComponent(address.password))
  })
})
