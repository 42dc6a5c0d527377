import { parseShippingSettings } from '../../clients/client.ts'
import type { AccountSettings } from '../../domain/shipping-settings.ts'
import { findDifferingSettings, noteMissingSettings, storeDifferingSettings } from '../../store/shipping-settings.ts'
import { type FetchedPage, type SyncDefinition, type SyncStream, windowNow } from './definition.ts'

/** Key of the only record that there can be. */
const accountKey = 'account'

/** Reads what stands there now: there is one setting, or none (public facts, section 7.5). */
const current: SyncStream<AccountSettings> = {
  plan: (context) => [windowNow(context)],
  clamp: (_context, window) => window,
  first: async ({ client }, _window, options): Promise<FetchedPage<AccountSettings>> => {
    const askedAt = client.clock().now()
    const observed = await client.shippingSettings.get(options)
    return {
      records: observed === null ? [] : [observed.record],
      missing: observed === null ? [accountKey] : [],
      totalCount: null,
      nextCursor: null,
      // That there were none is as old as the question: what was stored since is newer.
      observedAt: observed?.observedAt ?? askedAt,
      marketplaceNow: client.clock().now(),
      correlationId: observed?.correlationId ?? '',
    }
  },
  next: () => Promise.reject(new Error('shipping settings come on one page')),
  counted: false,
  checksCount: false,
  followsWatermark: false,
}

/**
 * The account-level shipping settings of a seller. A 404 that does not mean "none there" says that the marketplace does not offer the
 * read, which the specification does not name: it is then asked again after a week only.
 */
export const shippingSettingsSync: SyncDefinition<AccountSettings> = {
  resource: 'shipping-settings',
  streams: ['current'],
  needsEnrolment: true,
  stream: (name) => (name === 'current' ? current : null),
  backfillParts: [],
  parse: parseShippingSettings,
  find: findDifferingSettings,
  store: storeDifferingSettings,
  noteMissing: (tx, sellerId, observedAt, keys) =>
    keys.length === 0 ? Promise.resolve(0) : noteMissingSettings(tx, sellerId, observedAt),
}
