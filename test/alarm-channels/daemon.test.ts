import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { z } from 'zod'
import { raiseAlarm, resolveAlarm } from '../../src/store/alarms/alarms.ts'
import { type Database, openDatabase } from '../../src/store/db/database.ts'
import { cli } from '../cli/run.ts'
import { sandboxSeller } from '../daemon/support.ts'
import { startTestDaemon, type TestDaemon } from '../support/daemon.ts'
import { eventually } from '../support/eventually.ts'
import { enqueueMaintenance } from '../support/maintenance.ts'
import { startTestPostgres } from '../support/postgres.ts'
import { startTestSandbox } from '../support/sandbox.ts'
import { findVocabulary } from '../support/vocabulary.ts'
import { type Receiver, startReceiver } from '../webhooks/receiver.ts'
import { type MailServer, startMailServer } from './mail-server.ts'

// One daemon with a channel of each kind: what it sends, by its own jobs.

/** The check for alarms runs every minute, and when the test asks. */
const maxWaitMs = 90_000
const secret = 'T000-secret'
let daemon: TestDaemon
let databaseUrl: string
let database: Database
let receiver: Receiver
let mail: MailServer
const stops: (() => Promise<unknown>)[] = []

beforeAll(async () => {
  receiver = await startReceiver()
  mail = await startMailServer('hunter2')
  const [postgres, sandbox] = await Promise.all([startTestPostgres(), startTestSandbox()])
  const folder = await mkdtemp(path.join(tmpdir(), 'tallyman-channels-'))
  databaseUrl = await postgres.database()
  database = openDatabase({ url: databaseUrl, findVocabulary, connections: 4 })
  daemon = await startTestDaemon({
    ...sandboxSeller,
    DATABASE_URL: databaseUrl,
    DATA_DIR: folder,
    MARKETPLACE_URL: sandbox.url,
    WEBHOOK_PRIVATE_ADDRESSES: 'allow',
    SMTP_URL: `smtp://tallyman:hunter2@127.0.0.1:${mail.port}`,
    SMTP_FROM: 'Tallyman <alarms@shop.example>',
    CONSOLE_URL: 'https://tallyman.shop.example',
  })
  stops.push(
    () => daemon.program.kill(),
    () => database.close(),
    () => sandbox.stop(),
    () => postgres.stop(),
    () => mail.close(),
    () => receiver.close(),
    () => rm(folder, { recursive: true, force: true }),
  )
}, 120_000)
afterAll(async () => {
  for (const stop of stops) await stop()
})

const add = async (body: object): Promise<string> => {
  const added = await daemon.call('POST', '/v1/alarm-channels', body)
  expect(added.status).toBe(201)
  return z.object({ id: z.string() }).parse(added.body).id
}
const change = async (id: string): Promise<void> => {
  const answer = await fetch(`${daemon.url}/v1/alarm-channels/${id}`, {
    method: 'PATCH',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ state: 'active' }),
  })
  expect(answer.status).toBe(200)
}
const held = { sellerId: sandboxSeller.SELLER_ID, kind: 'command-held', subject: 'c-1' } as const
const mailsAbout = (text: string) => mail.received.filter(({ subject }) => subject.includes(text)).length
const postsAbout = (text: string) => receiver.received.filter(({ body }) => body.includes(text)).length

