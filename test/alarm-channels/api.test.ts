import { afterEach, beforeEach, expect, test } from 'vitest'
import { refusalOfUrl } from '../../src/jobs/webhooks/address.ts'
import { startServer, type TestServer } from '../http/support.ts'
import { withDatabase } from '../support/database.ts'
import { at, membersAt } from '../support/json.ts'

const stage = withDatabase({ each: 'test' })
let server: TestServer
let enqueued: string[]
let hasMailServer: boolean
beforeEach(async () => {
  enqueued = []
  hasMailServer = true
  server = await startServer(stage.database, {
    alarmChannels: {
      get hasMailServer() {
        return hasMailServer
      },
      findUrlFault: (url) => refusalOfUrl(url, false),
      test: async () => ({ delivered: false, status: 404, error: null, durationMs: 3 }),
      enqueue: async (id) => void enqueued.push(id),
    },
  })
})
afterEach(async () => {
  await server.close()
})

const send = (method: string, path: string, body?: object) =>
  server.json(path, {
    method,
    ...(body === undefined ? {} : { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }),
  })
const url = 'https://hooks.example/services/T000/B000/secret'
const hours = { from: '08:00', to: '18:00', timeZone: 'Europe/Berlin', weekdays: [1, 2, 3, 4, 5] }

test('a channel is added, read, changed and removed; its URL is in no answer, in no log line and not in the audit', async () => {
  const added = await send('POST', '/v1/alarm-channels', { name: ' Shop ', kind: 'slack', url })
  expect(added).toMatchObject({
    status: 201,
    body: {
      id: expect.stringMatching(/^ch_[0-9a-f]{32}$/),
      name: 'Shop',
      target: 'hooks.example',
      severities: ['critical', 'warning'],
      concerns: [],
      sellerIds: [],
      hours: null,
      repeatHours: null,
      state: 'active',
      failures: 0,
      lastError: null,
    },
  })
  const { id, ...shown } = membersAt(added.body)
  const path = `/v1/alarm-channels/${String(id)}`
  expect((await server.json(path)).body).toEqual({ id, ...shown })
  expect((await server.json('/v1/alarm-channels')).body).toEqual({ items: [{ id, ...shown }], nextCursor: null })
  expect((await send('POST', `${path}/test`)).body).toEqual({ delivered: false, status: 404, error: null, durationMs: 3 })

  const rules = { severities: ['notice', 'notice'], concerns: ['operator'], sellerIds: ['s-1', 's-1'], hours, repeatHours: 12 }
  const changed = await send('PATCH', path, { ...rules, url: `${url}-2`, state: 'paused' })
  expect(changed).toMatchObject({
    status: 200,
    body: { ...rules, severities: ['notice'], sellerIds: ['s-1'], state: 'paused', name: 'Shop' },
  })
  expect((await send('PATCH', path, { hours: null, repeatHours: null, name: 'Office' })).body).toMatchObject({
    hours: null,
    repeatHours: null,
    name: 'Office',
    severities: ['notice'],
    state: 'paused',
  })
  expect(enqueued).toEqual([id, id, id])
  for (const read of ['/v1/alarm-channels', path, '/v1/audit', '/v1/alarms'])
    expect(await (await server.fetch(read)).text()).not.toContain('T000')
  expect(JSON.stringify(server.log)).not.toContain('T000')

  expect(await send('DELETE', path)).toMatchObject({ status: 200, body: { id, removed: true } })
  for (const [method, more, body] of [
    ['GET', '', undefined],
    ['DELETE', '', undefined],
    ['POST', '/test', undefined],
    ['PATCH', '', { state: 'paused' }],
  ] as const)
    expect(await send(method, `${path}${more}`, body)).toMatchObject({ status: 404, body: { code: 'not-found' } })
})

test('a channel for e-mail shows its recipients, and needs a mail server', async () => {
  const body = { name: 'Staff', kind: 'email', recipients: ['kim@shop.example', 'ada@shop.example', 'kim@shop.example'] }
  const added = await send('POST', '/v1/alarm-channels', body)
  expect(added).toMatchObject({ status: 201, body: { target: 'kim@shop.example, ada@shop.example' } })
  hasMailServer = false
  expect(await send('POST', '/v1/alarm-channels', body)).toMatchObject({
    status: 422,
    body: { errors: [{ path: 'recipients', message: expect.stringContaining('SMTP_URL') }] },
  })
  // Its rules can be changed without one.
  expect((await send('PATCH', `/v1/alarm-channels/${String(at(added.body, 'id'))}`, { name: 'All' })).status).toBe(200)
})

test.each([
  ['no address', { kind: 'slack' }, 'url'],
  ['no recipients', { kind: 'email' }, 'recipients'],
  ['recipients of Slack', { kind: 'slack', url, recipients: ['a@shop.example'] }, 'recipients'],
  ['a URL of e-mail', { kind: 'email', url, recipients: ['a@shop.example'] }, 'url'],
  ['plain HTTP', { kind: 'teams', url: 'http://hooks.example/secret' }, 'url'],
  ['a private address', { kind: 'slack', url: 'https://10.0.0.1/secret' }, 'url'],
  ['no e-mail address', { kind: 'email', recipients: ['a@shop.example,b@shop.example'] }, 'recipients[0]'],
  ['another kind', { kind: 'pager', url }, 'kind'],
  ['no severity', { kind: 'slack', url, severities: [] }, 'severities'],
  ['a time zone that does not exist', { kind: 'slack', url, hours: { ...hours, timeZone: 'Mars/Base' } }, 'hours.timeZone'],
  ['a repetition at once', { kind: 'slack', url, repeatHours: 0 }, 'repeatHours'],
])('%s is refused with its path, and without the address', async (_name, body, path) => {
  const answer = await send('POST', '/v1/alarm-channels', { name: 'x', ...body })
  expect(answer).toMatchObject({ status: 422, body: { errors: [{ path }] } })
  expect(JSON.stringify([answer.body, server.log])).not.toContain('secret')
  expect(await stage.database.prisma.alarmChannel.count()).toBe(0)
})
