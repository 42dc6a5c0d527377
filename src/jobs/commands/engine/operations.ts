import type { ReadClient } from '../../../clients/http/client.ts'
import type { Operation } from '../../../clients/http/operation.ts'
import { shippingSettingsEndpoint } from '../../../clients/marketplace/shipping-settings.ts'
import type { CommandKind } from '../../../domain/commands/command.ts'
import { definitions } from '../kinds/definitions.ts'

/** Operations that a command uses. */
export interface CommandOperations {
  readonly write: Operation
  /** Reads its subject; null: the marketplace has no such operation. */
  readonly read: Operation | null
  /** The subject is also read before the first request. */
  readonly readsFirst: boolean
}

/** The operations of a kind of command; null: the seller's marketplace has no such command. */
export const findCommandOperations = (client: ReadClient, kind: CommandKind): CommandOperations | null => {
  if (kind === 'create-shipping-settings') {
    const { create, get } = shippingSettingsEndpoint.operations
    return { write: create, read: get, readsFirst: false }
  }
  if (kind === 'refund-return') {
    const { returnCommands } = client
    const refund = returnCommands === null ? null : client.of(returnCommands).refund
    // The order is read too, by an operation with a larger limit.
    return refund === null
      ? null
      : { write: refund.operation, read: returnCommands?.operations['list'] ?? null, readsFirst: true }
  }
  const supported = client.of(client.orderCommands).commands[kind]
  if (supported === undefined) return null
  const { readsOrderFirst } = definitions[kind]
  return { write: supported.operation, read: client.orderCommands.operations['get'] ?? null, readsFirst: readsOrderFirst }
}
