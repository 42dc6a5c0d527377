import { expect } from 'vitest'
import { z } from 'zod'
import type { OrderAddress } from '../daemon/support.ts'
import type { TestDaemon } from '../support/daemon.ts'
import { eventually } from '../support/eventually.ts'
import type { TestSandbox } from '../support/sandbox.ts'

const commandsSchema = z.object({
  items: z.array(z.object({ kind: z.string(), state: z.string(), reason: z.string().nullable() })),
})

/** The shipments of an order, once they are in these states. */
export const untilShipment = (running: TestDaemon, { purchaseOrderId }: OrderAddress, states: readonly string[]) =>
  eventually(async () => {
    const { body } = await running.call('GET', `/v1/commands?purchaseOrderId=${purchaseOrderId}`)
    const shipments = commandsSchema.parse(body).items.filter(({ kind }) => kind === 'ship')
    expect(shipments.map(({ state }) => state).toSorted()).toEqual([...states].toSorted())
    return shipments
  })

/** Units of an order that have been shipped at the marketplace. */
export const shippedUnits = async (sandbox: TestSandbox, { purchaseOrderId }: OrderAddress): Promise<number> =>
  (await sandbox.effects(purchaseOrderId)).reduce((sum, { kind, quantity }) => sum + (kind === 'shipped' ? quantity : 0), 0)
