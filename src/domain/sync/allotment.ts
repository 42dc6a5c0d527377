import type { UnitKind } from '../commands/command.ts'
import { available, describeAvailable, type LineLedger, reserve } from '../orders/units.ts'
import { freeSlots } from '../refunds/refunds.ts'
import { invisibleIn } from '../values/text.ts'

/** One entry of an event: units of a line, which is identified either by its number or by its SKU. */
export interface AllotmentEntry {
  /** Path of the entry in the event. */
  readonly path: string
  readonly lineNumber: string | null
  readonly sku: string | null
  readonly quantity: number
}

/** Units of one line that are allotted to an entry. */
export interface AllottedPiece {
  readonly lineNumber: string
  readonly quantity: number
  /** Refunds only: which units of the line; see refunds.ts. */
  readonly slots: readonly number[]
}

/** The allotments. With faults, the valid entries are allotted all the same, so that all faults are reported together. */
export interface Allotment {
  /** By the path of the entry. */
  readonly pieces: ReadonlyMap<string, readonly AllottedPiece[]>
  /** With all allotted units reserved. */
  readonly ledgers: readonly LineLedger[]
  readonly faults: readonly { readonly path: string; readonly message: string }[]
}

/**
 * Allots units of lines to entries: entries that name a line first, then those by SKU, in line order as far as each line
 * has units left (docs/events.md).
 *
 * @param carriesMoney refunds only: whether a slot of a line has money; those that do are allotted first
 */
export const allot = (
  entries: readonly AllotmentEntry[],
  kind: UnitKind,
  ledgers: readonly LineLedger[],
  carriesMoney: (lineNumber: string) => (slot: number) => boolean = () => () => true,
): Allotment => {
  const pieces = new Map<string, AllottedPiece[]>()
  const faults: { path: string; message: string }[] = []
  let current = ledgers

  const take = (path: string, lineNumber: string, quantity: number): void => {
    const reserved = reserve(current, { kind, lines: [{ path, lineNumber, quantity }] })
    if (!reserved.ok) {
      faults.push(...reserved.faults.map((fault) => ({ path: fault.path, message: fault.message })))
      return
    }
    const before = current.find((ledger) => ledger.lineNumber === lineNumber)
    const slots = kind === 'refund' && before !== undefined ? (freeSlots(before, quantity, carriesMoney(lineNumber)) ?? []) : []
    current = reserved.ledgers.map((ledger) =>
      ledger.lineNumber === lineNumber ? { ...ledger, refundSlots: [...ledger.refundSlots, ...slots] } : ledger,
    )
    pieces.set(path, [...(pieces.get(path) ?? []), { lineNumber, quantity, slots }])
  }

  for (const entry of entries) {
    if (entry.lineNumber !== null) take(entry.path, entry.lineNumber, entry.quantity)
  }
  for (const { path, lineNumber, sku, quantity } of entries) {
    if (lineNumber !== null) continue
    const candidates = current.filter((ledger) => ledger.sku === sku)
    const room = candidates.reduce((sum, ledger) => sum + available(ledger, kind), 0)
    if (candidates.length === 0) {
      const invisible = sku === null ? null : invisibleIn(sku)
      const detail = invisible === null ? '' : `, which contains the invisible character ${invisible}`
      faults.push({ path: `${path}.sku`, message: `the order has no line with SKU ${sku}${detail}` })
    } else if (quantity > room) {
      const limits = candidates.map((ledger) => describeAvailable(ledger, kind)).join('; ')
      faults.push({ path: `${path}.quantity`, message: `${limits}; ${quantity} asked of SKU ${sku}` })
    } else {
      let left = quantity
      for (const ledger of candidates) {
        const taken = Math.min(left, available(ledger, kind))
        if (taken > 0) take(path, ledger.lineNumber, taken)
        left -= taken
      }
    }
  }
  return { pieces, ledgers: current, faults }
}
