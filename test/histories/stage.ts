/** Work of one process that is in progress: a step of a command, an event being taken, a page being synchronised. */
export interface Step {
  readonly name: string
  readonly process: number
  /** The command that it carries on now; null: it is not about one command. */
  readonly buildCommand: () => string | null
}

/**
 * Virtual time, and who moves in it. Only one step moves at any moment; the others are parked until a moment of virtual time. So a history
 * plays the same way each time, however many processes it has, and hours pass as quickly as the work within them.
 */
export interface Stage {
  /** Virtual epoch milliseconds. */
  nowMs(): number
  /** A little time passes: a request travels. */
  tick(ms: number): void
  /** The step that moves; null between steps. */
  current(): Step | null
  /** Has something happen at a moment, now at the earliest. */
  at(atMs: number, happen: () => void): void
  /** The step that moves stands still until then; others move meanwhile. */
  park(untilMs: number): Promise<void>
  /** Begins a step. Resolves when it ends or stands still; a fault of the harness goes to `failed`. */
  begin(step: Step, work: () => Promise<void>): Promise<void>
  /** The next thing that was arranged; null: nothing. */
  nextAtMs(): number | null
  /** Moves on to a moment. */
  moveTo(atMs: number): void
  /** Lets the next arranged thing happen, and waits until all stand still again. */
  happen(): Promise<void>
  /** Faults of the harness itself, which end the play. */
  readonly failed: unknown[]
}

/** A stage at a moment of virtual time. */
export const createStage = (fromMs: number): Stage => {
  let nowMs = fromMs
  let order = 0
  let current: Step | null = null
  let stillness: PromiseWithResolvers<void> | null = null
  const arranged: { readonly atMs: number; readonly order: number; readonly happen: () => void }[] = []
  const failed: unknown[] = []

  const move = (step: Step): void => {
    current = step
  }
  const standStill = (): void => {
    current = null
    stillness?.resolve()
    stillness = null
  }
  const quiet = (): Promise<void> => {
    if (current === null) return Promise.resolve()
    stillness ??= Promise.withResolvers<void>()
    return stillness.promise
  }
  const at = (atMs: number, happen: () => void): void => {
    const entry = { atMs: Math.max(atMs, nowMs), order, happen }
    order += 1
    const place = arranged.findIndex((other) => other.atMs > entry.atMs)
    arranged.splice(place < 0 ? arranged.length : place, 0, entry)
  }
  return {
    nowMs: () => nowMs,
    tick: (ms) => {
      nowMs += ms
    },
    current: () => current,
    at,
    park: async (untilMs) => {
      const step = current
      if (step === null) throw new Error('nobody moves, so nobody can stand still')
      const { promise, resolve } = Promise.withResolvers<void>()
      at(untilMs, () => {
        move(step)
        resolve()
      })
      standStill()
      await promise
    },
    begin: async (step, work) => {
      if (current !== null) throw new Error(`${step.name} begins while ${current.name} moves`)
      move(step)
      work()
        .catch((error: unknown) => void failed.push(error))
        .finally(standStill)
      await quiet()
    },
    nextAtMs: () => arranged[0]?.atMs ?? null,
    moveTo: (atMs) => {
      nowMs = Math.max(nowMs, atMs)
    },
    happen: async () => {
      arranged.shift()?.happen()
      await quiet()
    },
    failed,
  }
}
