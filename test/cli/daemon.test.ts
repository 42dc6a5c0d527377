import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startTestDaemon } from '../support/daemon.ts'
import { accepted, cloudEvent } from '../support/events.ts'
import { eventually } from '../support/eventually.ts'
import { startProgram } from '../support/process.ts'
import { type Rig, startRig } from './rig.ts'
import { type CliRun, cli } from './run.ts'

let rig: Rig
let folder: string

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'tallyman-cli-'))
  rig = await startRig()
})

afterAll(async () => {
  await rig.stop()
  await rm(folder, { recursive: true, force: true })
})

const tallyman = (args: readonly string[], more: Readonly<Record<string, string>> = {}): Promise<CliRun> =>
  cli(args, { ...rig.environment, ...more })

const json = (run: CliRun): unknown => JSON.parse(run.out)

let events = 0
/** Writes an event to a file; answers its path and id. */
const eventFile = async (type: string, data: object): Promise<{ file: string; id: string }> => {
  events += 1
  const id = `event-${events}`
  const file = path.join(folder, `${id}.json`)
  await writeFile(file, JSON.stringify(cloudEvent({ id, type, data }, 'cli-test')))
  return { file, id }
}

/** Places an order and waits until its acceptance is confirmed; answers its id and that of the command. */
const acceptedOrder = async (): Promise<{ purchaseOrderId: string; commandId: string }> => {
  const purchaseOrderId = await rig.sandbox.place({ lines: [{ lineNumber: '1', sku: 'A', quantity: 3, amount: '30.00' }] })
  const { file } = await eventFile('erp.order.accepted', { purchaseOrderId })
  const sent = await tallyman(['send', file, '--json'])
  expect(sent.messages).toBe('')
  expect(json(sent)).toMatchObject({ items: [{ status: 'accepted', commands: [expect.any(String)] }] })
  const commandId = await eventually(async () => {
    const run = await tallyman(['commands', 'list', '--order', purchaseOrderId, '--state', 'confirmed', '--json'])
    const [command] = (json(run) as { items: { id: string }[] }).items
    if (command === undefined) throw new Error(`the command is not confirmed yet: ${run.out}`)
    return command.id
  })
  return { purchaseOrderId, commandId }
}

describe('doctor', () => {
  test('finds a running daemon in order', async () => {
    const { code, out } = await tallyman(['doctor'])
    expect(out).not.toMatch(/^(fail|warn)/m)
    expect(code).toBe(0)
    for (const check of ['configuration', 'daemon', 'syncs', 'database', 'redis', 'credentials', 'clock']) {
      expect(out).toMatch(new RegExp(`^ok {4}${check}: `, 'm'))
    }
  })

  test('says what is wrong and what to do, as JSON as well', async () => {
    const wrong = {
      API_KEY: 'not-the-key-of-the-daemon',
      CLIENT_SECRET: 'not-the-secret',
      DATABASE_URL: await rig.emptyDatabase(),
      REDIS_URL: 'redis://127.0.0.1:1',
    }
    const run = await tallyman(['doctor', '--json'], wrong)
    expect(run.code).toBe(1)
    const { ok, findings } = json(run) as { ok: boolean; findings: { check: string; state: string; advice?: string }[] }
    expect(ok).toBe(false)
    const failed = findings.filter((finding) => finding.state === 'fail')
    expect(failed.map((finding) => finding.check).sort()).toEqual(['credentials', 'daemon', 'database', 'redis'])
    for (const finding of failed) expect(finding.advice).toBeTruthy()
    expect(failed.find((finding) => finding.check === 'database')?.advice).toContain('tallyman migrate')
  })

  test('--orders lists by source and day what was named and is not stored, and fails while any is missing', async () => {
    const none = await tallyman(['doctor', '--orders'])
    expect(none.code).toBe(0)
    await rig.sql(
      `INSERT INTO warehouse.returns (seller_id, return_order_id, return_order_date, raw_hash, raw, observed_at, first_seen_at, changed_at)
       VALUES ('sandbox-seller', 'R-1', now() - interval '2 days', '\\x00', '{}', now(), now(), now())`,
    )
    await rig.sql(
      `INSERT INTO warehouse.return_lines (seller_id, return_order_id, return_order_line_number, purchase_order_id, quantity, raw, first_seen_at, changed_at)
       VALUES ('sandbox-seller', 'R-1', 1, 'never-listed', 1, '{}', now(), now())`,
    )
    const run = await tallyman(['doctor', '--orders'])
    expect(run.code).toBe(1)
    expect(run.out).toMatch(/^day +seller +named by +named +stored +missing +explained +missing orders *$/m)
    expect(run.out).toMatch(/^\d{4}-\d\d-\d\d +sandbox-seller +\S+ +1 +0 +1 +0 +never-listed *$/m)
    expect(run.messages).toContain('1 order named, but not stored')
    expect(run.messages).toContain('each is requested by its id')
    expect(json(await tallyman(['doctor', '--orders', '--json']))).toMatchObject({
      ok: false,
      items: [{ named: 1, stored: 0, missing: 1, missingIds: ['never-listed'] }],
    })
    await rig.sql(`DELETE FROM warehouse.returns WHERE return_order_id = 'R-1'`)
  })

  test('invalid settings are named, and do not keep the other checks from being made', async () => {
    const { code, out } = await tallyman(['doctor'], { SETTLE_TIME: 'soon', AUTO_ACKNOWLEDGE: 'maybe' })
    expect(code).toBe(1)
    expect(out).toMatch(
      /^fail {2}configuration: .*AUTO_ACKNOWLEDGE.*SETTLE_TIME|^fail {2}configuration: .*SETTLE_TIME.*AUTO_ACKNOWLEDGE/m,
    )
    expect(out).toMatch(/^ok {4}daemon: /m)
  })
})

