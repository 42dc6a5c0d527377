import { bitsOfStates, type Entry, type Line, type Order, type UnitState } from './model.ts'

/** Units of the line in one of the states. */
export const unitsIn = (line: Line, ...states: readonly UnitState[]): number => {
  let units = 0
  for (const entry of line.entries) if (states.includes(entry.state)) units += entry.quantity
  return units
}

/** Takes `quantity` units out of the states, in the order of `states`, and returns them; the caller adds them to another state. */
export const takeUnits = (line: Line, quantity: number, ...states: readonly UnitState[]): Entry[] => {
  const taken: Entry[] = []
  let wanted = quantity
  for (const state of states) {
    for (const entry of line.entries) {
      if (entry.state !== state || wanted === 0) continue
      const part = Math.min(wanted, entry.quantity)
      entry.quantity -= part
      wanted -= part
      taken.push({ ...entry, quantity: part })
    }
  }
  if (wanted > 0) throw new RangeError(`line ${line.lineNumber} lacks ${wanted} units in ${states.join(', ')}`)
  line.entries = line.entries.filter((entry) => entry.quantity > 0)
  return taken
}

/** Adds units to the line; units in the same state, parcel and with the same reason share one entry. */
export const putUnits = (line: Line, added: Entry): void => {
  const like = line.entries.find(
    (entry) =>
      entry.state === added.state &&
      entry.cancellationReason === added.cancellationReason &&
      entry.parcel?.trackingNumber === added.parcel?.trackingNumber &&
      entry.before?.state === added.before?.state &&
      entry.before?.parcel?.trackingNumber === added.before?.parcel?.trackingNumber,
  )
  if (like === undefined) line.entries.push(added)
  else like.quantity += added.quantity
}

/** The states present anywhere in the order, as bits. */
export const stateBits = (order: Order): number => {
  let bits = 0
  for (const line of order.lines) for (const entry of line.entries) bits |= bitsOfStates[entry.state]
  return bits
}

/** Whether every unit of the line was cancelled. */
export const isFullyCancelled = (line: Line): boolean => line.entries.every((entry) => entry.state === 'Cancelled')
