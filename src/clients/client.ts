import type { Vocabulary } from '../domain/vocabulary.ts'
import type { CredentialsClient } from './auth.ts'
import type { Grant, Wait } from './budget.ts'
import type { ClientParts } from './client-parts.ts'
import type { Endpoint } from './endpoint.ts'
import type { Operation } from './operation.ts'
import type { OrderCommands } from './order-commands.ts'

/** The marketplace as one seller sees it. */
export interface MarketplaceClient {
  readonly sellerId: string
  /** What things are called there. */
  readonly vocabulary: Vocabulary
  /** The endpoint that carries the commands on purchase orders. */
  readonly orderCommands: Endpoint<OrderCommands>
  readonly credentials: CredentialsClient
  /** The marketplace's time, estimated from its answers; our own until the first one. */
  clock(): { now(): Date }
  /** The part that this endpoint declares, the same one each time; null where the seller does not have its host. */
  of<Part>(endpoint: Endpoint<Part>): Part
  readonly budget: { take(operation: Operation): Promise<Grant | Wait> }
  /**
   * Another client takes its place: calls that have begun go on, new ones fail as never sent, to be made again at once. Resolves when all has
   * ended and is closed.
   */
  retire(): Promise<void>
  /** Aborts what is under way and closes idle connections. */
  close(): Promise<void>
}

/** One marketplace: how a seller is connected with it. All that is particular to it, its endpoints included, is in its own folder. */
export interface Marketplace<Connection extends { readonly sellerId: string }> {
  connect(
    connection: Connection,
    parts: ClientParts,
  ): Pick<MarketplaceClient, 'credentials' | 'vocabulary' | 'orderCommands' | 'retire' | 'close'> & {
    /** What its endpoints make their parts from. */
    readonly hosts: object
    readonly clock: { now(): Date }
  }
}

/**
 * A marketplace as one seller sees it. Keep one client for as long as the credentials stay the same: it holds the token, the
 * estimate of the marketplace's clock and the memory that the credentials were refused.
 */
export const createClient = <Connection extends { readonly sellerId: string }>(
  marketplace: Marketplace<Connection>,
  connection: Connection,
  parts: ClientParts,
): MarketplaceClient => {
  const { sellerId } = connection
  const { hosts, clock, credentials, vocabulary, orderCommands, retire, close } = marketplace.connect(connection, parts)
  return {
    sellerId,
    vocabulary,
    orderCommands,
    credentials,
    clock: () => clock,
    of: (endpoint) => endpoint.partOf(hosts),
    budget: { take: (operation) => parts.budget.take(sellerId, operation) },
    retire,
    close,
  }
}
