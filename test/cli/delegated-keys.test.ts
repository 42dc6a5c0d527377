import { expect, onTestFinished, test } from 'vitest'
import { findDelegatedKey } from '../../src/cli/doctor/delegated-keys.ts'
import { startTestSandbox } from '../support/sandbox.ts'
import { cli } from './run.ts'

const key = { sellerId: 'shop-a', endsOn: '2027-04-30', restricted: {}, isOfProvider: false }

test('a key with full access, or of unknown access, is taken for the own key of a seller', () => {
  expect(findDelegatedKey(key)).toBeNull()
  expect(findDelegatedKey({ ...key, restricted: null })).toBeNull()
})

test('a key without full access is reported as delegated, with its last day', () => {
  const restricted = { item: 'no_access', price: 'view_only', feeds: 'no_access', reports: 'no_access', content: 'no_access' }
  expect(findDelegatedKey({ ...key, restricted })).toMatchObject({
    check: 'credentials',
    state: 'warn',
    detail: expect.stringMatching(
      /^seller shop-a: .*\(item: no_access, price: view_only, feeds: no_access, reports: no_access and 1 more\).* end on 2027-04-30$/,
    ),
    advice: expect.stringContaining('connect the seller by a refresh token'),
  })
})

test('in the settings of a solution provider a key with full access may be delegated as well', () => {
  expect(findDelegatedKey({ ...key, isOfProvider: true })).toMatchObject({
    state: 'warn',
    detail: expect.stringContaining('if the seller has delegated this key, it ends on 2027-04-30'),
  })
})

test('doctor reads the scopes of the key from the live service', async () => {
  const sandbox = await startTestSandbox({ MARKETPLACE_PROFILE: 'walmart-us' })
  onTestFinished(() => sandbox.stop())
  const settings = {
    MARKETPLACE_URL: sandbox.url,
    MARKETPLACE_PROFILE: 'walmart-us',
    SELLER_ID: 'shop-a',
    CLIENT_ID: 'key-of-shop-a',
    CLIENT_SECRET: 'secret-of-shop-a',
    TALLYMAN_URL: 'http://127.0.0.1:1',
  }
  const doctor = async (delegated: boolean): Promise<string> => {
    const seller = { sellerId: 'shop-a', clientId: settings.CLIENT_ID, clientSecret: settings.CLIENT_SECRET, delegated }
    await sandbox.control('POST', '/sellers', seller)
    return (await cli(['doctor'], settings)).out
  }
  expect(await doctor(true)).toMatch(
    /^warn {2}credentials: seller shop-a: its key has no full access \(item: no_access, price: no_access\)/m,
  )
  const out = await doctor(false)
  expect(out).toMatch(/^ok {4}credentials: seller shop-a: accepted/m)
  expect(out).not.toContain('2027-04-30')
})
