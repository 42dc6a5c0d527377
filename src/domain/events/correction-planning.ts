import type { z } from 'zod'
import { type CorrectionPayload, isInFlight, isReleased, type ShipPayload } from '../commands/command.ts'
import { formatTrackingNumbers } from '../commands/correction.ts'
import { normalMark } from '../commands/evidence.ts'
import { publishedSpelling } from '../orders/carriers.ts'
import type { PurchaseOrder } from '../orders/order.ts'
import type { LedgerCommand } from '../orders/units.ts'
import type { Vocabulary } from '../values/vocabulary.ts'
import type { correctedSchema, EventFault } from './event-shape.ts'

type Correction = z.infer<typeof correctedSchema>
type CorrectionCommand = Extract<LedgerCommand, { kind: 'correct-shipment' }>

/** Units of a line under one tracking number, as they will be once all commands in front are done. */
interface TrackedUnits {
  readonly trackingNumber: string
  readonly quantity: number
  readonly shippedAt: string | null
  readonly method: string | null
}

/** By line number, then by normal form of the tracking number. */
type TrackedLines = Map<string, Map<string, TrackedUnits>>

/** The payload of the command, null if the number was corrected so before; or every fault. */
type CorrectionPlan =
  | { readonly ok: true; readonly payload: CorrectionPayload | null }
  | { readonly ok: false; readonly faults: readonly EventFault[] }

const path = 'data.trackingNumber'
const refuse = (message: string, at: string = path): CorrectionPlan => ({ ok: false, faults: [{ path: at, message }] })

/**
 * Finds the units that a correction concerns: those that the order shows under the wrong number, and those of shipments that are not settled yet,
 * with the corrections in front of it applied.
 *
 * @param commands the commands on the order, in their order
 */
export const planCorrection = (
  { trackingNumber, replacement }: Correction,
  order: PurchaseOrder,
  commands: readonly LedgerCommand[],
  { statuses, carriers }: Vocabulary,
): CorrectionPlan => {
  const [from, to] = [normalMark(trackingNumber), normalMark(replacement.trackingNumber)]
  if (from === to) {
    const message = `is the tracking number that it replaces, apart from case and punctuation; a correction needs another one`
    return refuse(message, 'data.replacement.trackingNumber')
  }
  const open = commands.filter(({ state }) => !isReleased(state))
  const tracked = findTrackedLines(order, open, statuses.findState)
  const corrected: CorrectionPayload['replacement'] = {
    carrier: (carriers === null ? null : publishedSpelling(carriers, replacement.carrier)) ?? replacement.carrier,
    trackingNumber: replacement.trackingNumber,
    trackingUrl: replacement.trackingUrl ?? null,
  }
  const corrections = open.filter((command) => command.kind === 'correct-shipment')
  const found = [...tracked].flatMap(([lineNumber, units]) => {
    const under = units.get(from)
    return under === undefined ? [] : [{ lineNumber, ...under }]
  })
  if (found.length === 0) return planWithoutUnits({ trackingNumber, corrected }, order, tracked, corrections)
  const undone = corrections.findLast(
    ({ payload }) => normalMark(payload.trackingNumber) === to && normalMark(payload.replacement.trackingNumber) === from,
  )
  if (undone !== undefined && hasOthers(found, undone)) {
    const message = `is the number of several parcels since ${undone.payload.trackingNumber} was corrected to it, so that it is unclear which of them is meant; correct it in the marketplace's seller center`
    return refuse(message)
  }
  const lines: CorrectionPayload['lines'] = []
  const timeless: string[] = []
  for (const { lineNumber, quantity, shippedAt, method } of found) {
    const line = order.lines.find((one) => one.lineNumber === lineNumber)
    const leftAt = shippedAt ?? findShippedAt(order, open, lineNumber, from)
    if (leftAt === null) timeless.push(lineNumber)
    else {
      const override = line?.intentToCancel === true ? { intentToCancelOverride: true } : {}
      lines.push({ lineNumber, quantity, shippedAt: leftAt, method, ...override })
    }
  }
  if (timeless.length > 0) {
    const message = `cannot be corrected: the marketplace shows no time at which the units of line ${timeless.join(', ')} were shipped, and its request needs one; correct it in its seller center`
    return refuse(message)
  }
  return { ok: true, payload: { trackingNumber: found[0]?.trackingNumber ?? trackingNumber, replacement: corrected, lines } }
}

/** No unit has the number (any more): it was corrected before, in the same way or in another one, or it is not one of the order. */
const planWithoutUnits = (
  { trackingNumber, corrected }: { readonly trackingNumber: string; readonly corrected: CorrectionPayload['replacement'] },
  order: PurchaseOrder,
  tracked: TrackedLines,
  corrections: readonly CorrectionCommand[],
): CorrectionPlan => {
  const from = normalMark(trackingNumber)
  const known = [...new Map([...tracked.values()].flatMap((units) => [...units])).values()].map((units) => units.trackingNumber)
  const before = corrections.findLast(({ payload }) => normalMark(payload.trackingNumber) === from)?.payload
  if (before !== undefined) {
    if (isSame(before.replacement, corrected)) return { ok: true, payload: null }
    const { carrier, trackingNumber: number } = before.replacement
    return refuse(
      `is ${trackingNumber}, which was corrected to ${number} (${carrier}) before; name ${number} to correct it once more`,
    )
  }
  const isFormer = order.lines.some(({ shipments }) =>
    shipments.some((shipment) => normalMark(shipment.trackingNumber ?? '') === from),
  )
  const to = normalMark(corrected.trackingNumber)
  // Somebody changed it in the same way, such as in the seller center.
  if (isFormer && known.some((number) => normalMark(number) === to)) return { ok: true, payload: null }
  const all = `the order's tracking numbers are: ${formatTrackingNumbers(known)}`
  return refuse(
    isFormer
      ? `is ${trackingNumber}, which no shipped unit of the order has any more; ${all}`
      : `is ${trackingNumber}, which is not a tracking number of the order; ${all}`,
  )
}

