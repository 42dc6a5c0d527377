import { generateKeyPairSync } from 'node:crypto'
import { once } from 'node:events'
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { connect, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import pg from 'pg'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { startTestDaemon, type TestDaemon } from '../support/daemon.ts'
import { withDatabase } from '../support/database.ts'
import { eventually } from '../support/eventually.ts'
import { copyCluster } from '../support/postgres.ts'
import { type Program, startProgram } from '../support/process.ts'
import { openPassage, readProcesses } from './support.ts'

const programs: Program[] = []
let folder: string

beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'tallyman-start-'))
  // As root, Postgres runs under a user who must be able to enter it.
  await chmod(folder, 0o755)
})
afterEach(async () => {
  for (const program of programs.splice(0)) await program.stop()
  await eventually(async () => expect(await readProcesses(folder)).toEqual([]))
  await rm(folder, { recursive: true, force: true })
})

const run = (env: Readonly<Record<string, string>>): Program => {
  const program = startProgram('src/main.ts', { LOG_FORMAT: 'json', ...env })
  programs.push(program)
  return program
}

/** No settings but what keeps this run apart from others on the machine. */
const start = async (env: Readonly<Record<string, string>> = {}): Promise<TestDaemon> => {
  const daemon = await startTestDaemon({ SANDBOX_PORT: '0', DATA_DIR: folder, ...env })
  programs.push(daemon.program)
  return daemon
}

const buildPage = <Item extends z.ZodType>(item: Item) => z.object({ items: z.array(item) })
const ordersSchema = buildPage(z.object({ purchaseOrderId: z.string() }))
const commandsSchema = buildPage(z.object({ id: z.string(), kind: z.string() }))

const doctorSchema = z.object({
  findings: z.array(z.object({ check: z.string(), state: z.string(), detail: z.string(), advice: z.string().optional() })),
})

const orderIds = async (daemon: TestDaemon): Promise<readonly string[]> =>
  ordersSchema.parse((await daemon.call('GET', '/v1/orders?limit=1000')).body).items.map((order) => order.purchaseOrderId)

const confirmedCommands = async (daemon: TestDaemon) =>
  commandsSchema.parse((await daemon.call('GET', '/v1/commands?state=confirmed&limit=1000')).body).items

const formatSandbox = (daemon: TestDaemon): string => {
  const found = /"sandbox":"(http:[^"]+)"/.exec(daemon.program.output())?.[1]
  if (found === undefined) throw new Error('the daemon did not say where its sandbox is')
  return found
}

const placeOrders = async (daemon: TestDaemon, count: number): Promise<void> => {
  const answer = await fetch(`${formatSandbox(daemon)}/_sandbox/orders`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ count }),
  })
  expect(answer.status).toBe(201)
}

