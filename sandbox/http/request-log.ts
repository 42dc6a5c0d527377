/** One request as returned by `GET /_sandbox/requests`. */
export interface LoggedRequest {
  readonly id: string
  readonly at: string
  readonly method: string
  readonly url: string
  readonly operation: string | null
  sellerId: string | null
  correlationId: string | null
  purchaseOrderId: string | null
  /** `null` while nothing was answered, and for ever when the sandbox fell silent. */
  status: number | null
  fault: string | null
  durationMs: number | null
}

const capacity = 5_000

/** The last requests, oldest first; older ones are dropped. */
export interface RequestLog {
  add(request: LoggedRequest): void
  list(limit: number): readonly LoggedRequest[]
  /** How often each operation was called and with which status it ended, since the program started. */
  totals(): Readonly<Record<string, Readonly<Record<string, number>>>>
  /** How often each seller called each operation with another method than GET, since the program started. */
  writes(): Readonly<Record<string, Readonly<Record<string, number>>>>
  ended(request: LoggedRequest): void
  clear(): void
}

export const createRequestLog = (): RequestLog => {
  let ring: LoggedRequest[] = []
  let totals: Record<string, Record<string, number>> = {}
  let writes: Record<string, Record<string, number>> = {}
  return {
    add(request) {
      ring.push(request)
      // Cut in halves: shifting one by one would cost the whole ring for each request.
      if (ring.length > 2 * capacity) ring = ring.slice(-capacity)
    },
    list: (limit) => ring.slice(-Math.min(limit, capacity)),
    totals: () => totals,
    writes: () => writes,
    ended(request) {
      const operation = request.operation ?? 'unknown'
      const status = String(request.status ?? 'none')
      const ofOperation = totals[operation] ?? {}
      totals[operation] = { ...ofOperation, [status]: (ofOperation[status] ?? 0) + 1 }
      if (request.method === 'GET') return
      const seller = request.sellerId ?? 'unknown'
      const ofSeller = writes[seller] ?? {}
      writes[seller] = { ...ofSeller, [operation]: (ofSeller[operation] ?? 0) + 1 }
    },
    clear() {
      ring = []
      totals = {}
      writes = {}
    },
  }
}
