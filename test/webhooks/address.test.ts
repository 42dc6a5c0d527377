import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { isPublicAddress, refusalOfUrl } from '../../src/jobs/webhooks/address.ts'
import { createWebhookTransport, type WebhookTransport } from '../../src/jobs/webhooks/transport.ts'
import { selfSignedCertificate } from '../clients/certificate.ts'
import { type Receiver, startReceiver } from './receiver.ts'

const special: readonly (readonly [what: string, ...addresses: string[]])[] = [
  ['this network', '0.0.0.0', '0.1.2.3'],
  ['private', '10.0.0.1', '172.16.0.1', '172.31.255.255', '192.168.1.1'],
  ['loopback', '127.0.0.1', '127.255.255.254', '::1'],
  ['link-local', '169.254.169.254', 'fe80::1', 'fe80::1%eth0', 'fec0::1'],
  ['shared by a carrier', '100.64.0.1', '100.127.255.255'],
  ['multicast', '224.0.0.1', '239.255.255.255', 'ff02::1'],
  ['reserved and broadcast', '240.0.0.1', '255.255.255.255', '192.0.0.8', '198.18.0.1'],
  ['unique local', 'fc00::1', 'fd12:3456::1'],
  ['IPv4 in IPv6', '::ffff:127.0.0.1', '::ffff:a00:1', '::ffff:169.254.169.254', '::127.0.0.1', '::ffff:0:10.0.0.1'],
  ['tunnels and translations', '64:ff9b::7f00:1', '64:ff9b:1::1', '2002:7f00:1::1', '2001::1'],
  ['documentation', '192.0.2.1', '203.0.113.9', '2001:db8::1'],
  ['no address', '', 'localhost', '127.1', '0x7f.1', '1.2.3.4.5'],
]

test.each(special)('%s is not public: %s', (_what, ...addresses) => {
  expect(addresses.filter(isPublicAddress)).toEqual([])
})

test('what everybody reaches is public', () => {
  const all = [
    '8.8.8.8',
    '1.1.1.1',
    '100.63.255.255',
    '100.128.0.1',
    '172.15.0.1',
    '172.32.0.1',
    '2606:4700::1111',
    '::ffff:8.8.8.8',
  ]
  expect(all.filter((address) => !isPublicAddress(address))).toEqual([])
})

test('URLs with special addresses are refused in every spelling, unless they are allowed', () => {
  const urls = [
    'https://127.0.0.1/',
    'https://2130706433/',
    'https://0x7f.1/',
    'https://017700000001/',
    'https://[::1]/',
    'https://[::ffff:127.0.0.1]/',
    'https://[fd00::1]:8443/',
    'https://localhost/',
    'https://api.localhost/',
    'https://169.254.169.254/latest/',
    'https://１２７.0.0.1/',
  ]
  for (const url of urls) {
    expect(refusalOfUrl(url, false), url).toMatch(/special address/)
    expect(refusalOfUrl(url, true), url).toBeNull()
  }
  expect(refusalOfUrl('http://example.com/', false)).toMatch(/https/)
  expect(refusalOfUrl('http://example.com/', true)).toBeNull()
  expect(refusalOfUrl('https://example.com:8443/hook?token=1', false)).toBeNull()
  for (const url of ['file:///etc/passwd', 'javascript:alert(1)', 'https://', 'example.com', 'https://a:b@example.com/'])
    expect(refusalOfUrl(url, true), url).not.toBeNull()
})

describe('when a message is sent', () => {
  const certificate = selfSignedCertificate()
  let receiver: Receiver
  let transport: WebhookTransport
  beforeEach(async () => {
    receiver = await startReceiver(certificate)
  })
  afterEach(async () => {
    transport.close()
    await receiver.close()
  })
  const send = (url: string) => transport.post({ url, headers: {}, body: '{}', signal: new AbortController().signal })
  const open = (addresses: readonly (readonly [address: string, family: 4 | 6])[][], privateAddresses = false) => {
    const asked: string[] = []
    transport = createWebhookTransport({
      privateAddresses,
      timeoutMs: 2_000,
      ca: certificate.cert,
      resolve: async (name) => {
        asked.push(name)
        return (addresses[asked.length - 1] ?? addresses.at(-1) ?? []).map(([address, family]) => ({ address, family }))
      },
    })
    return asked
  }

  test('a name that leads to this machine is refused after it was looked up, and nothing is connected to', async () => {
    const asked = open([
      [
        ['127.0.0.1', 4],
        ['::1', 6],
        ['::ffff:127.0.0.1', 6],
      ],
    ])
    expect(await send(`https://localhost.example:${receiver.port}/`)).toMatchObject({
      httpStatus: null,
      error: 'address-refused',
    })
    expect(asked).toEqual(['localhost.example'])
    expect(receiver.received).toEqual([])
  })

  test('a name that was accepted for its endpoint gets nothing once it leads to special addresses, however often it changes', async () => {
    const url = `https://rebinding.example:${receiver.port}/`
    expect(refusalOfUrl(url, false)).toBeNull()
    open([
      [['169.254.169.254', 4]],
      [['127.0.0.1', 4]],
      [
        ['10.0.0.1', 4],
        ['fd00::1', 6],
      ],
    ])
    for (let count = 0; count < 3; count += 1)
      expect(await send(url)).toMatchObject({ httpStatus: null, error: 'address-refused' })
    expect(receiver.received).toEqual([])
  })

  test('an address in the URL is refused without being looked up', async () => {
    const asked = open([])
    expect(await send(`https://127.0.0.1:${receiver.port}/`)).toMatchObject({ error: 'address-refused' })
    expect(await send(`https://[::1]:${receiver.port}/`)).toMatchObject({ error: 'address-refused' })
    expect(await send(`http://example.com:${receiver.port}/`)).toMatchObject({ error: 'url-refused' })
    expect(asked).toEqual([])
  })

  test('a name is looked up once for each connection, and the connection goes to what was found', async () => {
    const asked = open([[['127.0.0.1', 4]]], true)
    expect(await send(`https://localhost:${receiver.port}/`)).toMatchObject({ httpStatus: 204, error: null })
    expect(asked).toEqual(['localhost'])
    expect(receiver.received).toHaveLength(1)
  })

  test('a name without any address is told by a code', async () => {
    open([[]], true)
    expect(await send(`https://nowhere.example:${receiver.port}/`)).toMatchObject({ httpStatus: null, error: 'address-refused' })
  })
})
