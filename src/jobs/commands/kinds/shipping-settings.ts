import type { MarketplaceClient, ReadClient } from '../../../clients/http/client.ts'
import type { ShippingSettingsRequest } from '../../../clients/marketplace/shipping-settings.ts'
import { shippingSettingsEndpoint, shippingSettingsWrites } from '../../../clients/marketplace/shipping-settings.ts'
import { judgeSettings } from '../../../domain/campaigns/settings-evidence.ts'
import { type AccountSettings, accountSettings } from '../../../domain/campaigns/shipping-settings.ts'
import type { ShippingSettingsPayload } from '../../../domain/commands/command.ts'
import {
  lockShippingSettings,
  markMissingSettings,
  readShippingSettings,
  recordSettingsCreated,
  storeShippingSettings,
} from '../../../store/campaigns/shipping-settings.ts'
import { type CommandSubject, neverProcessed } from '../engine/subject.ts'

/**
 * The account-level shipping settings of a seller, as the subject of the command that creates them. Each seller has one record, and a second creation
 * fails (specification, section 4). So the record itself shows whether our creation was applied, and a repeated creation cannot be applied twice.
 */
export const shippingSettingsSubject = (
  { sellerId, payload }: { readonly sellerId: string; readonly payload: ShippingSettingsPayload },
  client: ReadClient,
  live: MarketplaceClient | null,
): CommandSubject<AccountSettings, ShippingSettingsRequest> => {
  const defined = accountSettings(payload.simplifiedShippingSettings)
  // An event that was accepted before the marketplace changed its form may state a priority, which is then neither sent nor compared.
  const requested = client.vocabulary.settingsForm.hasPriority ? defined : { ...defined, shippingPriority: null }
  return {
    name: 'the account-level setting',
    operation: shippingSettingsEndpoint.operations.create,
    readsFirst: false,
    absence: null,
    read: (options) => client.of(shippingSettingsEndpoint).get(options),
    // The read operation is published but not in the specification: a marketplace may not have it, or not for this seller.
    isUnreadable: (failure) => failure.kind === 'refused',
    store: async (tx, observed, requestedAt) => {
      if (observed === null) await markMissingSettings(tx, sellerId, requestedAt)
      else if (observed.record.ok) await storeShippingSettings(tx, sellerId, observed.observedAt, observed.record)
    },
    lock: async (tx) => {
      await lockShippingSettings(tx, sellerId)
      return {
        stored: (await readShippingSettings(tx, sellerId))?.settings ?? null,
        // Settings are not cumulative: the last read counts.
        lag: () => null,
        blocker: (view) =>
          view === null ? null : { state: 'rejected', reason: 'account-level settings exist already; nothing was sent' },
        baseline: (view) => ({ settings: view }),
        originalBaseline: () => ({ settings: null }),
      }
    },
    judge: (sent, now) => {
      const outcomes = sent.map(({ outcome }) => outcome ?? 'unknown')
      const accepted = outcomes.includes('accepted')
      const mayBeApplied = outcomes.some((outcome) => outcome !== 'refused' && !neverProcessed.has(outcome))
      return judgeSettings(requested, { accepted, mayBeApplied }, now)
    },
    mayBeDone: (failure) =>
      failure.alreadyDone || failure.faults.some(({ field }) => field?.endsWith('simplifiedShippingSettings') === true),
    prepare: () => client.of(shippingSettingsEndpoint).prepare(payload.simplifiedShippingSettings),
    send: live === null ? null : (request, options) => live.writer(shippingSettingsWrites).send(request, options),
    confirmed: (tx) => recordSettingsCreated(tx, sellerId),
  }
}
