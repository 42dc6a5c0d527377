const toleratedClockStepMs = 2_000

/** Our clocks: epoch ms, and a monotonic one. */
export interface OwnClocks {
  readonly wallMs: () => number
  readonly monotonicMs: () => number
}

/** The store's clock, estimated from its answers. */
export class StoreClock {
  readonly #own: OwnClocks
  /** The store's clock minus our monotonic one, as a lower bound; null: unknown. */
  #offsetMs: number | null = null

  constructor(own: OwnClocks) {
    this.#own = own
  }

  get isKnown(): boolean {
    return this.#offsetMs !== null
  }

  /** Learns from an answer with the store's time. */
  observe(storeMs: number): void {
    const offsetMs = storeMs - this.#own.monotonicMs()
    const known = this.#offsetMs
    const isReplaced = known === null || offsetMs > known || offsetMs < known - toleratedClockStepMs
    // A slow answer shows too small an offset; only drift lowers the estimate.
    this.#offsetMs = isReplaced ? offsetMs : known + (offsetMs - known) / 16
  }

  /** The store's time, epoch ms; our own time until the first answer. */
  nowMs(): number {
    const monotonicMs = this.#own.monotonicMs()
    return monotonicMs + (this.#offsetMs ?? this.#own.wallMs() - monotonicMs)
  }

  /** A time of the store on our own clock. */
  toOwnTime(storeMs: number): Date {
    return new Date(Math.ceil(storeMs - this.nowMs() + this.#own.wallMs()))
  }

  /** A time of our own clock on the store's, epoch ms. */
  toStoreMs(ownTime: Date): number {
    return ownTime.getTime() - this.#own.wallMs() + this.nowMs()
  }
}
