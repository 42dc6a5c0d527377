import { generateKeyPairSync } from 'node:crypto'
import { behavioralAudiencesEndpoint, contextualTargetsEndpoint } from '../../../src/clients/display/targeting.ts'
import { taxonomiesEndpoint } from '../../../src/clients/display/taxonomies.ts'
import type { MarketplaceClient } from '../../../src/clients/http/client.ts'
import { MarketplaceFailure } from '../../../src/clients/http/errors.ts'
import type { Answer, ClientSettings, ClientUnderTest } from '../servers.ts'
import { startClient, startServer } from '../servers.ts'

/** The integrator's key pair. */
export const keys = generateKeyPairSync('rsa', { modulusLength: 2048 })
const privateKey = keys.privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()

/** What must never come out of the client. */
export const secrets = { authToken: 'hush-display-token' }

/** Display advertising of a client; it must be on. */
export const readDisplaySettings = (client: MarketplaceClient) => {
  const on = <Part>(part: Part | null): Part => {
    if (part === null) throw new Error('display advertising is off')
    return part
  }
  return {
    taxonomies: on(client.of(taxonomiesEndpoint)),
    contextual: on(client.of(contextualTargetsEndpoint)),
    behavioral: on(client.of(behavioralAudiencesEndpoint)),
  }
}

/** Its parts. */
export type Display = ReturnType<typeof readDisplaySettings>

/** A display host for one test and a client of it. */
export interface DisplayUnderTest extends ClientUnderTest {
  readonly display: Display
  readonly seen: Awaited<ReturnType<typeof startServer>>['seen']
}

/** Starts both; `path` is that of the display base address. */
export const startDisplay = async (
  answer: Answer,
  settings: ClientSettings & { readonly path?: string } = {},
): Promise<DisplayUnderTest> => {
  const { url, seen } = await startServer(answer)
  const started = startClient(url, {
    ...settings,
    connection: {
      display: {
        url: `${url}${settings.path ?? ''}`,
        consumerId: 'consumer-7',
        authToken: secrets.authToken,
        privateKey,
        keyVersion: '1',
        advertiserId: 10001,
      },
      ...settings.connection,
    },
  })
  return { ...started, display: readDisplaySettings(started.client), seen }
}

/** The failure that some work ends with. */
export const buildFailure = async (work: Promise<unknown>): Promise<MarketplaceFailure> => {
  const [result] = await Promise.allSettled([work])
  if (result.status === 'fulfilled') throw new Error('expected a failure')
  if (result.reason instanceof MarketplaceFailure) return result.reason
  throw result.reason
}
