import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { mkdtemp, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { promisify } from 'node:util'
import { Webhook } from 'standardwebhooks'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { z } from 'zod'
import { readConfig } from '../src/config/config.ts'
import { cli } from './cli/run.ts'
import { untilEffects } from './daemon/support.ts'
import { startTestDaemon, type TestDaemon } from './support/daemon.ts'
import { eventually } from './support/eventually.ts'
import { dropDatabase, makeDatabase } from './support/postgres.ts'
import { query } from './support/query.ts'
import { startTestSandbox, type TestSandbox } from './support/sandbox.ts'
import { type Receiver, startReceiver } from './webhooks/receiver.ts'

// The way of docs/connecting-a-marketplace.md, step by step, with the sandbox in the place of the marketplace.

const page = readFileSync('docs/connecting-a-marketplace.md', 'utf8')

/** The blocks of a section in a language. */
const listBlocks = (heading: string, language: string): readonly string[] => {
  const section = page.split(/^##+ /m).find((part) => part.startsWith(`${heading}\n`))
  const found = [...(section ?? '').matchAll(/^```(\w+)\n(.*?)^```$/gms)].flatMap(([, kind, text = '']) =>
    kind === language ? [text] : [],
  )
  if (found.length === 0) throw new Error(`the page has no ${language} under "${heading}"`)
  return found
}
const only = (heading: string, language: string): string => {
  const [block = '', ...more] = listBlocks(heading, language)
  expect(more).toEqual([])
  return block
}

const run = promisify(execFile)
const sellerId = 'shop-a'
const order = { sellerId, purchaseOrderId: '1796277083022' }

let folder: string
let databaseUrl: string
let sandbox: TestSandbox
let receiver: Receiver
let daemon: TestDaemon
let settings: Record<string, string>
let eventsSecret: string

/** Runs a script by a shell in a folder of its own; answers what it printed. */
const shell = async (text: string, env: Readonly<Record<string, string>> = {}): Promise<string> => {
  const { stdout } = await run('sh', ['-e', '-c', text], { cwd: folder, env: { PATH: process.env['PATH'], ...env } })
  return stdout
}

/** Runs the commands of a block, each of which must do what it is for; answers what each printed. */
const play = async (text: string): Promise<readonly string[]> => {
  const printed: string[] = []
  for (const line of text.trim().split('\n')) {
    const words = [...line.matchAll(/"([^"]*)"|(\S+)/g)].map(([, quoted, bare]) => quoted ?? bare ?? '')
    expect(words.slice(0, 2)).toEqual(['npx', 'tallyman'])
    const args = words.slice(2).map((word) => (word.endsWith('.json') ? path.join(folder, word) : word))
    const { DATA_DIR: _, ...environment } = settings
    const { code, out, messages } = await cli(args, { ...environment, TALLYMAN_URL: daemon.url, USER: 'ada' })
    expect({ line, code, out, messages }).toMatchObject({ code: 0 })
    printed.push(out)
  }
  return printed
}

/** The settings that a block exports, with what stands for the marketplace, the database and the folder of the secrets. */
const findSettings = (text: string): Record<string, string> =>
  Object.fromEntries(
    [...text.matchAll(/([A-Z_]+)=(\S+)/g)].map(([, name = '', value = '']) => [
      name,
      value
        .replace('postgresql://tallyman@db.example/tallyman', databaseUrl)
        .replace('https://marketplace.example', sandbox.url)
        .replace('/run/secrets', folder),
    ]),
  )

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'tallyman-connecting-'))
  ;[databaseUrl, sandbox, receiver] = await Promise.all([
    makeDatabase(),
    startTestSandbox({ MARKETPLACE_PROFILE: 'walmart-us' }),
    startReceiver(),
  ])
}, 120_000)
afterAll(async () => {
  await daemon?.program.kill()
  await Promise.all([sandbox?.stop(), receiver?.close()])
  await dropDatabase(databaseUrl)
  await rm(folder, { recursive: true, force: true })
})

const requestsSchema = z.object({ items: z.array(z.object({ operation: z.string().nullable() })) })
/** The writes that the marketplace has got. */
const writes = async (): Promise<readonly string[]> =>
  requestsSchema
    .parse(await sandbox.control('GET', '/requests?limit=1000'))
    .items.flatMap(({ operation }) =>
      /\.(acknowledge|ship|cancel|refund|create)$/.test(operation ?? '') ? [operation ?? ''] : [],
    )

test('1. Settings: the secrets are made, and the daemon runs with what the page exports', async () => {
  const [secrets = '', exported = ''] = listBlocks('1. Settings', 'sh')
  await shell(secrets)
  expect((await stat(path.join(folder, 'api-key'))).mode & 0o777).toBe(0o600)
  await writeFile(path.join(folder, 'client-secret'), 'of-the-portal\n')
  eventsSecret = readFileSync(path.join(folder, 'events-secret'), 'utf8').trim()
  settings = {
    ...findSettings(exported),
    DATA_DIR: folder,
    WEBHOOK_PRIVATE_ADDRESSES: 'allow',
    RATE_LIMITS: '{"returns.list": {"tokens": 1000, "per": "1m"}}',
  }
  expect(settings).toMatchObject({ MARKETPLACE_PROFILE: 'walmart-us', AUTO_ACKNOWLEDGE: 'off', ERP_EVENTS_QUEUE: 'off' })
  await sandbox.control('POST', '/sellers', { sellerId, clientId: settings['CLIENT_ID'], clientSecret: 'of-the-portal' })
  await sandbox.control('POST', '/orders', {
    ...order,
    lines: [{ lineNumber: '1', sku: 'KETTLE-RED', quantity: 3, unitPrice: '19.99' }],
  })
  await sandbox.placeRandom(5, { sellerId, alive: false, history: false })
  daemon = await startTestDaemon(settings)
}, 120_000)

