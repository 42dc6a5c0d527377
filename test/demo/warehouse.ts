import type { DemoEvent, DemoOrder } from '../../src/demo/plan.ts'
import type { PlannedCommand } from '../../src/domain/commands/command.ts'
import { listUnits } from '../../src/domain/commands/command.ts'
import { readEvent } from '../../src/domain/events/event-reading.ts'
import type { EventFault } from '../../src/domain/events/event-shape.ts'
import { planCommands } from '../../src/domain/events/events.ts'
import type { LineUnits, PurchaseOrder } from '../../src/domain/orders/order.ts'
import { available, buildLedgers } from '../../src/domain/orders/units.ts'
import { orderLine, purchaseOrder } from '../support/orders.ts'
import { vocabulary } from '../support/vocabulary.ts'

/** A line as a test orders it. */
export interface WarehouseLine {
  readonly lineNumber: string
  readonly sku: string | null
  readonly ordered: number
  readonly intentToCancel: boolean
}

/** An order whose events are planned by the daemon's own rules and whose commands are settled by the test. */
export interface Warehouse {
  order(): DemoOrder
  /** Every fault of the event; none: its commands are pending now. */
  plan(event: DemoEvent): readonly EventFault[]
  /** Settles what is pending; confirmed commands have their effect on the units. */
  settle(state: 'confirmed' | 'rejected'): void
}

/** An order of one seller with untouched lines. */
export const warehouse = (sellerId: string, purchaseOrderId: string, lines: readonly WarehouseLine[]): Warehouse => {
  const units = new Map<string, LineUnits>(
    lines.map((line) => [line.lineNumber, { acknowledged: 0, shipped: 0, cancelled: 0, refunded: 0 }]),
  )
  const unitsOfLine = (lineNumber: string): LineUnits =>
    units.get(lineNumber) ?? { acknowledged: 0, shipped: 0, cancelled: 0, refunded: 0 }
  const commands: { readonly event: DemoEvent; readonly planned: PlannedCommand; state: string }[] = []

  const stored = (): PurchaseOrder =>
    purchaseOrder(
      purchaseOrderId,
      lines.map(({ lineNumber, sku, ordered, intentToCancel }) =>
        orderLine(lineNumber, sku, ordered, unitsOfLine(lineNumber), { intentToCancel }),
      ),
    )

  const pending = () => commands.filter((command) => command.state === 'pending')
  const ledgers = () =>
    buildLedgers(
      stored(),
      pending().map(({ planned }) => ({ ...planned, state: 'pending' as const, baseline: null })),
    )

  const apply = (planned: PlannedCommand): void => {
    if (planned.kind === 'acknowledge') {
      for (const line of lines) {
        const counts = unitsOfLine(line.lineNumber)
        units.set(line.lineNumber, { ...counts, acknowledged: line.ordered - counts.cancelled })
      }
      return
    }
    if (planned.kind === 'correct-shipment') return
    for (const { lineNumber, quantity } of listUnits(planned.payload)) {
      const counts = unitsOfLine(lineNumber)
      const ordered = lines.find((line) => line.lineNumber === lineNumber)?.ordered ?? 0
      const count = { ship: 'shipped', cancel: 'cancelled', refund: 'refunded', 'refund-return': 'refunded' } as const
      const next = { ...counts, [count[planned.kind]]: counts[count[planned.kind]] + quantity }
      units.set(lineNumber, { ...next, acknowledged: Math.min(next.acknowledged, ordered - next.cancelled) })
    }
  }

  return {
    order: () => ({
      sellerId,
      purchaseOrderId,
      orderDate: new Date('2026-03-01T10:00:00Z'),
      lines: ledgers().map((ledger) => ({
        lineNumber: ledger.lineNumber,
        sku: ledger.sku,
        ordered: ledger.ordered,
        acknowledged: ledger.reported.acknowledged,
        cancelled: ledger.reported.cancelled,
        intentToCancel: lines.find((line) => line.lineNumber === ledger.lineNumber)?.intentToCancel ?? false,
        shippable: available(ledger, 'ship'),
        cancellable: available(ledger, 'cancel'),
        refundable: available(ledger, 'refund'),
      })),
      commands: commands.map(({ event, state }) => ({ eventSource: event.source, eventId: event.id, state })),
    }),
    plan: (event) => {
      const planned = planCommands(readEvent(event), stored(), ledgers(), { vocabulary })
      if (!planned.ok) return planned.faults
      for (const command of planned.commands) commands.push({ event, planned: command, state: 'pending' })
      return []
    },
    settle: (state) => {
      for (const command of pending()) {
        command.state = state
        if (state === 'confirmed') apply(command.planned)
      }
    },
  }
}