const troubleIn = (program: Program): readonly string[] =>
  program
    .output()
    .split('\n')
    .filter((line) => line !== '' && (!line.startsWith('{') || /^\{"level":"(warn|error|fatal)"/.test(line)))

test('invalid settings end with code 78 and a line for each variable', async () => {
  const program = run({ PORT: '99999', ROLES: 'cook', POLL_ORDERS: 'often', REDIS_URL: 'localhost', DATA_DIR: folder })
  await program.ended
  expect(program.child.exitCode).toBe(78)
  const lines = program.output().trim().split('\n')
  expect(lines.map((line) => /^tallyman: (\w+): .+; accepted: ./.exec(line)?.[1]).sort()).toEqual([
    'POLL_ORDERS',
    'PORT',
    'REDIS_URL',
    'ROLES',
  ])
})

describe.skipIf(process.platform !== 'linux')('without any service', () => {
  test('orders arrive, commands are carried out, effects and units agree; a stop leaves nothing behind and a restart goes on', async () => {
    const daemon = await start()
    await placeOrders(daemon, 5)
    await eventually(async () => {
      const kinds = new Set((await confirmedCommands(daemon)).map((command) => command.kind))
      expect([...kinds]).toEqual(expect.arrayContaining(['acknowledge', 'ship']))
    })
    // The address that is logged is for `psql`: without the password, which stands in a file of its own.
    const shown = /"database":"([^"]+)"/.exec(daemon.program.output())?.[1] ?? ''
    const passFile = new URL(shown).searchParams.get('passfile') ?? ''
    expect((await stat(passFile)).mode & 0o777).toBe(0o600)
    const password = (await readFile(passFile, 'utf8')).trim().split(':').at(-1) ?? ''
    expect(daemon.program.output()).not.toContain(password)
    const client = new pg.Client({ connectionString: shown.replace('tallyman@', `tallyman:${password}@`) })
    await client.connect()
    expect((await client.query('SELECT 1 FROM warehouse.orders LIMIT 1')).rowCount).toBe(1)
    await client.end()
    const console = await fetch(`${daemon.url}/`)
    expect([console.status, console.headers.get('content-type')]).toEqual([200, expect.stringContaining('text/html')])

    const doctor = startProgram('src/cli.ts', { TALLYMAN_URL: daemon.url, SANDBOX_URL: formatSandbox(daemon) }, [
      'doctor',
      '--units',
      '--json',
      '--wait',
      '60',
    ])
    const second = run({ PORT: '0', SANDBOX_PORT: '0', DATA_DIR: folder })
    await Promise.all([doctor.ended, second.ended])
    expect(doctor.child.exitCode, doctor.output()).toBe(0)
    expect(JSON.parse(doctor.output())).toMatchObject({ differences: [] })
    expect(second.child.exitCode).toBe(1)
    expect(second.output()).toContain(
      `${folder} is in use by another Tallyman (process ${daemon.program.child.pid}); stop it first`,
    )
    expect(second.output().trim().split('\n')).toHaveLength(1)

    const [orders, commands] = [await orderIds(daemon), await confirmedCommands(daemon)]
    expect((await readProcesses(folder)).map(({ command }) => command)).toEqual(
      expect.arrayContaining([expect.stringContaining('/postgres '), expect.stringContaining('sandbox/main.ts')]),
    )
    expect(await daemon.program.stop()).toBe(0)
    expect(await readProcesses(folder)).toEqual([])
    expect(troubleIn(daemon.program)).toEqual([])

    const next = await start({ DEMO: 'off' })
    expect(await orderIds(next)).toEqual(expect.arrayContaining([...orders]))
    expect((await confirmedCommands(next)).map(({ id }) => id)).toEqual(expect.arrayContaining(commands.map(({ id }) => id)))
    expect(await next.program.stop()).toBe(0)
    expect(troubleIn(next.program)).toEqual([])
  })

  test('after SIGKILL sandbox and Postgres end by themselves, at any moment of the start too; the next start goes on', {
    timeout: 240_000,
  }, async () => {
    for (const stage of ['creating a new database', 'database migrated', '"sandbox":"http']) {
      const killed = run({ PORT: '0', SANDBOX_PORT: '0', DATA_DIR: folder, DEMO: 'off' })
      await killed.says(stage)
      await killed.kill()
      await eventually(async () => expect(await readProcesses(folder), stage).toEqual([]))
      if (stage === 'creating a new database') expect(await readdir(folder)).not.toContain('postgres')
    }
    const daemon = await start({ DEMO: 'off', POLL_ORDERS: '1s' })
    await placeOrders(daemon, 3)
    const orders = await eventually(async () => {
      const found = await orderIds(daemon)
      expect(found).toHaveLength(3)
      return found
    })
    await daemon.program.kill()
    await eventually(async () => expect(await readProcesses(folder)).toEqual([]))
    const next = await start({ DEMO: 'off' })
    expect([...(await orderIds(next))].sort()).toEqual([...orders].sort())
    expect(await next.program.stop()).toBe(0)
    expect(await readProcesses(folder)).toEqual([])
  })

  test('a second signal ends at once, and nothing of the daemon is left', async () => {
    await copyCluster(folder)
    const daemon = await start()
    const { child } = daemon.program
    // An answer that does not come keeps the daemon from being done with its drain.
    await fetch(`${formatSandbox(daemon)}/_sandbox/faults/next`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(Array.from({ length: 50 }, () => ({ fault: 'timeoutBefore' }))),
    })
    child.kill('SIGINT')
    await daemon.program.says('stopping: finishing work in progress')
    await eventually(() => {
      if (child.exitCode === null) child.kill('SIGINT')
      expect(child.exitCode).toBe(1)
    })
    expect(daemon.program.output()).toContain('second signal: ending at once')
    await eventually(async () => expect(await readProcesses(folder)).toEqual([]))
  })

  test('doctor with another DATA_DIR blames no setting of display advertising', async () => {
    await copyCluster(folder)
    const daemon = await start({ DEMO: 'off' })
    const doctorIn = async (dataDir: string) => {
      const env = { TALLYMAN_URL: daemon.url, SANDBOX_URL: formatSandbox(daemon), DATA_DIR: dataDir }
      const doctor = startProgram('src/cli.ts', env, ['doctor', '--json'])
      await doctor.ended
      expect(doctor.child.exitCode, doctor.output()).toBe(0)
      const { findings } = doctorSchema.parse(JSON.parse(doctor.output()))
      return findings.filter(({ check }) => check === 'display')
    }
    expect(await doctorIn(folder)).toMatchObject([{ state: 'ok', detail: expect.stringContaining('accepts the signature') }])
    const elsewhere = path.join(folder, 'elsewhere')
    expect(await doctorIn(elsewhere)).toMatchObject([
      { state: 'ok', detail: expect.stringContaining(`cannot be read in ${elsewhere}`) },
    ])
    await mkdir(path.join(elsewhere, 'sandbox'), { recursive: true })
    const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
    await writeFile(
      path.join(elsewhere, 'sandbox', 'display-private-key.pem'),
      privateKey.export({ type: 'pkcs8', format: 'pem' }),
    )
    const [blamed] = await doctorIn(elsewhere)
    expect(blamed).toMatchObject({
      state: 'warn',
      advice: expect.stringContaining(`the key in ${elsewhere} belongs to another sandbox`),
    })
    expect(blamed?.advice).not.toContain('DISPLAY_')
  })

  test('what it keeps is for the eyes of its owner alone, also what an earlier version left open', async () => {
    const files = [
      'postgres.log',
      'postgres.password',
      'tallyman.pid',
      'sandbox/sandbox.sqlite',
      'sandbox/display-private-key.pem',
    ]
    const modes = async () => {
      const places = ['.', 'postgres', 'sandbox', ...files]
      const looks = places.map(async (place) => [place, (await stat(path.join(folder, place))).mode & 0o777] as const)
      return Object.fromEntries(await Promise.all(looks))
    }
    const closed = {
      ...{ '.': 0o700, postgres: 0o700, sandbox: 0o700 },
      ...Object.fromEntries(files.map((file) => [file, 0o600])),
    }
    const daemon = await start({ DEMO: 'off' })
    expect(await modes()).toEqual(closed)
    expect(await daemon.program.stop()).toBe(0)

    await Promise.all([folder, path.join(folder, 'sandbox')].map((place) => chmod(place, 0o755)))
    await Promise.all(['postgres.log', 'sandbox/sandbox.sqlite'].map((file) => chmod(path.join(folder, file), 0o644)))
    const next = await start({ DEMO: 'off' })
    expect(await modes()).toEqual(closed)
    expect(await next.program.stop()).toBe(0)
  })
})