test('the daemon is found by its DATA_DIR', async () => {
  const { TALLYMAN_URL: _, ...environment } = rig.environment
  const run = await cli(['sellers', 'list'], { ...environment, DATA_DIR: rig.sandbox.folder })
  expect(run.messages).toBe('')
  expect(run.out).toMatch(/^sandbox-seller +active/m)
})

test('the daemon says what a resource may be completed to', async () => {
  const { out, messages } = await tallyman(['complete', '--', 'sync', 'inv'])
  expect({ out, messages }).toEqual({ out: 'inventory-log\n', messages: '' })
  const unreachable = await cli(['complete', '--', 'sync', 'inv'], { TALLYMAN_URL: 'http://127.0.0.1:1' })
  expect(unreachable).toEqual({ code: 0, out: '', messages: '' })
})

test('what doctor advises can be run as it is written', async () => {
  const command = '672b4e77-b52d-4fe9-a54b-5e2ab273839e'
  const kinds = ['command-held', 'command-rejected', 'command-waiting', 'event-rejected', 'event-waiting', 'reading-skipped']
  const others = ['campaign-missing', 'campaign-unreadable', 'campaign-anomaly', 'log-reason-unknown']
  for (const kind of [...kinds, ...others]) {
    await rig.sql(
      `INSERT INTO tallyman.alarms (seller_id, kind, subject, message) VALUES ('sandbox-seller', $1, $2, 'planted')`,
      ...[kind, kind.startsWith('command') ? command : '4711'],
    )
  }
  const { findings } = json(await tallyman(['doctor', '--json'])) as { findings: { detail: string; advice?: string }[] }
  const planted = findings.filter(({ detail }) => detail.includes('planted'))
  expect(planted).toHaveLength(kinds.length + others.length)
  const advised = planted.flatMap(({ advice = '' }) => [...advice.matchAll(/`tallyman ([^`]+)`/g)].map(([, words = '']) => words))
  expect(advised.length).toBeGreaterThanOrEqual(planted.length)
  for (const words of new Set(advised)) {
    const { code, messages } = await tallyman(words.split(' '))
    // The command and the campaign were never there; everything else is done.
    const isThere = !/^(commands show|campaigns unwatch)/.test(words)
    expect({ words, code, messages }).toEqual({
      words,
      code: isThere ? 0 : 1,
      messages: isThere ? expect.any(String) : expect.stringMatching(/not found|no /i),
    })
  }
  await rig.sql(`DELETE FROM tallyman.alarms WHERE message = 'planted'`)
})

describe('send', () => {
  test('the same file twice is a duplicate with the same commands', async () => {
    const purchaseOrderId = await rig.sandbox.place({ lines: [{ sku: 'A', quantity: 1, amount: '10.00' }] })
    const { file } = await eventFile('erp.order.accepted', { purchaseOrderId })
    const first = json(await tallyman(['send', file, '--json'])) as { items: object[] }
    const second = json(await tallyman(['send', file, '--json'])) as { items: object[] }
    expect(second.items).toEqual([{ ...first.items[0], status: 'duplicate' }])
  })

  test('--dry-run shows what an event would do, and stores nothing', async () => {
    const purchaseOrderId = await rig.sandbox.place({ lines: [{ sku: 'A', quantity: 2, amount: '10.00' }] })
    const known = await eventFile('erp.order.accepted', { purchaseOrderId })
    await tallyman(['send', known.file])
    const before = await rig.sql('SELECT count(*) AS n FROM tallyman.erp_event')
    const lines = [{ sku: 'A', quantity: 1, reason: 'SELLER_CANCEL_OUT_OF_STOCK' }]
    const { file } = await eventFile('erp.lines.unfulfillable', { purchaseOrderId, lines })
    const forecast = await tallyman(['send', file, '--dry-run'])
    expect(forecast.code).toBe(0)
    expect(forecast.out).toMatch(/ accepted +cancel 1:1$/m)
    expect(json(await tallyman(['send', file, '--dry-run', '--json']))).toMatchObject({ items: [{ would: 'accepted' }] })
    const wrong = await eventFile('erp.lines.unfulfillable', { purchaseOrderId, lines: [{ ...lines[0], quantity: 9 }] })
    const refused = await tallyman(['send', wrong.file, '--dry-run'])
    expect(refused.code).toBe(1)
    expect(refused.out).toMatch(/ rejected +data\.lines\[0\]\.quantity /m)
    expect(refused.messages).toContain('1 of 1 events would be rejected')
    expect(await rig.sql('SELECT count(*) AS n FROM tallyman.erp_event')).toEqual(before)
  })

  test('a wrong event is refused with every fault, and exit code 1', async () => {
    const { file } = await eventFile('erp.shipment.dispatched', {
      purchaseOrderId: '1',
      parcels: [{ carrier: 'UPS', lines: [] }],
    })
    const { code, out, messages } = await tallyman(['send', file])
    expect(code).toBe(1)
    expect(out).toBe('')
    expect(messages).toContain('data.parcels[0].trackingNumber: ')
    expect(messages).toContain('data.parcels[0].lines: ')
  })

  test('a list goes as a batch, from standard input', async () => {
    const orders = await Promise.all([1, 2].map(() => rig.sandbox.place({ lines: [{ sku: 'B', quantity: 1, amount: '5.00' }] })))
    const batch = orders.map((purchaseOrderId) => cloudEvent(accepted({ purchaseOrderId }), 'cli-test'))
    const run = await cli(['send', '-'], rig.environment, { input: JSON.stringify(batch) })
    expect(run.messages).toBe('')
    for (const { id } of batch) expect(run.out).toMatch(new RegExp(`^${id} +cli-test +accepted`, 'm'))
  })

  test('an event that is not signed with the secret is refused', async () => {
    const { file } = await eventFile('erp.order.accepted', { purchaseOrderId: '1' })
    for (const secret of ['whsec_QUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFB', '']) {
      const { code, messages } = await tallyman(['send', file], { EVENTS_SECRET: secret })
      expect(code).toBe(1)
      expect(messages).toMatch(/signature/)
      expect(messages).toContain('set EVENTS_SECRET')
      expect(messages).not.toContain('API_KEY')
    }
  })
})

test('an order that was refunded is found by the beginning of its tracking number, and shows what it left in', async () => {
  const { purchaseOrderId } = await acceptedOrder()
  const confirmed = async (type: string, data: object, kind: string): Promise<void> => {
    const sent = await tallyman(['send', (await eventFile(type, { purchaseOrderId, ...data })).file])
    expect(sent.messages).toBe('')
    await eventually(async () => {
      const { out } = await tallyman(['commands', '--order', purchaseOrderId])
      if (!new RegExp(`${kind} +confirmed`).test(out)) throw new Error(`not confirmed yet: ${out}`)
    })
  }
  const lines = [{ lineNumber: '1', quantity: 3 }]
  const shippedAt = new Date().toISOString()
  const parcel = { carrier: 'UPS', trackingNumber: '1ZKept0001', shippedAt, lines }
  await confirmed('erp.shipment.dispatched', { parcels: [parcel] }, 'ship')
  await confirmed('erp.credit.issued', { lines: lines.map((line) => ({ ...line, reason: 'DamagedItem' })) }, 'refund')
  for (const [option, value] of [
    ['--search', '1zkept'],
    ['--tracking-number', '1ZKept0001'],
  ] as const)
    expect((await tallyman(['orders', option, value])).out).toMatch(new RegExp(`^${purchaseOrderId} `, 'm'))
  const shown = await tallyman(['orders', 'show', purchaseOrderId])
  expect(shown.out).toMatch(/^1 +UPS +1ZKept0001 +\d{4}-\S+ +3 +0 *$/m)
  expect(json(await tallyman(['orders', 'show', purchaseOrderId, '--json']))).toMatchObject({
    lines: [{ refunded: 3, statuses: [{ trackingNumber: null }], shipments: [{ shippedAt, quantity: 3, shownQuantity: 0 }] }],
  })
})

test('an order is shown as it was known at a time', async () => {
  const { purchaseOrderId } = await acceptedOrder()
  const show = (time: string, ...more: readonly string[]) => tallyman(['orders', 'show', purchaseOrderId, '--at', time, ...more])
  const { firstSeenAt, validTo } = json(await show(new Date(Date.now() + 60_000).toISOString(), '--json')) as Record<
    string,
    string
  >
  expect(validTo).toBeNull()
  const past = await show(firstSeenAt ?? '')
  expect(past.out).toMatch(/^as it was known at \S+: version 1 of the kept ones, valid from \S+ to \S+\norder /)
  expect(past.out).toMatch(/^1 +A +3 +0 +0 +0 +0 *$/m)
  expect((await show(firstSeenAt ?? '')).out).not.toMatch(/confirmed/)
  const before = await show('2001-01-01')
  expect(before).toMatchObject({ code: 1, out: '' })
  expect(before.messages).toContain(`It was first seen at ${firstSeenAt}`)
  expect((await show('yesterday')).code).toBe(2)
})

describe('commands', () => {
  test('list, show and a decision on what is not held', async () => {
    const { purchaseOrderId, commandId } = await acceptedOrder()
    const list = await tallyman(['commands', '--order', purchaseOrderId])
    expect(list.out).toMatch(new RegExp(`^${commandId} +${purchaseOrderId} +acknowledge +confirmed`, 'm'))
    const shown = await tallyman(['commands', 'show', commandId])
    expect(shown.out).toMatch(/^state: confirmed\nreason: .+\nid: /)
    expect(shown.out).toContain('attempts:')
    expect(shown.out).toContain('correlationId: ')
    const decided = await tallyman(['commands', 'retry', commandId, '--reason', 'to try'])
    expect(decided.code).toBe(1)
    expect(decided.messages).toMatch(/is confirmed: it is settled/)
  })

  test('a held command is decided with who and why', async () => {
    const { commandId } = await acceptedOrder()
    await rig.sql(
      `UPDATE tallyman.commands SET state = 'held', reason = 'it is unclear', settled_at = NULL WHERE id = $1`,
      commandId,
    )
    const held = await tallyman(['commands', 'show', commandId])
    expect(held.out).toMatch(
      /^state: held\nreason: it is unclear\nwhat to do: .+ confirm, reject or retry: tallyman commands confirm \S+ --reason .+\nid: /,
    )
    const doctor = await tallyman(['doctor'])
    expect(doctor.out).toMatch(/^warn {2}commands: 1 command/m)
    const decided = await tallyman(['commands', 'confirm', commandId, '--reason', 'seen in the portal', '--by', 'Ada'])
    expect(decided.messages).toBe('')
    expect(decided.out).toBe(`command ${commandId} is confirmed now\n`)
    const shown = json(await tallyman(['commands', 'show', commandId, '--json'])) as { decisions: object[] }
    expect(shown.decisions).toMatchObject([{ decision: 'confirm', actor: 'Ada', reason: 'seen in the portal' }])
  })

  test('a rejected command begins with its state, its reason, and what to do', async () => {
    const { commandId } = await acceptedOrder()
    await rig.sql(`UPDATE tallyman.commands SET state = 'rejected', reason = 'it was refused' WHERE id = $1`, commandId)
    const { out } = await tallyman(['commands', 'show', commandId])
    expect(out).toMatch(
      /^state: rejected\nreason: it was refused\nwhat to do: .*send a new event, then resolve its alarm: .+\nid: /,
    )
  })

  test('a command that does not exist', async () => {
    const { code, messages } = await tallyman(['commands', 'show', 'no/such command'])
    expect(code).toBe(1)
    expect(messages).toContain('There is no command no/such command')
  })

  test('an empty list is no failure and leaves standard output empty', async () => {
    expect(await tallyman(['commands', 'list', '--order', 'none'])).toEqual({ code: 0, out: '', messages: 'none\n' })
  })

  test('--limit cuts the list and says so', async () => {
    await acceptedOrder()
    await acceptedOrder()
    const run = await tallyman(['commands', 'list', '--limit', '1'])
    expect(run.out.trim().split('\n')).toHaveLength(2)
    expect(run.messages).toContain('there are more')
  })
})

describe('sync and backfill', () => {
  test('a sync is queued; an unknown resource or seller is refused', async () => {
    const run = await tallyman(['sync', 'orders', '--seller', 'sandbox-seller'])
    expect(run.out).toMatch(/^orders: \d+ runs queued/)
    expect(json(await tallyman(['--json', 'sync', 'returns']))).toMatchObject({
      resource: 'returns',
      jobs: ['sandbox-seller/returns/changed', 'sandbox-seller/returns/reread'],
    })
    expect((await tallyman(['sync', 'bogus'])).messages).toContain('there are orders, returns')
    // The profile `specification` has no list of stock.
    const without = await tallyman(['sync', 'inventory'])
    expect(without).toMatchObject({ code: 1, messages: expect.stringContaining('no seller has this resource') })
    expect((await tallyman(['sync', 'orders', '--seller', 'nobody'])).messages).toContain('--seller: ')
  })

  test('a backfill is followed to its end; the second time it finds nothing new', async () => {
    const day = 86_400_000
    // Before what the daily reading by creation date reaches, which may be at work.
    const from = new Date(Date.now() - 90 * day)
    const to = new Date(Date.now() - 70 * day)
    const range = ['--from', from.toISOString(), '--to', to.toISOString()]
    await rig.sandbox.placeRandom(60, {
      createdFrom: new Date(from.getTime() + day).toISOString(),
      createdTo: new Date(to.getTime() - day).toISOString(),
      alive: false,
    })
    const first = await tallyman(['backfill', 'orders', ...range, '--json'])
    expect(first.code).toBe(0)
    const lines = first.out
      .trim()
      .split('\n')
      .map((line): unknown => JSON.parse(line))
    expect(lines.at(-1)).toMatchObject({ done: 1, finished: true, seen: 60, changed: 60, quarantined: 0 })
    for (const line of lines.slice(0, -1)) expect(line).toMatchObject({ finished: false })

    const second = await tallyman(['backfill', 'orders', ...range])
    expect(second.out).toBe('done: 60 seen, 0 stored, 0 quarantined\n')
    expect(second.messages).toContain('orders: 100 %')
  })

  test('an interrupted backfill goes on in the daemon', async () => {
    const interruption = new AbortController()
    const { code, messages } = await cli(['backfill', 'orders', '--from', '0001-01-01'], rig.environment, {
      signal: interruption.signal,
      onTalk: (words) => {
        if (words.includes('the backfill of orders')) interruption.abort()
      },
    })
    expect(code).toBe(130)
    expect(messages).toContain('continues in the daemon')
    const again = await tallyman(['backfill', 'orders', '--from', '0001-01-01'])
    expect(again.code).toBe(0)
    expect(again.messages).toMatch(/only 20\S+ to 20\S+ can be read/)
    const never = await tallyman(['backfill', 'returns', '--from', '9998-01-01', '--to', '9999-01-01'])
    expect(never).toMatchObject({ code: 1 })
    expect(never.messages).toContain('the current time of the marketplace')
  })

  test('a backfill interrupted before the daemon answered may have started, and it says so', async () => {
    const interruption = new AbortController()
    const day = 86_400_000
    const [from = '', to = ''] = [60, 50].map((days) => new Date(Date.now() - days * day).toISOString().slice(0, 10))
    const args = ['backfill', 'returns', '--from', from, '--to', to]
    const client = new pg.Client({ connectionString: rig.databaseUrl })
    await client.connect()
    try {
      // The daemon waits for this transaction before it can begin the same stream.
      await client.query('BEGIN')
      await client.query(
        `INSERT INTO tallyman.sync_states (seller_id, resource, stream) VALUES ('sandbox-seller', 'returns', $1)`,
        [`backfill:${from.replaceAll('-', '')}T000000Z:${to.replaceAll('-', '')}T000000Z`],
      )
      const run = cli(args, rig.environment, { signal: interruption.signal })
      await eventually(async () => {
        const waiting = await client.query(`SELECT FROM pg_locks WHERE NOT granted AND locktype = 'transactionid'`)
        expect(waiting.rowCount).toBe(1)
      })
      interruption.abort()
      expect(await run).toEqual({ code: 130, out: '', messages: expect.stringContaining('may have started the backfill') })
    } finally {
      await client.end()
    }
    expect(await tallyman(args)).toMatchObject({ code: 0 })
  })

  test('a backfill that no process does is not waited for without end; it is done as soon as one does', async () => {
    const environment = { ...rig.environment, DATABASE_URL: await rig.emptyDatabase(), DATA_DIR: rig.sandbox.folder }
    const idle = await startTestDaemon({ ...environment, ROLES: 'scheduler,http' })
    const day = 86_400_000
    const [from, to] = [90, 80].map((days) => new Date(Date.now() - days * day).toISOString())
    const run = (...more: readonly string[]) =>
      cli(['backfill', 'orders', '--from', `${from}`, '--to', `${to}`, ...more], { ...environment, TALLYMAN_URL: idle.url })
    try {
      const refused = await run('--wait', '1')
      expect(refused).toMatchObject({ code: 1, out: '' })
      expect(refused.messages).toMatch(/no process has worked on the backfill of orders for 1 s[\s\S]*`worker`/)
      const late = run('--wait', '60')
      const worker = startProgram('src/main.ts', { LOG_FORMAT: 'json', ...environment, ROLES: 'worker' })
      try {
        expect(await late).toMatchObject({ code: 0, out: expect.stringMatching(/^done: \d+ seen/) })
        expect((await late).messages).toContain('continuing the backfill')
      } finally {
        await worker.stop()
      }
    } finally {
      await idle.program.stop()
    }
  }, 120_000)
})

describe('quarantine', () => {
  test('list and replay', async () => {
    const insert = (key: string) =>
      rig.sql(
        `INSERT INTO tallyman.quarantined_records (seller_id, resource, record_key, raw_hash, raw_text, fault, observed_at)
         VALUES ('sandbox-seller', 'orders', $1, decode(md5($1), 'hex'), $2, 'orderLines: is missing', now()) RETURNING id::text`,
        key,
        `{"purchaseOrderId":"${key}"}`,
      )
    const [record] = await insert('broken-1')
    await insert('broken-2')
    const list = await tallyman(['quarantine'])
    expect(list.out).toMatch(/orders +broken-1 +open/)
    const one = await tallyman(['quarantine', 'replay', String(record?.['id'])])
    expect(one.code).toBe(1)
    expect(one.messages).toContain('The record still cannot be parsed')
    const all = await tallyman(['quarantine', 'replay', '--all', '--json'])
    expect(all.code).toBe(1)
    expect(json(all)).toMatchObject({ items: [{ done: false }, { done: false }] })
    expect((await tallyman(['quarantine', 'replay', '999999'])).messages).toContain('There is no quarantined record 999999')
    await rig.sql('DELETE FROM tallyman.quarantined_records')
    expect((await tallyman(['quarantine', 'replay', '--all'])).out).toBe('nothing is in quarantine\n')
  })
})

describe('doctor --units', () => {
  test('finds no difference, then exactly the one that is made, and what explains it', async () => {
    const { purchaseOrderId, commandId } = await acceptedOrder()
    const before = await tallyman(['doctor', '--units', '--wait', '30'])
    expect(before.out).toMatch(/^\d+ lines, 0 differences\n$/)
    expect(before.code).toBe(0)

    const change = (units: number) =>
      rig.sql('UPDATE warehouse.order_lines SET shipped = shipped + $2 WHERE purchase_order_id = $1', purchaseOrderId, units)
    await change(1)
    const unexplained = await tallyman(['doctor', '--units', '--wait', '1'])
    expect(unexplained.code).toBe(1)
    expect(unexplained.out).toMatch(new RegExp(`^${purchaseOrderId} +1 +3 +3 +0 ≠ 1 +0 +0 +not explained`, 'm'))
    expect(unexplained.out).toMatch(/ lines, 1 difference \(0 held, 0 in progress, 1 not explained\)\n$/)

    await rig.sql(`UPDATE tallyman.commands SET state = 'held', settled_at = NULL WHERE id = $1`, commandId)
    const explained = await tallyman(['doctor', '--units', '--wait', '20', '--json'])
    expect(explained.code).toBe(0)
    expect(json(explained)).toMatchObject({
      differences: [
        {
          purchaseOrderId,
          marketplace: { shipped: 0 },
          database: { shipped: 1 },
          explanation: { verdict: 'held', command: { id: commandId } },
        },
      ],
    })
    await tallyman(['commands', 'reject', commandId, '--reason', 'a test'])
    await change(-1)
  })

  test('an order that only one side has is a difference', async () => {
    await rig.sql(
      `INSERT INTO warehouse.orders
       SELECT (jsonb_populate_record(o, '{"purchase_order_id": "invented", "open": false}')).* FROM warehouse.orders o LIMIT 1`,
    )
    // What Postgres works out by itself cannot be written.
    const [written] = await rig.sql(
      `SELECT string_agg(column_name, ', ') AS columns FROM information_schema.columns
       WHERE table_schema = 'warehouse' AND table_name = 'order_lines' AND is_generated = 'NEVER'`,
    )
    await rig.sql(
      `INSERT INTO warehouse.order_lines (${written?.['columns']}) SELECT ${written?.['columns']} FROM (
         SELECT (jsonb_populate_record(l, '{"purchase_order_id": "invented", "line_number": "1"}')).* FROM warehouse.order_lines l LIMIT 1) copied`,
    )
    const { code, out } = await tallyman(['doctor', '--units', '--wait', '1'])
    expect(code).toBe(1)
    expect(out).toMatch(/^invented .*not at the marketplace; not explained/m)
    await rig.sql(`DELETE FROM warehouse.orders WHERE purchase_order_id = 'invented'`)
    await rig.sql(`DELETE FROM warehouse.order_lines WHERE purchase_order_id = 'invented'`)
  })

  test('a sandbox that cannot be reached', async () => {
    const { code, messages } = await tallyman(['doctor', '--units', '--sandbox', 'http://127.0.0.1:1'])
    expect(code).toBe(1)
    expect(messages).toContain('the sandbox cannot be reached at http://127.0.0.1:1')
  })
})

test('migrate applies missing migrations once, and reports an unreachable database', async () => {
  const databaseUrl = await rig.emptyDatabase()
  const first = json(await tallyman(['migrate', '--json'], { DATABASE_URL: databaseUrl })) as { applied: string[] }
  expect(first.applied.length).toBeGreaterThan(0)
  expect((await tallyman(['migrate'], { DATABASE_URL: databaseUrl })).out).toContain('nothing to apply')
  const unreachable = await tallyman(['migrate'], { DATABASE_URL: 'postgres://nobody@127.0.0.1:1/none' })
  expect(unreachable.code).toBe(1)
  expect(unreachable.messages).toContain('the database cannot be reached')
})

test('a daemon that wants a key gets a plain word about it', async () => {
  const { code, messages } = await tallyman(['commands'], { API_KEY: '' })
  expect(code).toBe(1)
  expect(messages).toContain('set API_KEY')
})
