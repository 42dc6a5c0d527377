import { afterAll, beforeAll, expect, test } from 'vitest'
import type { CommandState } from '../../src/domain/commands/command.ts'
import { reviewEvents } from '../../src/jobs/events/review.ts'
import { alarmWaiting, moveCommand } from '../../src/store/commands/command-steps.ts'
import { readCommand } from '../../src/store/commands/commands.ts'
import { type Database, openDatabase } from '../../src/store/db/database.ts'
import { cancellation, storeCommand } from '../support/commands.ts'
import { findVocabulary } from '../support/vocabulary.ts'
import { type Rig, startRig } from './rig.ts'
import { cli } from './run.ts'

let rig: Rig
let database: Database

beforeAll(async () => {
  rig = await startRig()
  database = openDatabase({ findVocabulary, url: rig.databaseUrl, connections: 2 })
})
afterAll(async () => {
  await database.close()
  await rig.stop()
})

const tallyman = (...args: readonly string[]) => cli(args, rig.environment)

/** A command that stands so; its seller is served by nobody, so that it stays. */
const leave = async (purchaseOrderId: string, state: CommandState, reason: string): Promise<string> => {
  const id = await storeCommand(database, { sellerId: 'elsewhere', purchaseOrderId }, cancellation({ '1': 2 }))
  await database.transaction(async (tx) => {
    const command = await readCommand(tx, id)
    if (command === null) throw new Error('the command is not stored')
    if (state === 'verifying' || state === 'pending') {
      await moveCommand(tx, command, { state, reason, troubled: true, nextActionInMs: 3_600_000 })
      await alarmWaiting(tx, command, reason, 'step')
    } else await moveCommand(tx, command, { state, reason })
  })
  return id
}

test('doctor and the overview name everything that waits for a person, and their advice works as it stands', async () => {
  const held = await leave('1', 'held', 'what an earlier attempt changed is unclear')
  const rejected = await leave('2', 'rejected', 'the marketplace refused it (HTTP 400)')
  const waiting = await leave('3', 'verifying', 'the order cannot be read')
  await leave('4', 'confirmed', 'the order shows it')
  await rig.sql(
    `INSERT INTO tallyman.erp_event (source, id, type, data, received_at)
     VALUES ('/erp', 'e-1', 'erp.order.accepted', '{"purchaseOrderId": 5}', now() - interval '1 hour')`,
  )
  await expect
    .poll(async () => (await rig.sql(`SELECT status FROM tallyman.erp_event WHERE id = 'e-1'`))[0]?.['status'], {
      timeout: 30_000,
    })
    .toBe('rejected')

  const inbox = { source: 'https://erp.example/a b', id: 'e/2%' }
  await rig.sql(
    `INSERT INTO tallyman.erp_event (source, id, type, data, received_at)
     VALUES ($1, $2, 'erp.order.accepted', '{"sellerId": "elsewhere", "purchaseOrderId": "6"}', now() - interval '1 hour')`,
    inbox.source,
    inbox.id,
  )
  await expect
    .poll(async () => (await rig.sql(`SELECT waits_for FROM tallyman.erp_event WHERE id = $1`, inbox.id))[0]?.['waits_for'], {
      timeout: 30_000,
    })
    .toContain('seller elsewhere')
  // What the daemon does every five minutes.
  await reviewEvents(database)

  const overview = async (): Promise<unknown> => {
    const answer = await fetch(`${rig.daemon.url}/v1/overview`, {
      headers: { authorization: `Bearer ${rig.environment['API_KEY'] ?? ''}` },
    })
    const { needsPerson } = (await answer.json()) as { needsPerson: unknown }
    return needsPerson
  }
  expect(await overview()).toMatchObject({
    commandsHeld: 1,
    commandsRejected: 1,
    commandsWaiting: 1,
    eventsRejected: 1,
    eventsWaiting: 1,
  })

  const { out } = await tallyman('doctor')
  for (const text of [held, rejected, waiting, 'event e-1 of /erp', `${inbox.id} of ${inbox.source}`]) expect(out).toContain(text)
  expect(out).toContain('tallyman commands list --state held')
  expect(out).toContain('tallyman alarms resolve')

  // The advice, followed.
  expect((await tallyman('commands', 'list', '--state', 'held')).out).toContain(held)
  expect(await tallyman('commands', 'decide', held, '--line', '1=applied', '--reason', 'seen there')).toMatchObject({ code: 0 })
  expect(await tallyman('commands', 'reject', waiting, '--reason', 'done by hand')).toMatchObject({ code: 0 })
  expect((await tallyman('events')).out).toMatch(/^\/erp +e-1 +erp\.order\.accepted +5 +rejected .*data\.purchaseOrderId is 5/m)
  const list = await tallyman('events', 'list', '--state', 'received')
  expect(list.out).toMatch(
    /^https:\/\/erp\.example\/a b +e\/2% .* received .* elsewhere +no process .* serves seller elsewhere$/m,
  )
  expect((await tallyman('events', 'show', inbox.source, inbox.id)).out).toContain('waitsFor: no process')
  expect(await tallyman('events', 'reject', inbox.source, inbox.id, '--reason', 'sent by hand', '--by', 'Ada')).toMatchObject({
    code: 0,
    out: 'event e/2% of https://erp.example/a b is rejected now\n',
  })
  expect(await tallyman('events', 'reject', inbox.source, inbox.id, '--reason', 'x')).toMatchObject({
    code: 1,
    messages: expect.stringContaining('is rejected already'),
  })
  expect(await tallyman('events', 'reject', inbox.source, inbox.id)).toMatchObject({ code: 2 })
  const events = JSON.parse((await tallyman('events', 'list', '--state', 'rejected', '--json')).out) as { items: unknown[] }
  expect(events.items).toContainEqual(
    expect.objectContaining({ id: inbox.id, problem: expect.objectContaining({ detail: 'Ada: sent by hand' }) }),
  )
  const { items } = JSON.parse((await tallyman('alarms', 'list', '--json')).out) as { items: { id: string }[] }
  for (const { id } of items) expect(await tallyman('alarms', 'resolve', id)).toMatchObject({ code: 0 })
  expect(await overview()).toEqual({
    commandsHeld: 0,
    commandsRejected: 0,
    commandsWaiting: 0,
    eventsRejected: 0,
    eventsWaiting: 0,
    sellersStopped: 0,
  })
  expect((await tallyman('doctor')).out).toMatch(/^ok {4}commands: none is held$/m)
})

test('a verdict by line that makes no sense is a misuse, and changes nothing', async () => {
  const held = await leave('9', 'held', 'unclear')
  expect(await tallyman('commands', 'decide', held, '--line', '1=perhaps', '--reason', 'x')).toMatchObject({ code: 2 })
  const wrong = await tallyman('commands', 'decide', held, '--line', '7=applied', '--reason', 'x')
  expect(wrong.code).toBe(1)
  expect(wrong.messages).toContain('a line that the command does not concern')
})
