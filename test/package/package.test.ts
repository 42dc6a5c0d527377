import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmod, cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { eventually } from '../support/eventually.ts'

const run = promisify(execFile)

/** An empty folder into which the packed package was installed, without install scripts: npm may be set to run none. */
let folder: string

/** The programs of the machine: npm finds its settings beside the Node that runs it, so this project's Node must not come first. */
const machinePath = (process.env['PATH'] ?? '')
  .split(path.delimiter)
  .filter((one) => !one.includes('node_modules'))
  .join(path.delimiter)
const environment = { PATH: machinePath, HOME: process.env['HOME'] ?? '', NODE_ENV: 'production' }
/** This Node comes first, so `npx` finds one that is new enough, although the script that installs one did not run. */
const withNode = { ...environment, PATH: `${path.dirname(process.execPath)}${path.delimiter}${environment.PATH}` }

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'tallyman-package-'))
  await chmod(folder, 0o755)
  const { stdout } = await run('npm', ['pack', '--silent', '--pack-destination', folder], { env: environment })
  await writeFile(path.join(folder, 'package.json'), '{"private":true,"type":"module"}')
  const options = ['--prefer-offline', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error']
  await run('npm', ['install', ...options, path.join(folder, stdout.trim())], { cwd: folder, env: environment })
}, 300_000)
afterAll(() => rm(folder, { recursive: true, force: true, maxRetries: 5 }))

/** A strict project of somebody else, which has the types of Node. */
const tsc = (...files: readonly string[]) => {
  const strict = [
    '--strict',
    '--exactOptionalPropertyTypes',
    '--noUncheckedIndexedAccess',
    '--noPropertyAccessFromIndexSignature',
  ]
  const types = ['--types', 'node', '--typeRoots', path.resolve('node_modules/@types')]
  const options = ['--noEmit', ...strict, '--module', 'nodenext', '--target', 'esnext', ...types, ...files]
  return run(process.execPath, [path.resolve('node_modules/typescript/bin/tsc'), ...options], { cwd: folder }).catch(
    (error: unknown) => ({ stdout: error instanceof Error && 'stdout' in error ? String(error.stdout) : String(error) }),
  )
}

test('the example ERP, and a client made of the types alone, compile in a strict project', async () => {
  await cp('examples/erp', folder, { recursive: true, filter: (file) => path.extname(file) !== '.json' })
  const client = `import createClient from 'openapi-fetch'
import type { paths } from 'tallyman/types'
const client = createClient<paths>({ baseUrl: '' })
export const first = async (): Promise<string | undefined> => {
  const { data, error } = await client.GET('/v1/orders', { params: { query: { open: true } } })
  if (error !== undefined) throw new Error(error.detail)
  return data.items[0]?.purchaseOrderId
}
`
  await writeFile(path.join(folder, 'client.ts'), client)
  expect((await tsc('erp.ts', 'client.ts')).stdout).toBe('')
}, 300_000)

/** The example ERP accepts, ships and cancels the units of a new order; the answer of the sandbox says so. */
const fulfil = async (url: string, sandbox: string): Promise<void> => {
  const purchaseOrderId = '4711'
  const line = { sku: 'EXAMPLE', quantity: 7, unitPrice: '19.99' }
  await fetch(`${sandbox}/_sandbox/orders`, { method: 'POST', body: JSON.stringify({ purchaseOrderId, lines: [line] }) })
  const erp = spawn(process.execPath, ['erp.ts'], {
    cwd: folder,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...environment, TALLYMAN_URL: url },
  })
  let output = ''
  for (const stream of [erp.stdout, erp.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      output += text
    })
  }
  const ended = once(erp, 'exit')
  try {
    await eventually(async () => {
      const answer = await fetch(`${url}/v1/orders/${purchaseOrderId}`)
      expect(await answer.json(), output).toMatchObject({ lines: [{ shipped: 5, cancelled: 2 }] })
    }, 120_000)
    for (const event of ['accept', 'cancel', 'ship']) expect(output).toContain(`${event}-${purchaseOrderId}: accepted`)
  } finally {
    erp.kill('SIGTERM')
  }
  expect([await ended, output.includes('refused')]).toEqual([[0, null], false])
}

test('the installed package starts the daemon with its own Postgres and sandbox, serves the console and passes the doctor', async () => {
  const child = spawn(path.join(folder, 'node_modules', '.bin', 'tallyman'), ['start'], {
    cwd: folder,
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...withNode, PORT: '0', SANDBOX_PORT: '0', DEMO: 'off', LOG_FORMAT: 'json', POLL_ORDERS: '1s' },
  })
  let output = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    output += text
  })
  const ended = once(child, 'exit')
  try {
    const { url, sandbox } = await eventually(() => {
      const [, console = '', marketplace = ''] = /"console":"(http:[^"]+)\/".*"sandbox":"([^"]+)"/.exec(output) ?? []
      if (console === '') throw new Error(`the daemon has not started yet: ${output.slice(-3_000)}`)
      return { url: console, sandbox: marketplace }
    }, 180_000)
    await eventually(async () => expect((await fetch(`${url}/readyz`)).status).toBe(200), 60_000)
    expect(await (await fetch(`${url}/`)).text()).toContain('<!doctype html>')
    await fulfil(url, sandbox)
    const doctor = await run('npx', ['tallyman', 'doctor', '--sandbox', sandbox], { cwd: folder, env: withNode })
    expect(doctor.stdout).toContain('0 failed, 0 warnings')
    expect(await readFile(path.join(folder, '.data', 'tallyman.url'), 'utf8')).toContain(url)
  } finally {
    child.kill('SIGTERM')
  }
  expect(await ended).toEqual([0, null])
}, 600_000)
