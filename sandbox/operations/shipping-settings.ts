import type { Call, Operation, Result } from '../calls/operation.ts'
import { type ApiFault, Refusal } from '../core/errors.ts'
import { perMinute } from '../faults/limits.ts'
import { globalHeaders } from '../http/headers.ts'
import { part, type SettingsFault, settingsFaults } from '../shipping-settings/rules.ts'
import type { World } from '../world.ts'

const path = '/v3/settings/shipping/simplifiedshippingsettings'

/** Errors of these operations come with HTTP 200 (specification, Errors, "Shipping settings creation"; public facts, section 6.1). */
const refuse = (faults: readonly SettingsFault[]): Refusal => {
  const code = 'INVALID_REQUEST_CONTENT.INVALID_REQUEST'
  const full = faults.map((fault): ApiFault => ({ code, ...fault, severity: 'ERROR', category: 'DATA' }))
  return new Refusal(200, full, 'flat')
}

/** `POST …/account` (specification, endpoint 4): stores the seller's only settings, or throws everything that is wrong with them. */
const create = (world: World, { sellerId, body, correlationId, requestId }: Call, now: number): Result => {
  const { shippingSettings, database, effects } = world
  const { settingsWithMethods } = world.settings.dialect
  const exists = shippingSettings.find(sellerId) !== null
  const faults = settingsFaults(body, { exists, traits: shippingSettings.traits(sellerId), withMethods: settingsWithMethods })
  if (faults.length > 0) throw refuse(faults)
  const settings = stored(body, settingsWithMethods)
  database.transaction(() => {
    shippingSettings.insert(sellerId, settings)
    effects.appendOther(sellerId, 'shipping-settings-created', now, { by: 'seller', correlationId, requestId })
  })
  return { json: { simplifiedShippingSettings: settings } }
}

/** `GET` (public facts, section 7.5). Which status "not found" has is not published; it comes like the other errors, with 200. */
const get = ({ shippingSettings }: World, { sellerId }: Call): Result => {
  const settings = shippingSettings.find(sellerId)
  if (settings === null) {
    const description = 'Simplified Shipping Settings not found for given partnerPk'
    throw refuse([{ field: 'simplifiedShippingSettings', description }])
  }
  return { json: { simplifiedShippingSettings: settings } }
}

/** Settings as they are kept: without the order of the carrier configurations (specification, endpoint 4), and in the second form without a priority. */
const stored = (body: unknown, withMethods: boolean): Record<string, unknown> => {
  const settings = part(part(body)['simplifiedShippingSettings'])
  const { shippingPriority, ...account } = part(settings['accountConfigs'])
  const configs: unknown = account['carrierConfigs']
  return {
    ...settings,
    accountConfigs: {
      ...account,
      ...(withMethods ? {} : { shippingPriority }),
      migrateFreeShippingOffers: account['migrateFreeShippingOffers'] ?? false,
      carrierConfigs: Array.isArray(configs) ? configs.toReversed() : [],
    },
  }
}

/** Account-level shipping settings (specification, endpoint 4; reading them: public facts, section 7.5). */
export const operations: readonly Operation[] = [
  {
    name: 'shipping-settings.create',
    limit: perMinute(5),
    method: 'POST',
    urls: [`${path}/account`],
    admission: 'marketplace',
    requiredHeaders: globalHeaders,
    body: 'json',
    writes: true,
    errorShape: 'flat',
    faults: [],
    perform: (world, call, _plan, now) => create(world, call, now),
  },
  {
    name: 'shipping-settings.get',
    limit: perMinute(50),
    method: 'GET',
    urls: [path],
    admission: 'marketplace',
    body: 'none',
    writes: false,
    errorShape: 'flat',
    faults: [],
    perform: (world, call) => get(world, call),
  },
]
