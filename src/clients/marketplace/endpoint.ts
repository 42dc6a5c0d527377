import type { Caller } from '../http/caller.ts'
import {
  type Declaration,
  declareEndpoint,
  declareWrites,
  type Endpoint,
  type Operations,
  type WriteEndpoint,
} from '../http/endpoint.ts'
import type { OnUnknownValue } from '../http/record.ts'
import type { DisplayConnection, SellerConnection } from './connection.ts'

/** One host of the marketplace for one seller. */
export interface Host {
  readonly caller: Caller
  readonly connection: SellerConnection
  readonly onUnknownValue: OnUnknownValue
}

/** Display advertising of one advertiser. */
export interface DisplayHost extends Host {
  readonly display: DisplayConnection
}

/** The hosts of the marketplace for one seller. */
export interface Hosts {
  readonly marketplace: Host
  /** Null while display advertising is off. */
  readonly display: DisplayHost | null
}

type OnMarketplace<Client> = { readonly host: 'marketplace'; readonly create: (host: Host) => Client }
type OnDisplay<Client> = { readonly host: 'display'; readonly create: (host: DisplayHost) => Client }

/** An endpoint of display advertising. Its client is null for a seller without display advertising. */
export function endpoint<Client extends object, Value, const Declared extends Operations>(
  declared: Declaration<Value, Declared> & OnDisplay<Client>,
): Endpoint<Client | null, Value, Declared, Hosts>
/** An endpoint of the marketplace itself: its part is null where `create` finds that the profile does not have it. */
export function endpoint<Client extends object | null, Value, const Declared extends Operations>(
  declared: Declaration<Value, Declared> & OnMarketplace<Client>,
): Endpoint<Client, Value, Declared, Hosts>
export function endpoint<Client extends object | null, Value, const Declared extends Operations>(
  declared: Declaration<Value, Declared> & (OnMarketplace<Client> | OnDisplay<Client>),
): Endpoint<Client | null, Value, Declared, Hosts> {
  return declareEndpoint({
    ...declared,
    make({ marketplace, display }: Hosts) {
      if (declared.host === 'marketplace') return declared.create(marketplace)
      return display === null ? null : declared.create(display)
    },
  })
}

/** The operations of the marketplace itself that change something there. */
export const writeEndpoint = <Writer extends object>(create: (host: Host) => Writer): WriteEndpoint<Writer, Hosts> =>
  declareWrites(({ marketplace }: Hosts) => create(marketplace))
