import { afterEach, beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import { z } from 'zod'
import { parseSmtpAddress } from '../../src/config/smtp.ts'
import { createMailer } from '../../src/jobs/alarm-channels/mailer.ts'
import { type ChannelParts, sendDueAlarms, sendTest } from '../../src/jobs/alarm-channels/send.ts'
import { createWebhookTransport, type WebhookTransport } from '../../src/jobs/webhooks/transport.ts'
import {
  type AlarmChannelChange,
  changeAlarmChannel,
  createAlarmChannel,
  type NewAlarmChannel,
  readAlarmChannel,
  readChannelAddress,
  removeAlarmChannel,
} from '../../src/store/alarms/alarm-channels.ts'
import { claimChannel, findDueChannels } from '../../src/store/alarms/alarm-notices.ts'
import { type AlarmKey, raiseAlarm, resolveAlarm } from '../../src/store/alarms/alarms.ts'
import { recordSellers } from '../../src/store/sellers/sellers.ts'
import { withDatabase } from '../support/database.ts'
import { type Receiver, startReceiver } from '../webhooks/receiver.ts'
import { type MailServer, startMailServer } from './mail-server.ts'

const stage = withDatabase({ each: 'test' })
const { signal } = new AbortController()
const from = 'Tallyman <alarms@shop.example>'

let receiver: Receiver
let transport: WebhookTransport
let outcomes: string[]
let parts: ChannelParts

beforeEach(async () => {
  receiver = await startReceiver()
  transport = createWebhookTransport({ privateAddresses: true, timeoutMs: 2_000 })
  outcomes = []
  parts = {
    database: stage.database,
    transport,
    mailer: null,
    consoleUrl: 'https://tallyman.shop.example',
    userAgent: 'Tallyman/test',
    onOutcome: (kind, outcome) => outcomes.push(`${kind} ${outcome}`),
  }
  await recordSellers(stage.database, [
    { sellerId: 's-1', credentialsFingerprint: 'x' },
    { sellerId: 's-2', credentialsFingerprint: 'x' },
  ])
})
afterEach(async () => {
  transport.close()
  await receiver.close()
})

const add = async (options: Partial<NewAlarmChannel> = {}): Promise<string> => {
  const channel: NewAlarmChannel = {
    id: 'ch_1',
    name: 'shop',
    kind: 'slack',
    address: `${receiver.url}/T000/secret`,
    target: new URL(receiver.url).host,
    severities: ['critical', 'warning'],
    concerns: [],
    sellerIds: [],
    hours: null,
    repeatHours: null,
    ...options,
  }
  return (await stage.database.transaction((tx) => createAlarmChannel(tx, channel))).id
}
const change = (id: string, changed: AlarmChannelChange) =>
  stage.database.transaction((tx) => changeAlarmChannel(tx, id, changed))
const raise = (subject: string, key: Partial<AlarmKey> = {}) =>
  raiseAlarm(
    stage.database,
    { sellerId: 's-1', kind: 'command-held', subject, ...key },
    `the buyer Jane Doe waits for ${subject}`,
  )
const resolve = (subject: string, key: Partial<AlarmKey> = {}) =>
  resolveAlarm(stage.database, { sellerId: 's-1', kind: 'command-held', subject, ...key })
/** What a run of the daemon sends to every channel. */
const run = async (): Promise<void> => {
  for (const id of await findDueChannels(stage.database)) await sendDueAlarms(parts, id, signal)
}
/** Lets this time pass for the channels and their messages. */
const letPass = async (hours: number): Promise<void> => {
  await stage.database.execute(`UPDATE tallyman.alarm_notices SET sent_at = sent_at - make_interval(hours => $1)`, hours)
  await stage.database.execute(
    `UPDATE tallyman.alarm_channels SET next_at = next_at - make_interval(hours => $1), lease_until = lease_until - make_interval(hours => $1)`,
    hours,
  )
}

const slackSchema = z.object({
  text: z.string(),
  blocks: z.array(z.object({ type: z.string(), text: z.object({ type: z.string(), text: z.string() }) })),
})
/** What people see of a message in Slack: the notification, and the blocks. */
const readSlack = (index: number) => {
  const { text, blocks } = slackSchema.parse(JSON.parse(receiver.received.at(index)?.body ?? 'null'))
  return { title: text, blocks: blocks.map((block) => block.text.text) }
}

describe('alarms', () => {
  test('are one message, reach the channel once, stay quiet while they are open, and end in a message', async () => {
    const id = await add()
    await run()
    expect(receiver.received).toEqual([])
    await raise('c-1')
    await raise('c-2')
    await run()
    expect(receiver.received).toHaveLength(1)
    expect(receiver.received[0]).toMatchObject({ path: '/hook/T000/secret', headers: { 'user-agent': 'Tallyman/test' } })
    expect(readSlack(0)).toEqual({
      title: 'critical: 2 alarms (2 new)',
      blocks: [
        'critical: 2 alarms (2 new)',
        '*New*',
        expect.stringMatching(/^• critical: A command waits for a decision \(seller s-1, c-1\).*\n• .*\(seller s-1, c-2\)/),
        '<https://tallyman.shop.example/console/alarms|Open the console>',
      ],
    })
    expect(receiver.received[0]?.body).not.toContain('Jane')
    await run()
    await letPass(1_000)
    await run()
    expect(receiver.received).toHaveLength(1)

    await resolve('c-1')
    await run()
    await run()
    expect(receiver.received).toHaveLength(2)
    expect(readSlack(1).title).toBe('A command waits for a decision (over)')
    // The same subject again is a new alarm.
    await raise('c-1')
    await run()
    expect(readSlack(2).title).toBe('critical: A command waits for a decision (new)')
    expect(await readAlarmChannel(stage.database, id)).toMatchObject({
      failures: 0,
      lastError: null,
      lastSentAt: expect.any(Date),
    })
    expect(outcomes).toEqual(['slack sent', 'slack sent', 'slack sent'])
  })

  test('that stay open are repeated after the hours of the channel, not earlier', async () => {
    await add({ repeatHours: 4 })
    await raise('c-1')
    await run()
    await letPass(3)
    await raise('c-2')
    await run()
    expect(readSlack(1).title).toBe('critical: A command waits for a decision (new)')
    await letPass(1)
    await run()
    expect(receiver.received).toHaveLength(3)
    expect(readSlack(2).blocks[2]).toMatch(/^• critical: A command waits for a decision \(seller s-1, c-1, since .* UTC\)$/)
    await run()
    expect(receiver.received).toHaveLength(3)
  })

  test('that end before they were sent are not sent', async () => {
    await add()
    await raise('c-1')
    await resolve('c-1')
    await run()
    expect(receiver.received).toEqual([])
  })

  test('reach a channel by severity, audience and seller, and not while they are silenced', async () => {
    await add({ severities: ['warning'], concerns: ['operator'], sellerIds: ['s-2'] })
    await raise('c-1', { sellerId: 's-2' })
    await raise('orders/changed', { kind: 'sync-failing' })
    await raise('daemon', { kind: 'snapshot-held', sellerId: '' })
    await raise('returns', { kind: 'late-returns', sellerId: 's-2' })
    await raise('later', { kind: 'sync-failing', sellerId: 's-2' })
    await stage.database.execute(
      `UPDATE tallyman.alarms SET silenced_until = now() + interval '1 hour', silenced_by = 'x', silenced_reason = 'x' WHERE subject = 'later'`,
    )
    await run()
    expect(receiver.received).toEqual([])
    await raise('orders/changed', { kind: 'sync-failing', sellerId: 's-2' })
    await run()
    expect(readSlack(0).blocks[2]).toMatch(/^• warning: A sync fails \(seller s-2, orders\/changed\)/)
    await stage.database.execute(`UPDATE tallyman.alarms SET silenced_until = now() WHERE subject = 'later'`)
    await run()
    expect(readSlack(1).blocks[2]).toMatch(/^• warning: A sync fails \(seller s-2, later\)/)
  })

  test('wait until the hours of the channel begin', async () => {
    const [now] = await stage.database.query<{ hour: number }>(`SELECT extract(hour FROM now() AT TIME ZONE 'UTC')::int AS hour`)
    const at = (later: number): string => `${String(((now?.hour ?? 0) + later) % 24).padStart(2, '0')}:00`
    const everyDay = { timeZone: 'UTC', weekdays: [1, 2, 3, 4, 5, 6, 7] }
    await add({ hours: { ...everyDay, from: at(2), to: at(4) } })
    await raise('c-1')
    await run()
    // A job that was enqueued before the hours ended sends nothing either.
    expect(await sendDueAlarms(parts, 'ch_1', signal)).toBeNull()
    expect(receiver.received).toEqual([])
    await change('ch_1', { hours: { ...everyDay, from: at(0), to: at(2) } })
    await run()
    expect(receiver.received).toHaveLength(1)
  })

  test('wait for a paused channel', async () => {
    await add()
    await change('ch_1', { state: 'paused' })
    await raise('c-1')
    await run()
    expect(receiver.received).toEqual([])
    await change('ch_1', { state: 'active' })
    await run()
    expect(receiver.received).toHaveLength(1)
  })

  test('of which there are many go with one message and are counted', async () => {
    await add()
    for (let i = 0; i < 30; i += 1) await raise(`c-${i}`)
    await run()
    await run()
    expect(receiver.received).toHaveLength(1)
    expect(readSlack(0).blocks.join('\n')).toContain('and 10 more')
  })

  test('go to Slack as text: no id is read as mark-up', async () => {
    await add()
    await raise('<!channel> *c* <https://bad.example|c-1>')
    await run()
    const { blocks } = slackSchema.parse(JSON.parse(receiver.received[0]?.body ?? 'null'))
    expect(blocks.find(({ text }) => text.text.includes('<!channel>'))?.text.type).toBe('plain_text')
  })

  test('go to Teams as an Adaptive Card', async () => {
    await add({ kind: 'teams' })
    await raise('[c-1](https://bad.example)')
    await run()
    const { attachments } = z
      .object({ attachments: z.array(z.object({ contentType: z.string(), content: z.unknown() })).length(1) })
      .parse(JSON.parse(receiver.received[0]?.body ?? 'null'))
    expect(attachments[0]).toMatchObject({
      contentType: 'application/vnd.microsoft.card.adaptive',
      content: {
        type: 'AdaptiveCard',
        body: [
          { type: 'RichTextBlock', inlines: [{ type: 'TextRun', text: 'critical: A command waits for a decision (new)' }] },
          { inlines: [{ text: 'New' }] },
          { inlines: [{ type: 'TextRun', text: expect.stringContaining('[c-1](https://bad.example)') }] },
        ],
        actions: [{ type: 'Action.OpenUrl', url: 'https://tallyman.shop.example/console/alarms' }],
      },
    })
  })
})

describe('a channel that fails', () => {
  test('is tried again later, raises an alarm that other channels get, and gets everything once it works', async () => {
    const other = await startReceiver()
    onTestFinished(() => other.close())
    const id = await add()
    await add({ id: 'ch_2', name: 'other', address: other.url, severities: ['warning'] })
    receiver.answer(404)
    await raise('c-1')
    expect(await sendDueAlarms(parts, id, signal)).toBe(30_000)
    expect(await readAlarmChannel(stage.database, id)).toMatchObject({
      failures: 1,
      lastError: 'status 404',
      nextAt: expect.any(Date),
    })
    // Its next attempt is not due yet.
    expect(await sendDueAlarms(parts, id, signal)).toBeNull()
    expect(receiver.received).toHaveLength(1)
    for (let attempt = 2; attempt <= 3; attempt += 1) {
      await letPass(1)
      await run()
    }
    expect(other.received).toEqual([])
    await run()
    expect(other.received[0]?.body).toContain('warning: Alarms do not reach a channel')
    expect(other.received[0]?.body).toContain(id)

    receiver.answer(200)
    await letPass(1)
    await run()
    // The alarm about the channel itself is not in it.
    expect(readSlack(-1).title).toBe('critical: A command waits for a decision (new)')
    expect(await readAlarmChannel(stage.database, id)).toMatchObject({
      failures: 0,
      failingSince: null,
      lastError: null,
      nextAt: null,
    })
    await run()
    expect(other.received[1]?.body).toContain('Alarms do not reach a channel (over)')
    expect(receiver.received).toHaveLength(4)
  })

  test('is asked as late as it wants, and at once after a change', async () => {
    const id = await add()
    receiver.answer({ status: 429, headers: { 'retry-after': '120' } })
    await raise('c-1')
    expect(await sendDueAlarms(parts, id, signal)).toBe(120_000)
    receiver.answer(200)
    await change(id, { name: 'renamed' })
    await run()
    expect(receiver.received).toHaveLength(2)
  })

  test('shows a code, never its address', async () => {
    const id = await add()
    await receiver.close()
    await raise('c-1')
    await run()
    const channel = await readAlarmChannel(stage.database, id)
    expect(channel?.lastError).toBe('ECONNREFUSED')
    expect(JSON.stringify(channel)).not.toContain('secret')
  })

  test('that has a private address is not called unless that is allowed', async () => {
    const id = await add()
    const strict = createWebhookTransport({ privateAddresses: false, timeoutMs: 2_000 })
    onTestFinished(() => strict.close())
    await raise('c-1')
    await sendDueAlarms({ ...parts, transport: strict }, id, signal)
    expect(receiver.received).toEqual([])
    expect((await readAlarmChannel(stage.database, id))?.lastError).toBe('address-refused')
  })

  test('is not served by two processes at once; a lease ends', async () => {
    const id = await add()
    await raise('c-1')
    expect(await claimChannel(stage.database, id, 60_000)).toMatchObject({ notices: [{ reason: 'new', subject: 'c-1' }] })
    expect(await sendDueAlarms(parts, id, signal)).toBeNull()
    await run()
    expect(receiver.received).toEqual([])
    await letPass(1)
    await run()
    expect(receiver.received).toHaveLength(1)
  })

  test('is given up by an aborted process at once, and sent to by another one', async () => {
    const id = await add()
    await raise('c-1')
    const stopped = AbortSignal.abort(new Error('stopped'))
    await expect(sendDueAlarms(parts, id, stopped)).rejects.toThrow('stopped')
    await run()
    expect(receiver.received).toHaveLength(1)
  })
})

test('what a channel was sent is removed with the channel, and with the alarm', async () => {
  const id = await add()
  await raise('c-1')
  await raise('c-2')
  await run()
  const count = () => stage.database.prisma.alarmNotice.count()
  expect(await count()).toBe(2)
  await stage.database.execute(`DELETE FROM tallyman.alarms WHERE subject = 'c-1'`)
  expect(await count()).toBe(1)
  expect(await stage.database.transaction((tx) => removeAlarmChannel(tx, id))).toBe(true)
  expect(await count()).toBe(0)
})

describe('e-mail', () => {
  const recipients = ['kim@shop.example', 'ada@shop.example']
  const addEmail = () => add({ kind: 'email', address: recipients.join(','), target: recipients.join(', ') })
  const start = async (password: string | null = null): Promise<MailServer> => {
    const server = await startMailServer(password)
    onTestFinished(() => server.close())
    return server
  }
  const use = (address: string): void => {
    parts = { ...parts, mailer: createMailer(parseSmtpAddress(address, from), 5_000) }
  }

  test('is one message for all recipients, with what Slack gets', async () => {
    const server = await start('pass word')
    use(`smtp://tallyman:pass%20word@127.0.0.1:${server.port}`)
    const id = await addEmail()
    await raise('c-1')
    await run()
    await run()
    expect(server.received).toHaveLength(1)
    expect(server.received[0]).toMatchObject({
      from: 'alarms@shop.example',
      to: recipients,
      subject: '[Tallyman] critical: A command waits for a decision (new)',
      headers: expect.stringContaining('Auto-Submitted: auto-generated'),
    })
    expect(server.received[0]?.text).toMatch(
      /^New:\r\n- critical: A command waits for a decision \(seller s-1, c-1\)\. Compare .*\r\n\r\nhttps:\/\/tallyman\.shop\.example\/console\/alarms\r\n/,
    )
    await resolve('c-1')
    await run()
    expect(server.received[1]?.subject).toBe('[Tallyman] A command waits for a decision (over)')
    expect(await readAlarmChannel(stage.database, id)).toMatchObject({ failures: 0, lastError: null })
  })

  test('with a wrong password, or without a server, fails with a code that has neither address nor text of the server', async () => {
    const server = await start('right')
    use(`smtp://tallyman:wrong@127.0.0.1:${server.port}`)
    const id = await addEmail()
    await raise('c-1')
    await run()
    expect((await readAlarmChannel(stage.database, id))?.lastError).toBe('EAUTH, status 535')
    parts = { ...parts, mailer: null }
    await change(id, {})
    await run()
    expect((await readAlarmChannel(stage.database, id))?.lastError).toBe('smtp-not-set')
    expect(server.received).toEqual([])
  })

  test('that some recipients cannot get is sent to the others, and the channel shows it', async () => {
    const server = await start()
    use(`smtp://127.0.0.1:${server.port}`)
    server.refuse('ada@shop.example')
    const id = await addEmail()
    await raise('c-1')
    await run()
    expect(server.received[0]?.to).toEqual(['kim@shop.example'])
    expect(await readAlarmChannel(stage.database, id)).toMatchObject({ failures: 0, lastError: '1-recipients-refused' })
    server.refuse('kim@shop.example')
    await raise('c-2')
    await run()
    expect(await readAlarmChannel(stage.database, id)).toMatchObject({ failures: 1, lastError: 'EENVELOPE, status 550' })
  })

  test('needs TLS for a password, except to this machine', () => {
    expect(parseSmtpAddress('smtp://u:p%40@mail.example', from)).toEqual({
      host: 'mail.example',
      port: 587,
      secure: false,
      requireTls: true,
      credentials: { user: 'u', password: 'p@' },
      from,
    })
    expect(parseSmtpAddress('smtps://u:p@mail.example', from)).toMatchObject({ port: 465, secure: true, requireTls: false })
    expect(parseSmtpAddress('smtp://mail.example:25', from)).toMatchObject({ port: 25, requireTls: false, credentials: null })
    expect(parseSmtpAddress('smtp://u:p@[::1]:2525', from)).toMatchObject({ host: '::1', requireTls: false })
  })
})

test('a test message is sent at once, and its result is the answer', async () => {
  const id = await add({ hours: { from: '00:00', to: '00:01', timeZone: 'UTC', weekdays: [1] } })
  const channel = await readChannelAddress(stage.database, id)
  if (channel === null) throw new Error('the channel is missing')
  expect(await sendTest(parts, channel, signal)).toMatchObject({ delivered: true, status: 204, error: null })
  expect(readSlack(0)).toMatchObject({ title: 'Test message of Tallyman' })
  receiver.answer(410)
  expect(await sendTest(parts, channel, signal)).toMatchObject({ delivered: false, status: 410, error: null })
  expect(outcomes).toEqual(['slack sent', 'slack failed'])
})
