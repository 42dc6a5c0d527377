import type { Vocabulary } from '../../domain/values/vocabulary.ts'
import type { Grant, Wait } from '../rate-limit/budget.ts'
import type { CredentialsClient } from './auth.ts'
import type { ClientParts } from './client-parts.ts'
import type { Endpoint, WriteEndpoint } from './endpoint.ts'
import type { Operation } from './operation.ts'
import type { OrderCommands, OrderWriter, ReturnCommands, ReturnWriter } from './order-commands.ts'

/** The marketplace as one seller reads it. It has no operation that changes anything there. */
export interface ReadClient {
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
}

/** A client that can write as well, with the life of its connections. */
export interface MarketplaceClient extends ReadClient {
  /** Sends the requests of `orderCommands`. */
  readonly orderWrites: WriteEndpoint<OrderWriter>
  /** Sends the requests of `returnCommands`; null: the marketplace has none. */
  readonly returnWrites: WriteEndpoint<ReturnWriter> | null
  /** The operations of this endpoint that change something at the marketplace, created once. */
  writer<Writer>(endpoint: WriteEndpoint<Writer>): Writer
  /**
   * Another client replaces it: calls in progress continue, new ones fail as never sent and can be repeated immediately. Resolves when all calls have ended and
   * everything is closed.
   */
  retire(): Promise<void>
  /** Aborts the calls in progress and closes idle connections. */
  close(): Promise<void>
}

/** The client of a seller that is in shadow mode: the same reads and connections, without the writes. */
export const toReadClient = (client: MarketplaceClient): ReadClient => {
  const { sellerId, vocabulary, orderCommands, returnCommands, credentials, budget } = client
  return {
    sellerId,
    vocabulary,
    orderCommands,
    returnCommands,
    credentials,
    budget,
    clock: () => client.clock(),
    of: (endpoint) => client.of(endpoint),
  }
}

/** One marketplace. Everything that is specific to it, its endpoints included, is in its own folder. */
export interface Marketplace<Connection extends { readonly sellerId: string }> {
  connect(
    connection: Connection,
    parts: ClientParts,
  ): Pick<
    MarketplaceClient,
    'credentials' | 'vocabulary' | 'orderCommands' | 'returnCommands' | 'orderWrites' | 'returnWrites' | 'retire' | 'close'
  > & {
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
  const { hosts, clock, ...connected } = marketplace.connect(connection, parts)
  return {
    ...connected,
    sellerId,
    clock: () => clock,
    of: (endpoint) => endpoint.findPart(hosts),
    writer: (endpoint) => endpoint.findWriter(hosts),
    budget: { take: (operation) => parts.budget.take(sellerId, operation) },
  }
}
