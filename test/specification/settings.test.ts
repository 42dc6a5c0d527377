import { generateKeyPairSync } from 'node:crypto'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { readConfig } from '../../src/config/config.ts'
import { configFaults } from '../support/config-faults.ts'

// What the specification leaves to onboarding: the two base addresses, the header prefix, and the identity of display advertising.

const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
const pem = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()
const otherKind = generateKeyPairSync('ed25519').privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()

const marketplace = {
  MARKETPLACE_URL: 'https://marketplace.example',
  SELLER_ID: 's-1',
  CLIENT_ID: 'c-1',
  CLIENT_SECRET: 'secret-1',
}
const display = {
  DISPLAY_URL: 'https://display.example/api-proxy/',
  DISPLAY_CONSUMER_ID: 'consumer-7',
  DISPLAY_AUTH_TOKEN: 'a-static-token',
  DISPLAY_PRIVATE_KEY: pem,
  ADVERTISER_ID: '10001',
}

const without = <Name extends keyof typeof display>(name: Name): Omit<typeof display, Name> => {
  const { [name]: _left, ...others } = display
  return others
}

test('each group of operations has an address of its own; the header prefix is the seller’s', () => {
  const { sellers, display: read } = readConfig({ ...marketplace, ...display, HEADER_PREFIX: 'AB' }, false)
  expect(sellers).toMatchObject([
    { marketplaceUrl: 'https://marketplace.example', headerPrefix: 'AB', advertiserId: 10_001, profile: 'specification' },
  ])
  expect(read).toEqual({
    url: 'https://display.example/api-proxy',
    consumerId: 'consumer-7',
    authToken: 'a-static-token',
    privateKey: pem,
    keyVersion: '1',
  })
  expect(readConfig(marketplace, false).display).toBeNull()
})

describe('the identity of display advertising', () => {
  test.each(['DISPLAY_CONSUMER_ID', 'DISPLAY_AUTH_TOKEN', 'DISPLAY_PRIVATE_KEY', 'ADVERTISER_ID'] as const)(
    'is incomplete without %s',
    (name) => {
      expect(configFaults({ ...marketplace, ...without(name) })).toEqual([
        expect.stringMatching(new RegExp(`^${name}: is unset`)),
      ])
    },
  )

  test('is of no use without its address', () => {
    const faults = configFaults({ ...marketplace, ...without('DISPLAY_URL') })
    expect(faults.length).toBeGreaterThan(0)
    for (const fault of faults) expect(fault).toMatch(/^DISPLAY_URL: is unset/)
  })

  test.each([
    ['no key', 'not a key'],
    ['a key of another kind', otherKind],
  ])('is refused with %s, which no fault repeats', (_name, key) => {
    const faults = configFaults({ ...marketplace, ...display, DISPLAY_PRIVATE_KEY: key })
    expect(faults).toEqual([expect.stringMatching(/^DISPLAY_PRIVATE_KEY: is not an RSA private key/)])
    expect(faults.join()).not.toContain(key)
  })

  test('may have its key on one line, or in a file', async () => {
    const onOneLine = readConfig({ ...marketplace, ...display, DISPLAY_PRIVATE_KEY: pem.replaceAll('\n', '\\n') }, false)
    expect(onOneLine.display).toMatchObject({ privateKey: pem })
    const folder = await mkdtemp(path.join(tmpdir(), 'display-key-'))
    onTestFinished(() => rm(folder, { recursive: true, force: true }))
    await writeFile(path.join(folder, 'key.pem'), pem)
    const file = { ...without('DISPLAY_PRIVATE_KEY'), DISPLAY_PRIVATE_KEY_FILE: path.join(folder, 'key.pem') }
    const { display: fromFile } = readConfig({ ...marketplace, ...file }, false)
    if (fromFile === null || fromFile === 'sandbox') throw new Error('there is no identity')
    expect(fromFile.privateKey.trim()).toBe(pem.trim())
  })
})
