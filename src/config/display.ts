import type { Environment } from './environment.ts'
import type { SellerSettings } from './sellers.ts'

/** The connection to display advertising, with one identity for all advertisers (specification, Authentication). */
export interface DisplaySettings {
  readonly url: string
  readonly consumerId: string
  readonly authToken: string
  /** PEM. */
  readonly privateKey: string
  readonly keyVersion: string
}

/** The settings of display advertising; `sandbox`: the built-in sandbox, null: none. Adds errors to `faults`. */
export const readDisplay = (
  values: Environment,
  sellers: readonly SellerSettings[],
  faults: string[],
): DisplaySettings | 'sandbox' | null => {
  const needed = ['DISPLAY_CONSUMER_ID', 'DISPLAY_AUTH_TOKEN', 'DISPLAY_PRIVATE_KEY'] as const
  if (values.DISPLAY_URL === undefined) {
    for (const name of needed) {
      if (values[name] !== undefined)
        faults.push(`DISPLAY_URL: is unset while ${name} is set; accepted: the address of display advertising`)
    }
    return sellers.some((seller) => seller.marketplaceUrl === null) ? 'sandbox' : null
  }
  for (const name of needed) {
    if (values[name] === undefined)
      faults.push(`${name}: is unset while DISPLAY_URL is set; accepted: the value that the marketplace issued at onboarding`)
  }
  if (sellers.length > 0 && sellers.every((seller) => seller.advertiserId === null)) {
    faults.push(
      'ADVERTISER_ID: is unset while DISPLAY_URL is set; accepted: a whole number, there or as advertiserId of a seller',
    )
  }
  const { DISPLAY_CONSUMER_ID: consumerId, DISPLAY_AUTH_TOKEN: authToken, DISPLAY_PRIVATE_KEY: privateKey } = values
  if (consumerId === undefined || authToken === undefined || privateKey === undefined) return null
  return {
    url: values.DISPLAY_URL.replace(/\/+$/, ''),
    consumerId,
    authToken,
    privateKey,
    keyVersion: values.DISPLAY_KEY_VERSION,
  }
}
