import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { chmod, mkdtemp, readdir, rm, symlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { promisify } from 'node:util'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startTestDaemon, type TestDaemon } from './support/daemon.ts'
import { eventually } from './support/eventually.ts'
import { startTestSandbox, type TestSandbox } from './support/sandbox.ts'
import { type Receiver, startReceiver } from './webhooks/receiver.ts'

// Every block of code in README.md and docs: it runs as it stands there, but for ports and ids, or its fence says why it does not.

interface Block {
  readonly page: string
  /** From 1, of the opening fence. */
  readonly line: number
  readonly language: string
  /** What the fence says after the language. */
  readonly mark: string
  readonly text: string
}

/** Why blocks of README.md are not run, by the beginning of their text: their fences stay as plain as readers expect them. */
const reasons: readonly (readonly [begins: string, why: string])[] = [
  ['npm start ', 'they never end, or run this; test/daemon/start.test.ts starts the first'],
  ['export DATABASE_URL=', 'it needs an account at a marketplace'],
]
const buildMark = (page: string, mark: string, text: string): string => {
  const [, why] = (page === 'README.md' && reasons.find(([begins]) => text.startsWith(begins))) || []
  return why === undefined ? mark : `not-run="${why}"`
}

const listBlocks = (page: string, source: string): readonly Block[] =>
  [...source.matchAll(/^ *```(\S*)(?: +(\S[^\n]*))?\n(.*?)^ *```$/gms)].map((match) => {
    const [, language = '', mark = '', text = ''] = match
    const line = source.slice(0, match.index).split('\n').length
    return { page, line, language, mark: buildMark(page, mark, text), text }
  })

const pages = [
  'README.md',
  ...(await readdir('docs', { recursive: true })).filter((file) => file.endsWith('.md')).map((file) => `docs/${file}`),
]
const blocks = pages.sort().flatMap((page) => listBlocks(page, readFileSync(page, 'utf8')))
const at = ({ page, line, language }: Block): string => `${page}:${line} (${language})`

/** Pages whose blocks of a language are run by a test of their own. */
const ranElsewhere: Readonly<Record<string, string>> = {
  'docs/bi.md sql': 'test/bi/bi.test.ts',
  'docs/connecting-a-marketplace.md js': 'test/connecting.test.ts',
  'docs/connecting-a-marketplace.md sh': 'test/connecting.test.ts',
  'docs/connecting-a-marketplace.md sql': 'test/connecting.test.ts',
  'docs/events.md sql': 'test/documented-events.test.ts',
  'docs/events.md ts': 'test/documented-events.test.ts',
  'docs/runbooks.md sh': 'test/runbooks.test.ts',
  'docs/runbooks.md sql': 'test/runbooks.test.ts',
  'docs/webhooks.md js': 'test/webhooks/documentation.test.ts',
}
/** Pages whose blocks of a language are run below. */
const ranHere = [
  'README.md sh',
  'docs/alarm-channels.md sh',
  'docs/completeness.md sql',
  'docs/interface.md sh',
  'docs/interface.md ts',
  'docs/keys.md sh',
  'docs/operations.md sql',
  'docs/sandbox.md sh',
  'docs/webhooks.md sh',
]

/** Why a block is not accepted; null: it is run, read or marked. */
const findFault = (block: Block): string | null => {
  const { page, language, mark, text } = block
  if (/^not-run="[^"]{10,}"$/.test(mark) || mark === 'output') return null
  if (mark !== '') return `unknown mark ${mark}`
  // Shapes and drawings.
  if (language === 'text' || language === 'mermaid') return null
  if (language === 'json') {
    try {
      JSON.parse(text)
      return null
    } catch (error) {
      return String(error)
    }
  }
  const kind = `${page} ${language}`
  return kind in ranElsewhere || ranHere.includes(kind) ? null : 'is run by no test; run it, or mark it not-run="why" or output'
}