const isSame = (one: CorrectionPayload['replacement'], other: CorrectionPayload['replacement']): boolean =>
  normalMark(one.trackingNumber) === normalMark(other.trackingNumber) &&
  one.carrier.toLowerCase() === other.carrier.toLowerCase() &&
  one.trackingUrl === other.trackingUrl

/** Whether some of these units are not those that a correction brought under their number. */
const hasOthers = (
  units: readonly { readonly lineNumber: string; readonly quantity: number }[],
  { payload }: CorrectionCommand,
): boolean =>
  units.some(({ lineNumber, quantity }) => {
    const moved = payload.lines.find((line) => line.lineNumber === lineNumber)?.quantity ?? 0
    return quantity > moved
  })

const findTrackedLines = (
  order: PurchaseOrder,
  commands: readonly LedgerCommand[],
  findState: Vocabulary['statuses']['findState'],
): TrackedLines => {
  const tracked: TrackedLines = new Map()
  const findLine = (lineNumber: string): Map<string, TrackedUnits> => {
    const line = tracked.get(lineNumber) ?? new Map<string, TrackedUnits>()
    tracked.set(lineNumber, line)
    return line
  }
  for (const line of order.lines) {
    for (const { status, quantity, trackingNumber, shippedAt, methodCode } of line.statuses) {
      if (trackingNumber === null || findState(status) !== 'shipped') continue
      const units = { trackingNumber, quantity, shippedAt: shippedAt?.toISOString() ?? null, method: methodCode }
      putUnits(findLine(line.lineNumber), units)
    }
  }
  // What is confirmed is shown already, or was changed since.
  for (const command of commands.filter(({ state }) => state !== 'confirmed')) {
    if (command.kind === 'ship') {
      for (const [lineNumber, parcels] of listParcels(command.payload)) {
        const line = findLine(lineNumber)
        for (const [mark, units] of parcels) {
          // A request that may have left, or a prediction, may be shown already.
          const shown = isInFlight(command.state) || command.state === 'predicted' ? line.get(mark) : undefined
          if (shown === undefined) putUnits(line, units)
          else if (shown.quantity < units.quantity) line.set(mark, { ...shown, quantity: units.quantity })
        }
      }
    }
    if (command.kind === 'correct-shipment') {
      const { trackingNumber, replacement, lines } = command.payload
      for (const { lineNumber } of lines) moveUnits(findLine(lineNumber), normalMark(trackingNumber), replacement.trackingNumber)
    }
  }
  return tracked
}

/** Units of a shipment by line, then by tracking number: several of its parcels may have the same one. */
const listParcels = ({ parcels }: ShipPayload): TrackedLines => {
  const tracked: TrackedLines = new Map()
  for (const { trackingNumber, shippedAt, method, lines } of parcels) {
    for (const { lineNumber, quantity } of lines) {
      const line = tracked.get(lineNumber) ?? new Map<string, TrackedUnits>()
      tracked.set(lineNumber, line)
      putUnits(line, { trackingNumber, quantity, shippedAt, method })
    }
  }
  return tracked
}

const putUnits = (line: Map<string, TrackedUnits>, units: TrackedUnits): void => {
  const mark = normalMark(units.trackingNumber)
  const same = line.get(mark)
  const quantity = (same?.quantity ?? 0) + units.quantity
  line.set(mark, {
    trackingNumber: same?.trackingNumber ?? units.trackingNumber,
    quantity,
    shippedAt: same?.shippedAt ?? units.shippedAt,
    method: same?.method ?? units.method,
  })
}

const moveUnits = (line: Map<string, TrackedUnits>, from: string, trackingNumber: string): void => {
  const units = line.get(from)
  if (units === undefined) return
  line.delete(from)
  putUnits(line, { ...units, trackingNumber })
}

/** When units left that the marketplace shows without a time: by our own shipment, by the parcel as it was shown before, or by the line. */
const findShippedAt = (
  order: PurchaseOrder,
  commands: readonly LedgerCommand[],
  lineNumber: string,
  mark: string,
): string | null => {
  const parcels = commands.flatMap((command) => (command.kind === 'ship' ? command.payload.parcels : []))
  const own = parcels.findLast(
    ({ trackingNumber, lines }) => normalMark(trackingNumber) === mark && lines.some((line) => line.lineNumber === lineNumber),
  )
  const line = order.lines.find((one) => one.lineNumber === lineNumber)
  const shown = line?.shipments.find(
    ({ trackingNumber, shippedAt }) => shippedAt !== null && normalMark(trackingNumber ?? '') === mark,
  )
  return own?.shippedAt ?? shown?.shippedAt?.toISOString() ?? line?.statusDate?.toISOString() ?? null
}
