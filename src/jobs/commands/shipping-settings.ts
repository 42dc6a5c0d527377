import type { MarketplaceClient } from '../../clients/client.ts'
import type { ShippingSettingsRequest } from '../../clients/marketplace/shipping-settings.ts'
import { shippingSettingsEndpoint } from '../../clients/marketplace/shipping-settings.ts'
import type { ShippingSettingsPayload } from '../../domain/command.ts'
import { judgeSettings } from '../../domain/settings-evidence.ts'
import { type AccountSettings, accountSettingsOf } from '../../domain/shipping-settings.ts'
import {
  lockShippingSettings,
  noteMissingSettings,
  noteSettingsCreated,
  readShippingSettings,
  storeShippingSettings,
} from '../../store/shipping-settings.ts'
import { type CommandSubject, neverProcessed } from './subject.ts'

/**
 * The account-level shipping settings of a seller, as the subject of the command that creates them. There is one for each seller, and a
 * second creation fails (specification, section 4): what is read back tells by itself whether ours was applied, and a creation that is
 * sent again cannot be applied twice.
 */
export const shippingSettingsSubject = (
  { sellerId, payload }: { readonly sellerId: string; readonly payload: ShippingSettingsPayload },
  client: MarketplaceClient,
): CommandSubject<AccountSettings, ShippingSettingsRequest> => {
  const asked = accountSettingsOf(payload.simplifiedShippingSettings)
  return {
    name: 'the account-level setting',
    operation: shippingSettingsEndpoint.operations.create,
    readsFirst: false,
    absence: null,
    read: (options) => client.of(shippingSettingsEndpoint).get(options),
    // The read is published but not part of the specification: a marketplace may not have it, or not for this seller.
    isUnreadable: (failure) => failure.kind === 'refused',
    store: async (tx, observed, askedAt) => {
      if (observed === null) await noteMissingSettings(tx, sellerId, askedAt)
      else if (observed.record.ok) await storeShippingSettings(tx, sellerId, observed.observedAt, observed.record)
    },
    lock: async (tx) => {
      await lockShippingSettings(tx, sellerId)
      return {
        stored: (await readShippingSettings(tx, sellerId))?.settings ?? null,
        // Settings are not cumulative: the last read counts.
        lag: () => null,
        obstacle: (view) =>
          view === null ? null : { state: 'rejected', reason: 'account-level settings exist already; nothing was sent' },
        baseline: (view) => ({ settings: view }),
        untouched: () => ({ settings: null }),
      }
    },
    judge: (sent, now) => {
      const outcomes = sent.map(({ outcome }) => outcome ?? 'unknown')
      const accepted = outcomes.includes('accepted')
      const mayBeApplied = outcomes.some((outcome) => outcome !== 'refused' && !neverProcessed.has(outcome))
      return judgeSettings(asked, { accepted, mayBeApplied }, now)
    },
    mayBeDone: (failure) =>
      failure.alreadyDone || failure.faults.some(({ field }) => field?.endsWith('simplifiedShippingSettings') === true),
    prepare: () => client.of(shippingSettingsEndpoint).prepare(payload.simplifiedShippingSettings),
    send: (request, options) => client.of(shippingSettingsEndpoint).send(request, options),
    confirmed: (tx) => noteSettingsCreated(tx, sellerId),
  }
}