test('2. to 5.: it answers, history comes, it agrees, and what would be sent is shown; nothing is written meanwhile', async () => {
  const [doctor, shown] = await play(only('2. Does it answer?', 'sh'))
  expect(doctor).toMatch(/^ok +credentials: seller shop-a/m)
  expect(shown).toContain('seller shop-a is active')
  await play(only('3. History', 'sh'))
  await eventually(async () => {
    const [day, ...more] = await query<{ orders: string; ours: string }>(databaseUrl, only('4. Does it agree?', 'sql'))
    expect({ more, day }).toMatchObject({ more: [], day: { orders: '6', ours: '6' } })
  })
  const [, quarantine, open] = await play(only('4. Does it agree?', 'sh'))
  expect(quarantine).not.toContain('orders')
  expect(open).toContain(order.purchaseOrderId)

  await writeFile(path.join(folder, 'trial.json'), only('5. What would be sent?', 'json'))
  const [would] = await play(only('5. What would be sent?', 'sh'))
  expect(would).toContain('acknowledge')
  expect(await sandbox.effects(order.purchaseOrderId)).toEqual([])
  expect(await writes()).toEqual([])
})

test('6. and 7.: one order is accepted; a seller is paused and resumed', async () => {
  const [accept = '', look = ''] = only('6. One order', 'sh').trim().split('\n')
  await play(accept)
  await untilEffects(sandbox, order, ['acknowledged'])
  const [shown] = await play(look)
  expect(shown).toContain('KETTLE-RED')
  const [paused, resumed] = await play(only('7. All orders', 'sh'))
  expect(paused).toContain('is paused')
  expect(resumed).toContain('is active')
})

test('a seller of a solution provider is read from the file that the page shows', async () => {
  const file = path.join(folder, 'sellers.json')
  await writeFile(file, only('Sellers of a solution provider', 'json').replaceAll('/run/secrets', folder))
  await writeFile(path.join(folder, 'shop-a-refresh-token'), 'rt-1\n')
  const { sellers } = readConfig({ MARKETPLACE_URL: sandbox.url, SELLERS_FILE: file, APP_CLIENT_ID: 'of-the-app' }, false)
  expect(sellers).toMatchObject([{ clientId: 'of-the-app', partnerId: '10001234567', refreshToken: 'rt-1' }])
})

test('an event signed by a shell, and a batch signed by Node, are taken; one with another secret is not', async () => {
  const script = only('Signing an event', 'sh').replaceAll('http://127.0.0.1:8080', daemon.url)
  expect(await shell(script, { EVENTS_SECRET: eventsSecret })).toContain('"status":"accepted"')
  await expect(
    shell(script, { EVENTS_SECRET: `whsec_${Buffer.from('the secret of somebody else').toString('base64')}` }),
  ).rejects.toThrow('401')
  const module = only('Signing an event', 'js')
  const { stdout } = await run(process.execPath, ['--input-type=module', '--eval', module], {
    env: { PATH: process.env['PATH'], TALLYMAN_URL: daemon.url, EVENTS_SECRET: eventsSecret },
  })
  expect(stdout).toMatch(/^202 .*"status":"accepted"/)
  const effects = await untilEffects(sandbox, order, ['acknowledged', 'cancelled', 'shipped'])
  expect(Object.fromEntries(effects.map(({ kind, quantity }) => [kind, quantity]))).toMatchObject({ shipped: 2, cancelled: 1 })
})

test('a webhook is verified by a shell; a changed body, another secret and an old timestamp are refused', async () => {
  const apiKey = readFileSync(path.join(folder, 'api-key'), 'utf8').trim()
  const answer = await fetch(`${daemon.url}/v1/webhooks`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${apiKey}` },
    body: JSON.stringify({ url: receiver.url, types: ['order.*'], after: 0 }),
  })
  const { secret } = z.object({ secret: z.string() }).parse(await answer.json())
  await eventually(() => expect(receiver.received).not.toEqual([]))
  const [message] = receiver.received
  const script = only('Verifying a webhook', 'sh')
  const env = {
    WEBHOOK_SECRET: secret,
    WEBHOOK_ID: message?.headers['webhook-id'] ?? '',
    WEBHOOK_TIMESTAMP: message?.headers['webhook-timestamp'] ?? '',
    WEBHOOK_SIGNATURE: message?.headers['webhook-signature'] ?? '',
  }
  await writeFile(path.join(folder, 'body'), message?.body ?? '')
  expect(await shell(script, env)).toBe('valid\n')
  await expect(shell(script, { ...env, WEBHOOK_SECRET: eventsSecret })).rejects.toMatchObject({ stdout: 'wrong signature\n' })
  const early = new Date((Number(env.WEBHOOK_TIMESTAMP) - 400) * 1_000)
  const old = {
    ...env,
    WEBHOOK_TIMESTAMP: String(early.getTime() / 1_000),
    WEBHOOK_SIGNATURE: new Webhook(secret).sign(env.WEBHOOK_ID, early, message?.body ?? ''),
  }
  await expect(shell(script, old)).rejects.toMatchObject({ stdout: 'too old\n' })
  await expect(shell(script, { ...old, WEBHOOK_TIMESTAMP: env.WEBHOOK_TIMESTAMP })).rejects.toMatchObject({
    stdout: 'wrong signature\n',
  })
  await writeFile(path.join(folder, 'body'), `${message?.body} `)
  await expect(shell(script, env)).rejects.toMatchObject({ stdout: 'wrong signature\n' })
})