test('an alarm arrives at Slack, Teams and by e-mail once, is repeated after its hours, and is over; addresses and passwords are nowhere else', {
  timeout: 4 * maxWaitMs,
}, async () => {
  const rules = { severities: ['critical'], repeatHours: 2 }
  const slack = await add({ name: 'Slack', kind: 'slack', url: `${receiver.url}/${secret}`, ...rules })
  const teams = await add({ name: 'Teams', kind: 'teams', url: `${receiver.url}/teams-${secret}`, ...rules })
  const staff = await add({ name: 'Staff', kind: 'email', recipients: ['kim@shop.example'], ...rules })

  const mailsBefore = mailsAbout('Test message')
  const sendNow = () => Promise.all([slack, teams, staff].map(change))
  expect((await daemon.call('POST', `/v1/alarm-channels/${slack}/test`)).body).toMatchObject({ delivered: true, status: 204 })
  expect((await daemon.call('POST', `/v1/alarm-channels/${staff}/test`)).body).toMatchObject({ delivered: true, status: 250 })
  expect(mailsAbout('Test message')).toBe(mailsBefore + 1)

  await raiseAlarm(database, held, 'the buyer Jane Doe waits')
  await enqueueMaintenance(databaseUrl, 'alarms')
  const title = 'A command waits for a decision'
  await eventually(() => {
    expect(postsAbout(`${title} (new)`)).toBe(2)
    expect(mailsAbout(`${title} (new)`)).toBe(1)
  }, maxWaitMs)

  // A message arrives before it is recorded as sent.
  await eventually(async () => {
    const [sent] = await database.query<{ n: number }>('SELECT count(*)::int AS n FROM tallyman.alarm_notices')
    expect(sent?.n).toBe(3)
  }, maxWaitMs)
  // What is to be repeated is sent; a change of a channel sends it at once.
  await database.execute(`UPDATE tallyman.alarm_notices SET sent_at = sent_at - interval '3 hours' WHERE channel_id <> $1`, slack)
  await sendNow()
  await eventually(() => {
    expect(postsAbout(`${title} (still open)`)).toBe(1)
    expect(mailsAbout(`${title} (still open)`)).toBe(1)
  }, maxWaitMs)

  await resolveAlarm(database, held)
  await sendNow()
  await eventually(() => {
    expect(postsAbout(`${title} (over)`)).toBe(2)
    expect(mailsAbout(`${title} (over)`)).toBe(1)
  }, maxWaitMs)
  expect(postsAbout(`${title} (new)`)).toBe(2)

  const metrics = await eventually(async () => {
    const text = await (await fetch(`${daemon.url}/metrics`)).text()
    expect(text).toMatch(/tallyman_alarm_messages_total\{kind="email",outcome="sent"\} 4/)
    expect(text).toMatch(/tallyman_job_runs_total\{job="alarm.send",outcome="done"\} \d+/)
    return text
  }, maxWaitMs)
  const shown = JSON.stringify([
    (await daemon.call('GET', '/v1/alarm-channels')).body,
    (await daemon.call('GET', '/v1/settings')).body,
    (await daemon.call('GET', '/v1/audit')).body,
    metrics,
    daemon.program.output(),
  ])
  for (const hidden of [secret, 'hunter2']) expect(shown).not.toContain(hidden)
  expect(daemon.program.output()).not.toContain('kim@shop.example')
  expect(JSON.stringify([receiver.received, mail.received])).not.toContain('Jane')
})

test('the command line adds, lists, changes, tests, pauses and removes a channel, and reads its URL from the standard input', async () => {
  const channels = (args: readonly string[], input = '') =>
    cli(['alarms', 'channels', ...args], { TALLYMAN_URL: daemon.url }, { input, columns: 300 })
  const [kind, name, hours] = [
    'slack',
    'Night shift',
    ['--hours', '22:00-06:00', '--time-zone', 'Europe/Berlin', '--weekdays', '5,6'],
  ]
  const added = await channels(
    [
      'add',
      kind,
      name,
      '--url',
      '-',
      '--severity',
      'notice',
      '--concern',
      'operator',
      'warehouse',
      '--seller',
      'A1',
      ...hours,
      '--repeat',
      '8',
    ],
    `${receiver.url}/cli-${secret}\n`,
  )
  expect(added).toMatchObject({ code: 0, out: expect.stringMatching(/^channel ch_[0-9a-f]{32} is active\n$/) })
  const [id = ''] = /ch_[0-9a-f]+/.exec(added.out) ?? []
  const row = `${id} +active +slack +Night shift +127.0.0.1:${receiver.port} +notice for operator,warehouse +A1 +22:00-06:00 Europe/Berlin Fri,Sat +after 8 h`
  expect((await channels([])).out).toMatch(new RegExp(row))
  expect(await channels(['test', id])).toMatchObject({ code: 0, out: expect.stringMatching(/delivered: status 204 in \d+ ms/) })
  expect((await channels(['pause', id])).out).toBe(`channel ${id} is paused\n`)
  expect((await channels(['change', id, '--hours', 'always', '--repeat', 'never', '--name', 'All day'])).code).toBe(0)
  expect((await channels(['list'])).out).toMatch(new RegExp(`${id} +paused +slack +All day .* +A1 +always +never`))
  receiver.answer(404)
  expect(await channels(['test', id])).toMatchObject({ code: 1, messages: expect.stringContaining('not delivered: status 404') })
  receiver.answer(204)
  expect((await channels(['resume', id])).out).toContain('is active')
  for (const wrong of [
    ['change', id],
    ['change', id, '--weekdays', '1'],
    ['change', id, '--hours', '8-18'],
    ['add', 'pager', 'x'],
  ])
    expect((await channels(wrong)).code, wrong.join(' ')).toBe(2)
  const refused = await channels(['add', 'teams', 'x', '--to', 'kim@shop.example'])
  expect(refused).toMatchObject({ code: 1, messages: expect.stringContaining('recipients') })
  expect(await channels(['remove', id])).toMatchObject({ code: 0, out: `channel ${id} is removed\n` })
  expect((await channels(['test', id])).code).toBe(1)
})
