import { Failed, Misused } from '../../api-client/errors.ts'
import { MarketplaceFailure, Throttled } from '../../clients/http/errors.ts'
import type { SubscriptionsClient } from '../../clients/marketplace/notifications/subscriptions.ts'
import { subscriptionsEndpoint } from '../../clients/marketplace/notifications/subscriptions.ts'
import { InvalidConfig, readConfig, type SellerSettings } from '../../config/config.ts'
import { connectSeller, findProfile } from '../connect-seller.ts'
import type { CliContext } from '../context.ts'
import { duration, pause, printMessage } from '../output/terminal.ts'
import { type MissingForTokens, openStoredTokens, type StoredTokens } from './stored-tokens.ts'

/** A seller whose subscriptions can be managed. */
export interface ConnectedSeller {
  readonly seller: SellerSettings
  readonly subscriptions: SubscriptionsClient
}

/** The failure of a call as text, with what the marketplace says. */
export const describeFailure = (error: MarketplaceFailure): string => {
  const descriptions = error.faults.flatMap(({ description }) => description ?? [])
  return descriptions.length === 0 ? error.message : `${error.message}: ${descriptions.join('; ')}`
}

/** A call that waits for the rate limit when it is not sent because of it. */
export const callWithinLimit = async <Result>({ terminal, signal }: CliContext, call: () => Promise<Result>): Promise<Result> => {
  for (;;) {
    try {
      return await call()
    } catch (error) {
      if (!(error instanceof Throttled)) throw error
      const waitMs = Math.max(0, error.retryAt.getTime() - Date.now())
      printMessage(terminal, `waiting ${duration(waitMs)} for the rate limit of the marketplace`)
      await pause(waitMs, signal)
    }
  }
}

/** Why the subscriptions of a seller cannot be managed from here; null: they can. */
const findBlocker = (
  seller: SellerSettings,
  tokens: StoredTokens | { readonly missing: MissingForTokens } | null,
): string | null => {
  const { sellerId, profile, refreshToken } = seller
  if (findProfile(seller).webhooksPath === null)
    return `seller ${sellerId}: the profile ${profile} has no notifications; the live service has them (MARKETPLACE_PROFILE=walmart-us)`
  if (refreshToken !== null && tokens !== null && 'missing' in tokens)
    return `seller ${sellerId}: it is connected by a refresh token, which is in the database of the daemon; set ${tokens.missing} as the daemon has it`
  return null
}

const readSellers = ({ environment }: CliContext) => {
  try {
    return readConfig(environment, false)
  } catch (error) {
    if (error instanceof InvalidConfig) throw new Misused(error.faults.join('; '))
    throw error
  }
}

/**
 * Runs an action for the named seller, or for each seller of the settings whose subscriptions can be managed.
 * @throws Misused for an unknown seller
 * @throws Failed when there is none, or the marketplace does not answer
 */
export const withSellers = async (
  context: CliContext,
  sellerId: string | null,
  action: (sellers: readonly ConnectedSeller[]) => Promise<void>,
): Promise<void> => {
  const config = readSellers(context)
  const { sellers, requestTimeoutMs } = config
  const named = sellers.filter((one) => sellerId === null || one.sellerId === sellerId)
  if (named.length === 0) throw new Misused(`--seller: the settings have no seller ${sellerId ?? ''}`.trimEnd())
  const tokens = named.some(({ refreshToken }) => refreshToken !== null) ? await openStoredTokens(context, config) : null
  const stored = tokens !== null && 'refreshTokens' in tokens ? tokens : null
  const blockers = named.flatMap((seller) => findBlocker(seller, tokens) ?? [])
  const managed = named.filter((seller) => findBlocker(seller, tokens) === null)
  const [blocker, ...others] = blockers
  if (managed.length === 0 && blocker !== undefined) throw new Failed(blocker, others)
  for (const skipped of blockers) printMessage(context.terminal, `skipped ${skipped}`)
  const clients = managed.map((seller) => ({
    seller,
    client: connectSeller(seller, {
      sandboxUrl: context.settings.sandboxUrl,
      requestTimeoutMs,
      refreshTokens: stored?.refreshTokens,
    }),
  }))
  try {
    await action(
      clients.flatMap(({ seller, client }) => {
        const subscriptions = client.of(subscriptionsEndpoint)
        return subscriptions === null ? [] : [{ seller, subscriptions }]
      }),
    )
  } catch (error) {
    if (error instanceof MarketplaceFailure) throw new Failed(describeFailure(error), [], { cause: error })
    throw error
  } finally {
    await Promise.all(clients.map(({ client }) => client.close()))
    await stored?.close()
  }
}
