import { z } from 'zod'
import { connectDaemon, type Daemon } from '../../api-client/daemon.ts'
import { Failed } from '../../api-client/errors.ts'
import type { CountedLine, Units } from './compare-units.ts'

const effectCounts = {
  acknowledged: z.int(),
  shipped: z.int(),
  cancelled: z.int(),
  refunded: z.int(),
  /** Units that had been acknowledged before they were cancelled. */
  cancelledAfterAcknowledged: z.int(),
}

const summaryLine = z.looseObject({
  sellerId: z.string(),
  purchaseOrderId: z.string(),
  lineNumber: z.string(),
  ordered: z.int(),
  ...effectCounts,
})
const summarySchema = z.looseObject({ items: z.array(summaryLine), next: z.number().nullable() })

const effectSchema = z.looseObject({
  lineNumber: z.string(),
  kind: z.string(),
  quantity: z.int(),
  from: z.string().nullable(),
})
const effectsSchema = z.looseObject({ items: z.array(effectSchema), next: z.number().nullable() })

const ordersPageSize = 2_000
const effectsPageSize = 10_000

/** The actual effects, reported by the sandbox. */
export interface Sandbox {
  /** Every line of every order that the sandbox has. */
  lines(): AsyncGenerator<CountedLine, void, undefined>
  /** Units of one order by line number, from its effects; a line without effects is omitted. `ordered` is not included. */
  readEffects(order: {
    readonly sellerId: string
    readonly purchaseOrderId: string
  }): Promise<ReadonlyMap<string, Omit<Units, 'ordered'>>>
  close(): void
}

/** Units as the order shows them: a unit that was cancelled is no longer acknowledged. */
export const computeUnits = (effects: Record<keyof typeof effectCounts, number>): Omit<Units, 'ordered'> => ({
  acknowledged: effects.acknowledged - effects.cancelledAfterAcknowledged,
  shipped: effects.shipped,
  cancelled: effects.cancelled,
  refunded: effects.refunded,
})

/** The sandbox's control routes; they answer on the same machine only. */
export const connectSandbox = (url: string, signal: AbortSignal): Sandbox => {
  const http: Daemon = connectDaemon({
    url,
    apiKey: null,
    signal,
    name: 'the sandbox',
    hint: 'set its address with --sandbox or SANDBOX_URL; it is the sandbox that this daemon uses as its marketplace',
  })
  return {
    async *lines() {
      for (let after: number | null = 0; after !== null; ) {
        const page: z.infer<typeof summarySchema> = await http.get('/_sandbox/effects/summary', summarySchema, {
          query: { after, limit: ordersPageSize },
        })
        for (const { sellerId, purchaseOrderId, lineNumber, ordered, ...effects } of page.items) {
          yield { sellerId, purchaseOrderId, lineNumber, units: { ordered, ...computeUnits(effects) } }
        }
        after = page.next
      }
    },
    async readEffects({ sellerId, purchaseOrderId }) {
      const { items, next } = await http.get('/_sandbox/effects', effectsSchema, {
        query: { sellerId, purchaseOrderId, limit: effectsPageSize },
      })
      if (next !== null) throw new Failed(`order ${purchaseOrderId} has more than ${effectsPageSize} effects`)
      const totals = new Map<string, Record<keyof typeof effectCounts, number>>()
      for (const { lineNumber, kind, quantity, from } of items) {
        const total = totals.get(lineNumber) ?? {
          acknowledged: 0,
          shipped: 0,
          cancelled: 0,
          refunded: 0,
          cancelledAfterAcknowledged: 0,
        }
        totals.set(lineNumber, total)
        if (kind === 'acknowledged' || kind === 'shipped' || kind === 'cancelled' || kind === 'refunded') total[kind] += quantity
        if (kind === 'cancelled' && from === 'Acknowledged') total.cancelledAfterAcknowledged += quantity
      }
      return new Map([...totals].map(([lineNumber, total]) => [lineNumber, computeUnits(total)]))
    },
    close: () => http.close(),
  }
}
