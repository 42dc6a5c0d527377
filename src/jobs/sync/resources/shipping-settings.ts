import { shippingSettingsEndpoint } from '../../../clients/marketplace/shipping-settings.ts'
import type { AccountSettings } from '../../../domain/campaigns/shipping-settings.ts'
import { pollIntervals } from '../../../domain/sync/intervals.ts'
import { findDifferingSettings, markMissingSettings, storeDifferingSettings } from '../../../store/campaigns/shipping-settings.ts'
import { resource } from '../engine/resource.ts'
import { afterKeys, walk } from '../engine/streams.ts'

/** Key of the only record. */
const accountKey = 'account'

/** Reads the current settings: there is one record, or none (public facts, section 7.5). */
const current = walk<AccountSettings>({
  operation: shippingSettingsEndpoint.operations.get,
  reads: 'the settings of the account',
  places: afterKeys,
  step: async ({ client }, _place, options) => {
    const askedAt = client.clock().now()
    const observed = await client.of(shippingSettingsEndpoint).get(options)
    // The observation that there are none has the time of the request: settings stored since are newer.
    if (observed === null) return { answers: [{ observedAt: askedAt }], missing: [accountKey], next: null }
    return { answers: [observed], records: [observed.record], next: null }
  },
})

/**
 * The account-level shipping settings of a seller. A 404 that does not mean "no settings" means that the marketplace does not offer this read, which the
 * specification does not define. It is then requested again after a week.
 */
export const shippingSettings = resource({
  name: 'shipping-settings',
  endpoint: shippingSettingsEndpoint,
  poll: pollIntervals.shippingSettings,
  enrolment: 'needed',
  streams: { current },
  table: {
    findDiffering: findDifferingSettings,
    store: storeDifferingSettings,
    noteMissing: markMissingSettings,
  },
})