describe('every block of code', () => {
  test('is run, is JSON, or says why it is not run', () => {
    expect(blocks.length).toBeGreaterThan(50)
    const faults = blocks.map((block) => [at(block), findFault(block)])
    expect(faults.filter(([, fault]) => fault !== null)).toEqual([])
  })

  test.each([
    ['```sh\nrm -rf /\n```\n', 'is run by no test'],
    ['```json\n{"a": …}\n```\n', 'SyntaxError'],
    ['```sh sometimes\ntrue\n```\n', 'unknown mark'],
    ['```sh not-run=""\ntrue\n```\n', 'unknown mark'],
    ['```\ntrue\n```\n', 'is run by no test'],
  ])('that is not is found: %j', (source, fault) => {
    expect(listBlocks('docs/other.md', source).map(findFault)).toEqual([expect.stringContaining(fault)])
  })

  test('that a test of its own runs is named there', () => {
    for (const [kind, file] of Object.entries(ranElsewhere))
      expect(readFileSync(file, 'utf8'), kind).toContain(kind.replace(/ \w+$/, ''))
  })
})

const run = promisify(execFile)
let folder: string
let daemon: TestDaemon
let ownSandbox: string
let databaseUrl: string
let sandbox: TestSandbox
let receiver: Receiver

/** The blocks of a page in this language that are run. */
const runBlocks = (page: string, language: string): readonly Block[] => {
  const found = blocks.filter((block) => block.page === page && block.language === language && block.mark === '')
  if (found.length === 0) throw new Error(`${page} has no ${language} to run`)
  return found
}

/** Runs lines of a shell; answers what they printed, on both streams. */
const play = async (text: string): Promise<string> => {
  const env = { ...process.env, DATA_DIR: folder, TALLYMAN_URL: daemon.url, npm_config_yes: 'false', COLUMNS: '200' }
  const shown = text.replaceAll('http://127.0.0.1:8080', daemon.url).replaceAll('http://127.0.0.1:8181', ownSandbox)
  const { stdout, stderr } = await run('sh', ['-e', '-c', shown], { cwd: folder, env })
  return `${stdout}${stderr}`
}

/** Commands of a block, one by one; a line that ends within quotes goes on. */
const listCommands = ({ text }: Block): readonly string[] => {
  const commands: string[] = []
  let open = ''
  for (const line of text.split('\n')) {
    open = open === '' ? line : `${open}\n${line}`
    if ((open.match(/'/g) ?? []).length % 2 === 1) continue
    if (open.trim() !== '') commands.push(open)
    open = ''
  }
  return commands
}

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'tallyman-readme-'))
  // As root, Postgres runs under a user who must be able to enter it.
  await chmod(folder, 0o755)
  sandbox = await startTestSandbox()
  receiver = await startReceiver()
  daemon = await startTestDaemon({ SANDBOX_PORT: '0', DATA_DIR: folder, WEBHOOK_PRIVATE_ADDRESSES: 'allow', DEMO: 'off' })
  const output = daemon.program.output()
  const [, found] = /"sandbox":"(http:[^"]+)"/.exec(output) ?? []
  if (found === undefined) throw new Error('the daemon did not say where its sandbox is')
  ownSandbox = found
  const [, shown = ''] = /"(postgresql:[^"]+passfile=[^"]+)"/.exec(output) ?? []
  const address = new URL(shown)
  address.password =
    readFileSync(address.searchParams.get('passfile') ?? '', 'utf8')
      .trim()
      .split(':')
      .at(-1) ?? ''
  address.searchParams.delete('passfile')
  databaseUrl = address.href
  for (const name of ['package.json', 'bin', 'node_modules']) await symlink(path.resolve(name), path.join(folder, name))
})
afterAll(async () => {
  await daemon?.program.stop()
  await sandbox?.stop()
  await receiver?.close()
  await rm(folder, { recursive: true, force: true })
})

test('README.md: the first commands place an order, acknowledge and ship it, and show what became of it; twice', async () => {
  const [block, ...more] = runBlocks('README.md', 'sh')
  expect(more).toEqual([])
  const commands = block === undefined ? [] : listCommands(block)
  const [show = ''] = commands.slice(-1)
  expect(show).toBe('npx tallyman orders show $order')
  const client = new pg.Client({ connectionString: databaseUrl })
  await client.connect()
  try {
    for (const times of [1, 2]) {
      const said = await play([...commands.slice(0, -1), 'echo; echo "order=$order"'].join('\n'))
      const [, order = ''] = /^order=(\d+)$/m.exec(said) ?? []
      expect(said).toContain(`"purchaseOrderIds":["${order}"]`)
      expect(said.match(/"status":"accepted"/g)).toHaveLength(2)
      await eventually(async () => {
        const shown = await play(show.replace('$order', order))
        expect(shown).toMatch(/^1 +KETTLE-RED +2 +2 +2 +0 +0 +UPS 1Z999AA10123456784$/m)
        expect(shown).toMatch(/ship +confirmed /m)
      })
      const { rows } = await client.query(
        `SELECT count(DISTINCT o.purchase_order_id)::int AS orders, bool_and(s.shipped_at > o.order_date) AS later
         FROM warehouse.orders o JOIN warehouse.order_line_statuses s USING (seller_id, purchase_order_id) WHERE s.tracking_number IS NOT NULL`,
      )
      expect(rows).toEqual([{ orders: times, later: true }])
    }
  } finally {
    await client.end()
  }
}, 60_000)