test('a port that is taken is noticed before anything else is begun', async () => {
  const taken = createServer()
  taken.listen(0, '127.0.0.1')
  await once(taken, 'listening')
  const address = taken.address()
  const port = typeof address === 'object' && address !== null ? `${address.port}` : ''
  const program = run({ PORT: port, SANDBOX_PORT: '0', DATA_DIR: folder })
  await program.ended
  taken.close()
  expect(program.child.exitCode).toBe(1)
  expect(program.output()).toContain(`127.0.0.1:${port} is in use by another program`)
  expect(program.output().trim().split('\n')).toHaveLength(1)
  expect(await readdir(folder)).toEqual([])
})

describe('with a Postgres', () => {
  const stage = withDatabase({ each: 'test' })

  test('a Postgres that does not let the daemon in is told in its own words, and not waited for long', async () => {
    const nowhere = new URL(stage.url)
    nowhere.pathname = '/nowhere'
    const stranger = new URL(stage.url)
    stranger.password = 'wrong'
    const isTold = async (url: URL, words: string): Promise<void> => {
      const env = { PORT: '0', SANDBOX_PORT: '0', DEMO: 'off' }
      const program = run({ ...env, DATABASE_URL: url.href, DATA_DIR: path.join(folder, url.pathname) })
      await program.says(words)
      await program.ended
      expect(program.child.exitCode).toBe(1)
      const lines = program.output().trim().split('\n')
      expect(lines.filter((line) => line.includes(`"level":"fatal"`) && line.includes(words))).toHaveLength(1)
      expect(program.output()).not.toContain('does not answer yet')
      expect(program.output()).not.toContain('[object Object]')
    }
    // Each takes the ten seconds in which the role or the database may still be created.
    await Promise.all([
      isTold(nowhere, 'the database that DATABASE_URL names does not exist'),
      isTold(stranger, 'Postgres rejects the credentials of DATABASE_URL'),
    ])
  })

  /** The database behind a passage that is not open yet. */
  const cutOff = async () => {
    const address = new URL(stage.url)
    const passage = await openPassage(Number(address.port))
    await passage.cut()
    address.port = `${passage.port}`
    return { databaseUrl: address.href, passage }
  }

  test('waits for a Postgres that comes later, and a SIGTERM ends the waiting with code 0', async () => {
    const { databaseUrl, passage } = await cutOff()
    const env = { PORT: '0', SANDBOX_PORT: '0', DATA_DIR: folder, DATABASE_URL: databaseUrl, DEMO: 'off' }
    const impatient = run({ ...env, DATA_DIR: path.join(folder, 'other') })
    const starting = start(env)
    await impatient.says('Postgres does not answer yet')
    expect(await impatient.stop()).toBe(0)
    await passage.open()
    await starting
    await passage.close()
  })

  test('a Postgres that turns up between two looks at it is one that came later, not a fault', async () => {
    const address = new URL(stage.url)
    const targetPort = Number(address.port)
    let connections = 0
    const passage = createServer((near) => {
      connections += 1
      near.on('error', () => undefined)
      if (connections === 1) return void near.destroy()
      const far = connect(targetPort, '127.0.0.1')
      far.on('error', () => undefined)
      near.pipe(far).pipe(near)
    })
    try {
      passage.listen(0, '127.0.0.1')
      await once(passage, 'listening')
      const at = passage.address()
      address.port = `${typeof at === 'object' ? at?.port : at}`
      const daemon = await start({ DATABASE_URL: address.href, DEMO: 'off' })
      expect(connections).toBeGreaterThan(1)
      expect(await daemon.program.stop()).toBe(0)
    } finally {
      passage.close()
    }
  })

  test('a SIGHUP during the start is remembered: the sellers are read again once they can be', async () => {
    const { databaseUrl, passage } = await cutOff()
    const sellersFile = path.join(folder, 'sellers.json')
    const seller = { sellerId: 'first', clientId: 'c', clientSecret: 's', marketplaceUrl: 'http://127.0.0.1:1' }
    await writeFile(sellersFile, JSON.stringify([seller]))
    const starting = run({ PORT: '0', DATA_DIR: folder, DATABASE_URL: databaseUrl, SELLERS_FILE: sellersFile })
    await starting.says('Postgres does not answer yet')
    await writeFile(sellersFile, JSON.stringify([seller, { ...seller, sellerId: 'second' }]))
    starting.child.kill('SIGHUP')
    await passage.open()
    await starting.says(/"sellers":2,"msg":"sellers read again"/)
    expect(await starting.stop()).toBe(0)
    await passage.close()
  })
})

test('what nobody handled ends the daemon with a line that says what it was', async () => {
  // Thrown as soon as the daemon has said that it listens for such things.
  const throwing = `process.on('newListener', (event) => {
    if (event === 'uncaughtException') setImmediate(() => { throw Object.assign(new Error('the disk is gone'), { code: 'EIO' }) })
  })`
  const env = { DATABASE_URL: 'postgres://127.0.0.1:1/none', MARKETPLACE_URL: 'http://127.0.0.1:1', DATA_DIR: folder }
  const seller = { SELLER_ID: 's', CLIENT_ID: 'c', CLIENT_SECRET: 'x', LOG_FORMAT: 'json' }
  const flags = ['--import', `data:text/javascript,${encodeURIComponent(throwing)}`]
  const program = startProgram('src/main.ts', { ...env, ...seller }, [], flags)
  programs.push(program)
  await program.ended
  expect(program.child.exitCode).toBe(1)
  const line =
    program
      .output()
      .split('\n')
      .find((one) => one.includes('"fatal"')) ?? '{}'
  expect(JSON.parse(line)).toMatchObject({
    msg: 'uncaughtException: the disk is gone; ending',
    err: { type: 'Error', message: 'the disk is gone', code: 'EIO' },
  })
})
