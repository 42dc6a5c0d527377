import type { OrderCommandContent } from '../../src/domain/commands/command.ts'
import { insertCommands } from '../../src/store/commands/command-steps.ts'
import type { Database, Transaction } from '../../src/store/db/database.ts'

type Content<Kind extends OrderCommandContent['kind']> = Extract<OrderCommandContent, { readonly kind: Kind }>
type Parcel = Content<'ship'>['payload']['parcels'][number]

/** The acknowledgement of an order. */
export const acknowledgement: Content<'acknowledge'> = { kind: 'acknowledge', payload: {} }

/** One parcel with so many units of lines. */
export const buildParcel = (
  trackingNumber: string,
  units: Readonly<Record<string, number>>,
  more: Partial<Parcel> = {},
): Parcel => ({
  carrier: 'UPS',
  trackingNumber,
  trackingUrl: null,
  method: null,
  shippedAt: '2026-11-20T10:00:00Z',
  lines: Object.entries(units).map(([lineNumber, quantity]) => ({ lineNumber, quantity })),
  ...more,
})

/** A shipment of these parcels. */
export const shipment = (...parcels: readonly Parcel[]): Content<'ship'> => ({ kind: 'ship', payload: { parcels: [...parcels] } })

/** The cancellation of so many units of lines. */
export const cancellation = (
  units: Readonly<Record<string, number>>,
  reason = 'SELLER_CANCEL_OUT_OF_STOCK',
): Content<'cancel'> => ({
  kind: 'cancel',
  payload: { lines: Object.entries(units).map(([lineNumber, quantity]) => ({ lineNumber, quantity, reason })) },
})

/** Where a command belongs. */
interface CommandAddress {
  readonly sellerId: string
  readonly purchaseOrderId: string
}

/** Stores a command of no event, as pending; answers its id. */
export const storeCommandIn = async (
  tx: Transaction,
  { sellerId, purchaseOrderId }: CommandAddress,
  content: OrderCommandContent,
): Promise<string> => {
  const [id] = await insertCommands(tx, { sellerId, purchaseOrderId, event: null, commands: [content] })
  if (id === undefined) throw new Error('no command was stored')
  return id
}

/** As {@link storeCommandIn}, in a transaction of its own. */
export const storeCommand = (database: Database, address: CommandAddress, content: OrderCommandContent): Promise<string> =>
  database.transaction((tx) => storeCommandIn(tx, address, content))
