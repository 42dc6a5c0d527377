import { type Database, toInteger, toText } from '../core/database.ts'

/** What a refund of the marketplace's own pays, in cents; a part that is left out is not paid. */
export interface OwnRefundMoney {
  readonly amount?: number | undefined
  readonly tax?: number | undefined
  readonly fees?: number | undefined
}

/** An event that occurs when the virtual clock reaches it. */
export type DueEvent =
  | { readonly kind: 'marketplace-ship'; readonly sellerId: string; readonly purchaseOrderId: string }
  | {
      readonly kind: 'intent-to-cancel'
      readonly sellerId: string
      readonly purchaseOrderId: string
      readonly lineNumber: string
    }
  | {
      readonly kind: 'buyer-cancel'
      readonly sellerId: string
      readonly purchaseOrderId: string
      readonly lineNumber: string
      readonly quantity: number
    }
  | { readonly kind: 'auto-cancel'; readonly sellerId: string; readonly purchaseOrderId: string }
  | {
      readonly kind: 'deliver'
      readonly sellerId: string
      readonly purchaseOrderId: string
      readonly lineNumber: string
      readonly trackingNumber: string
    }
  | {
      readonly kind: 'open-return'
      readonly sellerId: string
      readonly purchaseOrderId: string
      readonly lineNumber: string
      readonly quantity: number
      readonly reason: string
    }
  | {
      readonly kind: 'return-step'
      readonly sellerId: string
      readonly returnOrderId: string
      readonly returnOrderLineNumber: number
      readonly from: 'RETURN_INITIATED' | 'RETURN_IN_TRANSIT'
      readonly quantity: number
    }
  | {
      readonly kind: 'return-refund'
      readonly sellerId: string
      readonly returnOrderId: string
      readonly returnOrderLineNumber: number
      readonly quantity: number
    }
  | {
      readonly kind: 'own-refund'
      readonly sellerId: string
      readonly purchaseOrderId: string
      readonly lineNumber: string
      /** Units; with 0 only the money. */
      readonly quantity: number
      /** In cents; `null` for what the units cost. */
      readonly money: OwnRefundMoney | null
      readonly reason: string
    }
  | {
      readonly kind: 'fraud-cancel'
      readonly sellerId: string
      readonly purchaseOrderId: string
      /** Whether the units that are not shipped are cancelled. */
      readonly cancels: boolean
    }
  | { readonly kind: 'report-ready'; readonly sellerId: string; readonly requestId: string }
  | {
      readonly kind: 'late-write'
      readonly sellerId: string
      readonly purchaseOrderId: string
      readonly operation: string
      readonly body: unknown
      /** The placeholders of the path; left out where the order is the only one. */
      readonly params?: Readonly<Record<string, string>>
      readonly correlationId: string
      readonly requestId: string
    }

export interface Due {
  readonly id: number
  readonly dueAt: number
  readonly event: DueEvent
}

export interface DueEventStore {
  schedule(dueAt: number, event: DueEvent): void
  /** The earliest events that are due by `now`. */
  due(now: number, limit: number): Due[]
  remove(id: number): void
  total(): number
}

export const createDueEventStore = (database: Database): DueEventStore => ({
  schedule(dueAt, event) {
    database.run('INSERT INTO due_events (due_at, kind, payload) VALUES (?, ?, ?)', dueAt, event.kind, JSON.stringify(event))
  },
  due: (now, limit) =>
    database
      .all('SELECT id, due_at, payload FROM due_events WHERE due_at <= ? ORDER BY due_at, id LIMIT ?', now, limit)
      .map((row) => ({
        id: toInteger(row, 'id'),
        dueAt: toInteger(row, 'due_at'),
        event: JSON.parse(toText(row, 'payload')),
      })),
  remove: (id) => {
    database.run('DELETE FROM due_events WHERE id = ?', id)
  },
  total() {
    const row = database.get('SELECT count(*) AS total FROM due_events')
    return row === undefined ? 0 : toInteger(row, 'total')
  },
})
