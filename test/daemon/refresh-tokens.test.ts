import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { z } from 'zod'
import { cli } from '../cli/run.ts'
import { startTestDaemon, type TestDaemon } from '../support/daemon.ts'
import { accepted } from '../support/events.ts'
import { eventually } from '../support/eventually.ts'
import { startTestPostgres, type TestPostgres } from '../support/postgres.ts'
import { type Program, startProgram } from '../support/process.ts'
import { query } from '../support/query.ts'
import { startTestSandbox, type TestSandbox } from '../support/sandbox.ts'
import { type OrderAddress, placeOrder, post, untilEffects } from './support.ts'

const connectionSchema = z.object({
  sellerId: z.string(),
  partnerId: z.string(),
  clientId: z.string(),
  clientSecret: z.string(),
  refreshToken: z.string(),
})
const connectionsSchema = z.object({
  items: z.array(z.object({ sellerId: z.string(), refreshToken: z.string(), state: z.enum(['active', 'replaced', 'revoked']) })),
})
const alarmsSchema = z.object({ items: z.array(z.looseObject({ sellerId: z.string(), kind: z.string(), message: z.string() })) })
const sellersSchema = z.object({ items: z.array(z.looseObject({ sellerId: z.string(), state: z.string() })) })

let postgres: TestPostgres
let sandbox: TestSandbox
let folder: string
let databaseUrl: string
let sellersFile: string
const programs: Program[] = []
beforeAll(async () => {
  ;[postgres, sandbox] = await Promise.all([startTestPostgres(), startTestSandbox()])
})
afterAll(async () => {
  await Promise.all([postgres.stop(), sandbox.stop()])
})
beforeEach(async () => {
  databaseUrl = await postgres.database()
  folder = await mkdtemp(path.join(tmpdir(), 'tallyman-refresh-tokens-'))
  sellersFile = path.join(folder, 'sellers.json')
  return async () => {
    for (const program of programs.splice(0)) await program.kill()
    await rm(folder, { recursive: true, force: true })
  }
})

const connectSeller = async (sellerId: string) =>
  connectionSchema.parse(await sandbox.control('POST', '/connections', { sellerId, rotates: true }))
const readConnections = async () => connectionsSchema.parse(await sandbox.control('GET', '/connections')).items
const countReplaced = async (sellerId: string) =>
  (await readConnections()).filter((connection) => connection.sellerId === sellerId && connection.state === 'replaced').length
const environment = (more: Readonly<Record<string, string>>) => ({
  DATABASE_URL: databaseUrl,
  DATA_DIR: folder,
  MARKETPLACE_URL: sandbox.url,
  SELLERS_FILE: sellersFile,
  POLL_ORDERS: '1s',
  ...more,
})
const startDaemon = async (more: Readonly<Record<string, string>>): Promise<TestDaemon> => {
  const daemon = await startTestDaemon(environment(more))
  programs.push(daemon.program)
  return daemon
}
const startWorker = async (more: Readonly<Record<string, string>>): Promise<Program> => {
  const worker = startProgram('src/main.ts', { LOG_FORMAT: 'json', ...environment({ ROLES: 'scheduler,worker', ...more }) })
  programs.push(worker)
  await worker.says('"msg":"tallyman is running"')
  return worker
}
const readAlarms = async (daemon: TestDaemon) => alarmsSchema.parse((await daemon.call('GET', '/v1/alarms')).body).items
const readState = async (daemon: TestDaemon, sellerId: string) =>
  sellersSchema.parse((await daemon.call('GET', `/v1/sellers?sellerId=${sellerId}`)).body).items[0]?.state
const untilStored = ({ purchaseOrderId }: OrderAddress) =>
  eventually(async () =>
    expect(
      await query(databaseUrl, 'SELECT 1 FROM warehouse.orders WHERE purchase_order_id = $1', [purchaseOrderId]),
    ).toHaveLength(1),
  )
/** Every access token ends, so that each process refreshes its own. */
const endAccessTokens = () => sandbox.control('POST', '/clock', { advance: '16m' })
/** The rows of every table of the daemon's own and of the change feed, as text. */
const readAllRows = async (): Promise<string> => {
  const tables = await query<{ name: string }>(
    databaseUrl,
    `SELECT format('%I.%I', schemaname, tablename) AS name FROM pg_tables WHERE schemaname IN ('tallyman', 'warehouse', 'bullmq')`,
  )
  const rows = await Promise.all(
    tables.map(({ name }) => query<{ row: string }>(databaseUrl, `SELECT t::text AS row FROM ${name} t`)),
  )
  return rows
    .flat()
    .map(({ row }) => row)
    .join('\n')
}

/** Refusals are believed after a minute; then it is a matter of seconds. */
const untilStoppedMs = 150_000

