import { z } from 'zod'
import {
  type CommandContent,
  cancelPayloadSchema,
  type OrderCommandContent,
  refundPayloadSchema,
  refundReturnPayloadSchema,
  shipPayloadSchema,
  unitKinds,
} from './command.ts'
import { orderBaselineSchema } from './evidence.ts'

/** An operator's verdict on units of a line: applied, not applied (and must not be), or to be sent again. */
export const verdicts = ['applied', 'not-applied', 'send-again'] as const
/** One of {@link verdicts}. */
export type LineVerdict = (typeof verdicts)[number]

/** An operator's verdict on units of one line of a command. */
export interface LineDecision {
  readonly lineNumber: string
  readonly verdict: LineVerdict
  /** Default: all units of the line in the command (with this mark). */
  readonly quantity?: number | undefined
  /** For shipments: the parcel, if the line's units are distributed over several. */
  readonly trackingNumber?: string | undefined
  /** For cancellations and refunds: the entry, if the line has several. */
  readonly reason?: string | undefined
}

/**
 * A command of which an operator has decided parts. Applied units count as done, on top of the order's state before; `open` is what is
 * still to be sent, null if nothing. The command itself keeps the original request.
 */
export const decidedPartsSchema = z.object({
  applied: z.array(z.object({ payload: z.unknown(), baseline: orderBaselineSchema.nullable() })),
  open: z.unknown().nullable(),
})
/** See {@link decidedPartsSchema}. */
export type DecidedParts = z.infer<typeof decidedPartsSchema>

/** A command that reserves units. */
export type UnitCommandContent = Exclude<OrderCommandContent, { kind: 'acknowledge' | 'correct-shipment' }>

/** A command divided by an operator's verdicts; null for a verdict without units. */
export interface CutCommand {
  readonly applied: UnitCommandContent | null
  readonly sendAgain: UnitCommandContent | null
}

/** A fault of a decision. */
export interface DecisionFault {
  /** Such as `lines[0].quantity`. */
  readonly path: string
  readonly message: string
}

/** Whether a command's units can be decided line by line. */
export const takesUnits = (content: CommandContent): content is UnitCommandContent =>
  content.kind !== 'create-shipping-settings' && unitKinds[content.kind] !== null

interface Entry {
  readonly lineNumber: string
  readonly mark: string
  readonly quantity: number
  /** Money belongs to the units of an entry as a whole. */
  readonly whole: boolean
  left: number
  readonly taken: Record<LineVerdict, number>
}

const markName = { ship: 'trackingNumber', cancel: 'reason', refund: 'reason', 'refund-return': 'reason' } as const

const buildEntries = (content: UnitCommandContent): Entry[] => {
  const entry = (lineNumber: string, mark: string, quantity: number): Entry => ({
    lineNumber,
    mark,
    quantity,
    whole: unitKinds[content.kind] === 'refund',
    left: quantity,
    taken: { applied: 0, 'not-applied': 0, 'send-again': 0 },
  })
  if (content.kind === 'ship') {
    return content.payload.parcels.flatMap(({ trackingNumber, lines }) =>
      lines.map(({ lineNumber, quantity }) => entry(lineNumber, trackingNumber, quantity)),
    )
  }
  return content.payload.lines.map(({ lineNumber, quantity, reason }) => entry(lineNumber, reason ?? '', quantity))
}

/** The payload with so many units of each entry, in the order of {@link buildEntries}; null when none are left. */
const narrow = (content: UnitCommandContent, quantities: readonly number[]): UnitCommandContent | null => {
  if (quantities.every((quantity) => quantity === 0)) return null
  let at = 0
  const units = (): number => quantities[at++] ?? 0
  if (content.kind === 'ship') {
    const parcels = content.payload.parcels.map((parcel) => ({
      ...parcel,
      lines: parcel.lines.map((line) => ({ ...line, quantity: units() })).filter((line) => line.quantity > 0),
    }))
    return { kind: 'ship', payload: shipPayloadSchema.parse({ parcels: parcels.filter((parcel) => parcel.lines.length > 0) }) }
  }
  if (content.kind === 'cancel') {
    const lines = content.payload.lines.map((line) => ({ ...line, quantity: units() })).filter((line) => line.quantity > 0)
    return { kind: 'cancel', payload: cancelPayloadSchema.parse({ lines }) }
  }
  if (content.kind === 'refund-return') {
    const lines = content.payload.lines.filter(() => units() > 0)
    return { kind: 'refund-return', payload: refundReturnPayloadSchema.parse({ ...content.payload, lines }) }
  }
  const lines = content.payload.lines.filter(() => units() > 0)
  return { kind: 'refund', payload: refundPayloadSchema.parse({ lines }) }
}

/**
 * Divides a command by an operator's verdicts on its lines. Every unit of the command needs exactly one verdict; the money of a refund
 * belongs to the units of its entry as a whole, so an entry of a refund has one verdict only.
 */
export const cutCommand = (
  content: UnitCommandContent,
  decisions: readonly LineDecision[],
): { readonly ok: true; readonly cut: CutCommand } | { readonly ok: false; readonly faults: readonly DecisionFault[] } => {
  const entries = buildEntries(content)
  const faults: DecisionFault[] = []
  const name = markName[content.kind]
  for (const [index, decision] of decisions.entries()) {
    const path = `lines[${index}]`
    const mark = decision[name]
    const ofLine = entries.filter(({ lineNumber }) => lineNumber === decision.lineNumber)
    const meant = mark === undefined ? ofLine : ofLine.filter((entry) => entry.mark === mark)
    if (ofLine.length === 0) {
      faults.push({ path: `${path}.lineNumber`, message: `is ${decision.lineNumber}, a line that the command does not concern` })
      continue
    }
    if (meant.length === 0) {
      faults.push({ path: `${path}.${name}`, message: `must be one of ${ofLine.map((entry) => entry.mark).join(', ')}` })
      continue
    }
    const left = meant.reduce((sum, entry) => sum + entry.left, 0)
    const quantity = decision.quantity ?? left
    if (quantity > left || quantity === 0) {
      const message = left === 0 ? 'is decided already' : `must be from 1 to ${left}, the units that are not decided yet`
      faults.push({ path: `${path}.quantity`, message })
      continue
    }
    if (quantity < left && meant.length > 1) {
      faults.push({ path: `${path}.${name}`, message: `is needed: the units stand in ${meant.length} entries` })
      continue
    }
    if (meant.some((entry) => entry.whole) && quantity < left) {
      faults.push({ path: `${path}.quantity`, message: `must be ${left}: the money of a refund cannot be cut` })
      continue
    }
    for (const entry of meant) {
      const taken = Math.min(entry.left, quantity)
      entry.left -= taken
      entry.taken[decision.verdict] += taken
    }
  }
  if (faults.length === 0) {
    for (const entry of entries.filter(({ left }) => left > 0)) {
      faults.push({
        path: 'lines',
        message: `must say something of ${entry.left} more units of line ${entry.lineNumber} (${entry.mark})`,
      })
    }
  }
  if (faults.length > 0) return { ok: false, faults }
  const under = (verdict: LineVerdict) =>
    narrow(
      content,
      entries.map((entry) => entry.taken[verdict]),
    )
  return { ok: true, cut: { applied: under('applied'), sendAgain: under('send-again') } }
}
