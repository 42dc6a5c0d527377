import type { MarketplaceClient } from '../../clients/client.ts'
import { shippingSettingsEndpoint } from '../../clients/marketplace/shipping-settings.ts'
import type { Operation } from '../../clients/operation.ts'
import type { CommandKind } from '../../domain/command.ts'
import { readsOrderFirst } from './order.ts'

/** What a command asks the marketplace. */
export interface CommandCalls {
  readonly write: Operation
  /** By which its subject is read; null: that cannot be. */
  readonly read: Operation | null
  /** Its subject is read before the first request already. */
  readonly readsFirst: boolean
}

/** What a command of a kind asks; null: the marketplace of this seller has no such command. */
export const callsOfCommand = (client: MarketplaceClient, kind: CommandKind): CommandCalls | null => {
  if (kind === 'create-shipping-settings') {
    const { create, get } = shippingSettingsEndpoint.operations
    return { write: create, read: get, readsFirst: false }
  }
  const carried = client.of(client.orderCommands).commands[kind]
  if (carried === undefined) return null
  return { write: carried.operation, read: client.orderCommands.operations['get'] ?? null, readsFirst: readsOrderFirst(kind) }
}