test('sellers are read with refresh tokens that each use replaces, a revoked one stops only its seller, and a new one resumes it', {
  timeout: 400_000,
}, async () => {
  const key = { TOKEN_ENCRYPTION_KEY: Buffer.alloc(32, 7).toString('base64') }
  const [one, two] = [await connectSeller('seller-one'), await connectSeller('seller-two')]
  const write = (token: string) => writeFile(path.join(folder, 'token-two'), token)
  await write(two.refreshToken)
  const { clientId, clientSecret } = one
  const entries = [
    { sellerId: 'seller-one', clientId, clientSecret, refreshToken: one.refreshToken },
    { sellerId: 'shop-two', partnerId: 'seller-two', clientId, clientSecret, refreshTokenFile: 'token-two' },
  ]
  await writeFile(sellersFile, JSON.stringify(entries))
  const daemon = await startDaemon(key)
  const worker = await startWorker(key)
  const tallyman = (...args: readonly string[]) => cli(args, { ...environment(key), TALLYMAN_URL: daemon.url })

  // Two processes share each token: one that used a replaced one would have the connection revoked.
  for (let round = 0; round < 2; round += 1) {
    const replaced = await countReplaced('seller-one')
    const [ofOne, ofTwo] = [await placeOrder(sandbox, 1, 'seller-one'), await placeOrder(sandbox, 1, 'seller-two')]
    await Promise.all([untilStored(ofOne), untilStored(ofTwo)])
    await endAccessTokens()
    await eventually(async () => expect(await countReplaced('seller-one')).toBeGreaterThan(replaced))
  }
  // A process that starts anew has the configured tokens, which were replaced long ago.
  await worker.kill()
  const restarted = await startWorker(key)
  await endAccessTokens()
  const afterRestart = await placeOrder(sandbox, 1, 'seller-one')
  await untilStored(afterRestart)
  expect((await readConnections()).filter(({ state }) => state === 'revoked')).toEqual([])
  expect(await readAlarms(daemon)).toEqual([])
  const doctor = await tallyman('doctor')
  expect(doctor.out).toMatch(
    /^ok {4}credentials: seller seller-one: not checked here, since each use may replace its refresh token/m,
  )

  // The seller withdraws its consent.
  await sandbox.control('POST', '/connections/revoke', { sellerId: 'seller-two' })
  await eventually(async () => expect(await readState(daemon, 'shop-two')).toBe('stopped'), untilStoppedMs)
  expect(await readAlarms(daemon)).toEqual([
    expect.objectContaining({
      sellerId: 'shop-two',
      kind: 'credentials-refused',
      message: expect.stringMatching(
        /refuses the refresh token of seller shop-two \(HTTP 400\).*authorise the app again.*sellers reload/,
      ),
    }),
  ])
  expect(await readState(daemon, 'seller-one')).toBe('active')
  await endAccessTokens()
  const ofOne = await placeOrder(sandbox, 1, 'seller-one')
  expect(await post(daemon, accepted(ofOne))).toBe(202)
  await untilEffects(sandbox, ofOne, ['acknowledged'])
  expect((await tallyman('doctor')).out).toMatch(
    /^fail {2}credentials: seller shop-two: its refresh token is not accepted; stopped/m,
  )

  // The seller authorises the app again.
  const again = await connectSeller('seller-two')
  await write(again.refreshToken)
  const ofTwo = { ...(await placeOrder(sandbox, 1, 'seller-two')), sellerId: 'shop-two' }
  expect(await post(daemon, accepted(ofTwo))).toBe(202)
  expect(await tallyman('sellers', 'reload')).toMatchObject({ code: 0 })
  await untilEffects(sandbox, ofTwo, ['acknowledged'])
  await eventually(async () => expect(await readAlarms(daemon)).toEqual([]))
  expect(await readState(daemon, 'shop-two')).toBe('active')

  // No token is in plain text anywhere.
  const everything = [daemon, { program: worker }, { program: restarted }].map(({ program }) => program.output()).join('\n')
  const [stored, metrics] = [await readAllRows(), await (await fetch(`${daemon.url}/metrics`)).text()]
  expect(stored).toContain('seller-one')
  for (const { refreshToken } of await readConnections()) {
    expect([everything, stored, metrics].some((text) => text.includes(refreshToken))).toBe(false)
    expect(stored).not.toContain(Buffer.from(refreshToken).toString('hex'))
  }
})

test('without a key a replaced token raises an alarm with instructions, which ends when there is a key', async () => {
  const connection = await connectSeller('seller-three')
  const write = (refreshToken: string) => {
    const { sellerId, clientId, clientSecret } = connection
    return writeFile(sellersFile, JSON.stringify([{ sellerId, clientId, clientSecret, refreshToken }]))
  }
  await write(connection.refreshToken)
  const daemon = await startDaemon({})
  await untilStored(await placeOrder(sandbox, 1, 'seller-three'))
  await eventually(async () =>
    expect(await readAlarms(daemon)).toEqual([
      expect.objectContaining({
        sellerId: 'seller-three',
        kind: 'refresh-token-replaced',
        message: expect.stringContaining('set TOKEN_ENCRYPTION_KEY'),
      }),
    ]),
  )
  expect(daemon.program.output()).not.toContain(connection.refreshToken)
  expect(await daemon.program.stop()).toBe(0)

  await write((await connectSeller('seller-three')).refreshToken)
  const withKey = await startDaemon({ TOKEN_ENCRYPTION_KEY: Buffer.alloc(32, 7).toString('base64') })
  expect(await readAlarms(withKey)).toEqual([])
  await untilStored(await placeOrder(sandbox, 1, 'seller-three'))
  await eventually(async () =>
    expect(
      await query(databaseUrl, 'SELECT 1 FROM tallyman.refresh_tokens WHERE encrypted_token IS NOT NULL AND version = 1'),
    ).toHaveLength(1),
  )
})