test('docs/interface.md: the list comes as a table, and the types are exported', async () => {
  for (const block of runBlocks('docs/interface.md', 'sh')) await play(block.text)
  expect(readFileSync(path.join(folder, 'open-orders.csv'), 'utf8')).toMatch(/^sellerId,purchaseOrderId,/)
  const types = readFileSync('types/index.d.ts', 'utf8')
  for (const { text } of runBlocks('docs/interface.md', 'ts')) {
    const [, names = ''] = /^import type \{ (.+) \} from 'tallyman\/types'\n$/.exec(text) ?? []
    for (const name of names.split(', ')) expect(types).toMatch(new RegExp(`^export (type|interface) ${name}\\b`, 'm'))
  }
})

test('docs/keys.md: a key is added, listed, rotated and revoked', async () => {
  let id = ''
  for (const block of runBlocks('docs/keys.md', 'sh'))
    for (const command of listCommands(block)) {
      const said = await play(command.replace(/\bID\b/, id))
      id = /^key (\S+) \(ERP of shop A\)/m.exec(said)?.[1] ?? id
      expect(id, said).not.toBe('')
    }
  expect(await play('npx tallyman keys list --all')).toMatch(new RegExp(`^${id} .*shop-a .* \\d{4}-`, 'm'))
})

test('docs/webhooks.md: an endpoint is added and tried', async () => {
  const [block, ...more] = runBlocks('docs/webhooks.md', 'sh')
  expect(more).toEqual([])
  const [add = '', tried = ''] = block === undefined ? [] : listCommands(block)
  const said = await play(add.replace('https://erp.example/hooks/tallyman', receiver.url))
  const [id = ''] = /wh_[0-9a-f]{32}/.exec(said) ?? []
  expect(await play(tried.replace(/wh_[0-9a-f]{32}/, id))).toContain('204')
  expect(receiver.received.map(({ body }) => JSON.parse(body).type)).toContain('webhook.test')
})

test('docs/alarm-channels.md: a channel is added and tried', async () => {
  const [block, ...more] = runBlocks('docs/alarm-channels.md', 'sh')
  expect(more).toEqual([])
  const [add = '', tried = ''] = block === undefined ? [] : listCommands(block)
  const said = await play(`SLACK_URL=${receiver.url}; ${add}`)
  const [id = ''] = /ch_[0-9a-f]{32}/.exec(said) ?? []
  expect(await play(tried.replace(/ch_[0-9a-f]{32}/, id))).toContain('204')
  expect(receiver.received.map(({ body }) => body).join()).toContain('Test message of Tallyman')
})

test('docs/sandbox.md: the first steps', async () => {
  for (const block of runBlocks('docs/sandbox.md', 'sh')) {
    const commands = listCommands(block)
    // The program itself runs here already.
    expect(commands[0]).toBe('npm run sandbox')
    for (const command of commands.slice(1)) {
      const said = await play(
        command.replaceAll('localhost:8181', new URL(sandbox.url).host).replace('curl ', 'curl --fail-with-body '),
      )
      expect(said, command).toMatch(/[{[]/)
    }
  }
})

test('docs/operations.md, docs/completeness.md: the statements are taken by the database', async () => {
  const client = new pg.Client({ connectionString: databaseUrl })
  await client.connect()
  try {
    // One by one: a VACUUM takes no part in a transaction.
    for (const block of [...runBlocks('docs/operations.md', 'sql'), ...runBlocks('docs/completeness.md', 'sql')])
      for (const statement of block.text.split(/;$/m).map((one) => one.trim()))
        if (statement !== '') await client.query(statement)
    const { rows } = await client.query("SELECT pg_has_role('metabase', 'tallyman_bi', 'member') AS granted")
    expect(rows).toEqual([{ granted: true }])
  } finally {
    await client.end()
  }
}, 120_000)
