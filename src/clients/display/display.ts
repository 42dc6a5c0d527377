import type { Caller } from '../caller.ts'
import { createCaller } from '../caller.ts'
import type { ClientParts, DisplayClient, DisplayConnection, SellerConnection } from '../interface.ts'
import type { OnUnknownValue } from '../marketplace/record.ts'
import { createSignatureAuthorisation } from './signature.ts'
import { createTargetingClient } from './targeting.ts'
import { createTaxonomiesClient } from './taxonomies.ts'

/** Wait after a 429 that names no time (public facts, section 8.3). */
const THROTTLE_WAIT_MS = 600_000

/** A caller of the display host: it has a clock of its own, and signs every request. */
export function createDisplayCaller(connection: SellerConnection, display: DisplayConnection, parts: ClientParts): Caller {
  return createCaller({
    connection,
    parts,
    baseUrl: display.url,
    authorise: (bare) => createSignatureAuthorisation(connection.headerPrefix, display, bare),
    throttleWaitMs: THROTTLE_WAIT_MS,
  })
}

/** Display advertising of one advertiser (specification, sections 1 and 2). */
export function createDisplayClient(caller: Caller, display: DisplayConnection, onUnknownValue: OnUnknownValue): DisplayClient {
  return {
    taxonomies: createTaxonomiesClient(caller, display, onUnknownValue),
    targeting: createTargetingClient(caller, display, onUnknownValue),
  }
}
