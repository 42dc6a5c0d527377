import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { buildDialect } from '../../sandbox/settings.ts'
import { MarketplaceFailure } from '../../src/clients/http/errors.ts'
import { specification } from '../../src/clients/marketplace/profiles/index.ts'
import type { Profile } from '../../src/clients/marketplace/profiles/profile.ts'
import { sandboxDisplay } from '../../src/config/config.ts'
import { type ClientSettings, type ClientUnderTest, startClient } from '../clients/servers.ts'
import { connect, startTestSandbox, type TestClient } from '../sandbox/support.ts'

/** The advertiser that a fresh sandbox knows. */
const advertiserId = 10_001

/** A real client over a real sandbox. */
export interface Rehearsal extends ClientUnderTest {
  readonly sandbox: TestClient
  readonly url: string
}

/** What stands between the client and the sandbox: given the sandbox's address, the address that the client calls. */
export type Between = (sandboxUrl: string) => Promise<string>

/** The real client against the real sandbox, in one dialect, without rate limits. */
export const rehearse = async (
  profile: Profile = specification,
  { between, ...settings }: Omit<ClientSettings, 'connection'> & { readonly between?: Between } = {},
): Promise<Rehearsal> => {
  const dialect = buildDialect(profile.name === 'walmart-us' ? 'walmart-us' : 'specification')
  const { url, dataDir } = await startTestSandbox({ dialect })
  const sandbox = await connect(url, { prefix: profile.headerPrefix, quantityField: profile.quantityField })
  await sandbox.control('PUT', '/limits', { enabled: false })
  const called = between === undefined ? url : await between(url)
  const connection = {
    clientId: 'sandbox-client',
    clientSecret: 'sandbox-secret',
    sellerId: 'sandbox-seller',
    profile,
    headerPrefix: profile.headerPrefix,
    quantityField: profile.quantityField,
    requestTimeoutMs: 1_000,
    display: {
      ...sandboxDisplay,
      url: called,
      advertiserId,
      privateKey: await readFile(join(dataDir, 'display-private-key.pem'), 'utf8'),
    },
  }
  return { ...startClient(called, { ...settings, connection }), sandbox, url }
}

/** The failure that the work ends in; anything else than a typed failure is thrown on. */
export const buildFailure = async (work: Promise<unknown>): Promise<MarketplaceFailure> => {
  try {
    await work
  } catch (error) {
    if (error instanceof MarketplaceFailure) return error
    throw error
  }
  throw new Error('expected a failure')
}
