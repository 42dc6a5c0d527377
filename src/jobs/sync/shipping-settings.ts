import { shippingSettingsEndpoint } from '../../clients/marketplace/shipping-settings.ts'
import type { AccountSettings } from '../../domain/shipping-settings.ts'
import { findDifferingSettings, noteMissingSettings, storeDifferingSettings } from '../../store/shipping-settings.ts'
import { resource } from './resource.ts'
import { dayMs } from './settings.ts'
import { behindKeys, walk } from './streams.ts'

/** Key of the only record that there can be. */
const accountKey = 'account'

/** Reads what stands there now: there is one setting, or none (public facts, section 7.5). */
const current = walk<AccountSettings>({
  operation: shippingSettingsEndpoint.operations.get,
  reads: 'the settings of the account',
  places: behindKeys,
  step: async ({ client }, _place, options) => {
    const askedAt = client.clock().now()
    const observed = await client.of(shippingSettingsEndpoint).get(options)
    // That there were none is as old as the question: what was stored since is newer.
    if (observed === null) return { answers: [{ observedAt: askedAt }], missing: [accountKey], next: null }
    return { answers: [observed], records: [observed.record], next: null }
  },
})

/**
 * The account-level shipping settings of a seller. A 404 that does not mean "none there" says that the marketplace does not offer the
 * read, which the specification does not name: it is then asked again after a week only.
 */
export const shippingSettings = resource({
  name: 'shipping-settings',
  endpoint: shippingSettingsEndpoint,
  poll: { variable: 'POLL_SHIPPING_SETTINGS', ordinaryMs: dayMs, demonstrationMs: 120_000 },
  enrolment: 'needed',
  streams: { current },
  table: {
    findDiffering: findDifferingSettings,
    store: storeDifferingSettings,
    noteMissing: noteMissingSettings,
  },
})
