import type { Vocabulary } from '../../domain/values/vocabulary.ts'
import type { Grant, Wait } from '../rate-limit/budget.ts'
import type { CredentialsClient } from './auth.ts'
import type { ClientParts } from './client-parts.ts'
import type { Endpoint } from './endpoint.ts'
import type { Operation } from './operation.ts'
import type { OrderCommands, ReturnCommands } from './order-commands.ts'

/** The marketplace as one seller sees it. */
export interface MarketplaceClient {
  readonly sellerId: string
  /** The terms of this marketplace. */
  readonly vocabulary: Vocabulary
  /** The endpoint for commands on purchase orders. */
  readonly orderCommands: Endpoint<OrderCommands>
  /** The endpoint for commands on returns; null: the marketplace has none. */
  readonly returnCommands: Endpoint<ReturnCommands> | null
  readonly credentials: CredentialsClient
  /** The marketplace's time, estimated from its answers; our own until the first answer. */
  clock(): { now(): Date }
  /** The client of this endpoint, created once; null if the seller does not use its host. */
  of<Part>(endpoint: Endpoint<Part>): Part
  readonly budget: { take(operation: Operation): Promise<Grant | Wait> }
  /**
   * Another client replaces it: calls in progress continue, new ones fail as never sent and can be repeated immediately. Resolves when all calls have ended and
   * everything is closed.
   */
  retire(): Promise<void>
  /** Aborts the calls in progress and closes idle connections. */
  close(): Promise<void>
}

/** One marketplace. Everything that is specific to it, its endpoints included, is in its own folder. */
export interface Marketplace<Connection extends { readonly sellerId: string }> {
  connect(
    connection: Connection,
    parts: ClientParts,
  ): Pick<MarketplaceClient, 'credentials' | 'vocabulary' | 'orderCommands' | 'returnCommands' | 'retire' | 'close'> & {
    /** Its endpoints create their clients from it. */
    readonly hosts: object
    readonly clock: { now(): Date }
  }
}

/**
 * A marketplace as one seller sees it. Use one client as long as the credentials do not change: it holds the token, the estimate of the marketplace's clock and
 * the refusals of the credentials.
 */
export const createClient = <Connection extends { readonly sellerId: string }>(
  marketplace: Marketplace<Connection>,
  connection: Connection,
  parts: ClientParts,
): MarketplaceClient => {
  const { sellerId } = connection
  const { hosts, clock, credentials, vocabulary, orderCommands, returnCommands, retire, close } = marketplace.connect(
    connection,
    parts,
  )
  return {
    sellerId,
    vocabulary,
    orderCommands,
    returnCommands,
    credentials,
    clock: () => clock,
    of: (endpoint) => endpoint.findPart(hosts),
    budget: { take: (operation) => parts.budget.take(sellerId, operation) },
    retire,
    close,
  }
}
