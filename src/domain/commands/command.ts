import { z } from 'zod'
import { shippingSettingsSchema } from '../campaigns/shipping-settings.ts'

/**
 * A command is one decision of the ERP on one subject, a purchase order or the seller's shipping settings, to be executed at the
 * marketplace exactly once (docs/events.md). These are the kinds.
 */
export const commandKinds = [
  'acknowledge',
  'ship',
  'cancel',
  'refund',
  'refund-return',
  'correct-shipment',
  'create-shipping-settings',
] as const

/** What a command does. */
export type CommandKind = (typeof commandKinds)[number]

/** The operation of the marketplace that a command of each kind calls. */
export const operationOfKind = {
  acknowledge: 'orders.acknowledge',
  ship: 'orders.ship',
  cancel: 'orders.cancel',
  refund: 'orders.refund',
  'correct-shipment': 'orders.ship',
  'refund-return': 'returns.refund',
  'create-shipping-settings': 'shipping-settings.create',
} as const satisfies Readonly<Record<CommandKind, string>>

/** The kinds that concern a purchase order. */
export type OrderCommandKind = Exclude<CommandKind, 'create-shipping-settings'>

/** The kinds whose requests are sent to a purchase order itself, not to a return of it. */
export type DirectCommandKind = Exclude<OrderCommandKind, 'refund-return'>

/** What units of a line are reserved for. */
export type UnitKind = 'ship' | 'cancel' | 'refund'

/** What a command reserves units for; null: none. Acknowledge concerns the whole purchase order; a correction moves no unit. */
export const unitKinds = {
  acknowledge: null,
  'correct-shipment': null,
  ship: 'ship',
  cancel: 'cancel',
  refund: 'refund',
  // A unit is refunded once, through its order or through its return.
  'refund-return': 'refund',
} as const satisfies Readonly<Record<OrderCommandKind, UnitKind | null>>

/**
 * State of a command.
 *
 * - pending: accepted; its request has not been sent, or is known not to have been applied.
 * - sending: the intent is stored; the request may have been sent.
 * - verifying: the outcome is unknown, the subject is being read back.
 * - held: an operator must decide.
 * - confirmed: applied. Final.
 * - rejected: refused by the marketplace, by our own rules or by an operator. Final; its units are released.
 * - predicted: its seller is in shadow mode: checked, and its request stored, but nothing was sent, and nothing will be. It reserves its units.
 * - withdrawn: it ended because its seller went live, predicted or not predicted yet. Final; its units are released.
 */
export const commandStates = [
  'pending',
  'sending',
  'verifying',
  'held',
  'confirmed',
  'rejected',
  'predicted',
  'withdrawn',
] as const

/** One of {@link commandStates}. */
export type CommandState = (typeof commandStates)[number]

/**
 * The legal transitions. An operator may also decide a command that is not held: it becomes pending, confirmed or rejected, from `sending` only
 * after its lease has expired.
 *
 * - pending -> sending: the intent is stored.
 * - pending -> confirmed: the goal is already reached (an order that someone else has acknowledged), nothing is sent; or an earlier attempt was applied.
 * - pending -> rejected: our own rules refuse it at the time of sending.
 * - pending -> predicted: its seller is in shadow mode.
 * - pending -> withdrawn, predicted -> withdrawn: the seller, which was in shadow mode, went live. It never becomes pending again.
 * - pending -> held: it could not be sent for too long, no process handled it, its content cannot be read, the marketplace has no such command, or
 *   the effect of an earlier or unrecorded request is unclear.
 * - sending -> confirmed | rejected: the answer shows the complete effect, or refuses the request.
 * - sending -> verifying: the outcome is unknown, or the answer does not show all of the effect.
 * - sending -> pending: certainly not processed (never left, or throttled).
 * - sending -> held: the sending was interrupted, and no process took the command over, or its content cannot be read.
 * - verifying -> confirmed: the subject read back shows the effect.
 * - verifying -> rejected: the marketplace refused it, or it can no longer be applied, and the subject read back shows that nothing was applied.
 * - verifying -> pending: the subject read back shows that nothing was applied; the request is sent again.
 * - verifying -> held: the effect is unclear, cannot be read back, or never appeared; or no process handled it, or its content cannot be read.
 * - held -> pending | confirmed | rejected: an operator decided (retry reads the subject, then sends again).
 */
export const commandTransitions: Readonly<Record<CommandState, readonly CommandState[]>> = {
  pending: ['sending', 'confirmed', 'rejected', 'predicted', 'withdrawn', 'held'],
  sending: ['confirmed', 'rejected', 'verifying', 'pending', 'held'],
  verifying: ['confirmed', 'rejected', 'pending', 'held'],
  held: ['pending', 'confirmed', 'rejected'],
  confirmed: [],
  rejected: [],
  predicted: ['withdrawn'],
  withdrawn: [],
}

/** States in which nothing more is done for a command, and the next command of its subject may run. */
export const settledStates = ['confirmed', 'rejected', 'predicted', 'withdrawn'] as const satisfies readonly CommandState[]

/** Whether nothing more is done for a command in this state. */
export const isSettled = (state: CommandState): boolean => commandTransitions[state].every((next) => next === 'withdrawn')

/** Whether a command in this state neither takes nor reserves units. */
export const isReleased = (state: CommandState): boolean => state === 'rejected' || state === 'withdrawn'

/** Whether the request of a command in this state may have reached the marketplace while its outcome is not settled. */
export const isInFlight = (state: CommandState): boolean => state === 'sending' || state === 'verifying' || state === 'held'

const lineNumber = z.string().min(1)
const quantity = z.int().positive()
const giveBack = z.string().regex(/^(-\d+(\.\d+)?|0(\.0+)?)$/, 'must be a negative decimal (or zero) as text, such as "-12.30"')
const currency = z.string().min(1)

const parcelLineSchema = z.object({
  lineNumber,
  quantity,
  /** Ships the line although its buyer has asked to cancel it. */
  intentToCancelOverride: z.boolean().optional(),
})

const parcelSchema = z.object({
  carrier: z.string().min(1),
  trackingNumber: z.string().min(1),
  trackingUrl: z.string().nullable(),
  method: z.string().nullable(),
  /** ISO 8601, UTC. Earlier versions stored what cannot be read back: nothing that lists or counts commands may stumble over it. */
  shippedAt: z.string(),
  lines: z.array(parcelLineSchema).min(1),
})

const refundTaxSchema = z.object({ taxName: z.string(), amount: giveBack, currency })

const refundChargeSchema = z.object({
  chargeType: z.string(),
  chargeName: z.string(),
  /** Without tax and fees; never positive (public facts 3.4: refund amounts are negative). */
  amount: giveBack,
  currency,
  tax: refundTaxSchema.nullable(),
  taxAndOtherFees: refundTaxSchema.optional(),
})

/** Payload of an acknowledge command: none, it concerns the whole purchase order. */
export const acknowledgePayloadSchema = z.object({})

/** Payload of a ship command. A line appears at most once in a parcel and may be spread over several parcels. */
export const shipPayloadSchema = z.object({ parcels: z.array(parcelSchema).min(1) })

/** Payload of a cancel command. A line appears once for each reason. */
export const cancelPayloadSchema = z.object({
  lines: z.array(z.object({ lineNumber, quantity, reason: z.string().min(1) })).min(1),
})

/** Payload of a refund command. A line appears once for each entry of the event. */
export const refundPayloadSchema = z.object({
  lines: z
    .array(
      z.object({
        lineNumber,
        quantity,
        reason: z.string().min(1),
        charges: z.array(refundChargeSchema).min(1),
        /** Which units of the line (0 to ordered - 1) this money belongs to; see refunds.ts. */
        slots: z.array(z.int().nonnegative()).optional(),
      }),
    )
    .min(1),
})

/** Payload of a command that corrects a shipment: the shipped units that get another tracking number. No unit moves. */
export const correctionPayloadSchema = z.object({
  /** The tracking number that is wrong, as it is known. */
  trackingNumber: z.string().min(1),
  replacement: z.object({
    carrier: z.string().min(1),
    trackingNumber: z.string().min(1),
    trackingUrl: z.string().nullable(),
  }),
  /** The units under the wrong number when the event was accepted. A line appears once. */
  lines: z
    .array(
      z.object({
        lineNumber,
        quantity,
        /** ISO 8601, UTC: when the units left. */
        shippedAt: z.string(),
        method: z.string().nullable(),
        /** The line's buyer has asked to cancel it: the marketplace wants that repeated for units that are shipped already. */
        intentToCancelOverride: z.boolean().optional(),
      }),
    )
    .min(1),
})

/**
 * Payload of a command that refunds units through their return (public facts 4.3). `lineNumber` is the line of the purchase order, whose unit ledger counts the
 * units; `returnLineNumber` is the line of the return. A line appears once for each line of the return that an entry of the event names.
 */
export const refundReturnPayloadSchema = z.object({
  returnOrderId: z.string().min(1),
  customerOrderId: z.string().min(1),
  lines: z
    .array(
      z.object({
        lineNumber,
        returnLineNumber: z.int(),
        quantity,
        reason: z.string().min(1).nullable(),
        /** The product charge of these units, which the marketplace is expected to give back: the request holds units only. */
        charges: z.array(refundChargeSchema),
        slots: z.array(z.int().nonnegative()).optional(),
      }),
    )
    .min(1),
})

/** Payload of a command that creates shipping settings: the settings as the ERP asks for them. */
export const shippingSettingsPayloadSchema = z.object({ simplifiedShippingSettings: shippingSettingsSchema })

/** Payload of an acknowledge command. */
export type AcknowledgePayload = z.infer<typeof acknowledgePayloadSchema>
/** Payload of a ship command. */
export type ShipPayload = z.infer<typeof shipPayloadSchema>
/** Payload of a cancel command. */
export type CancelPayload = z.infer<typeof cancelPayloadSchema>
/** Payload of a refund command. */
export type RefundPayload = z.infer<typeof refundPayloadSchema>
/** Payload of a command that corrects a shipment. */
export type CorrectionPayload = z.infer<typeof correctionPayloadSchema>
/** Payload of a command that refunds units through their return. */
export type RefundReturnPayload = z.infer<typeof refundReturnPayloadSchema>
/** Payload of a command that creates shipping settings. */
export type ShippingSettingsPayload = z.infer<typeof shippingSettingsPayloadSchema>
/** One line of a refund command. */
export type RefundLine = RefundPayload['lines'][number]
/** One refunded charge: negative amounts, as the marketplace requires. */
export type RefundCharge = RefundLine['charges'][number]
/** Any payload. */
export type CommandPayload =
  | AcknowledgePayload
  | ShipPayload
  | CancelPayload
  | RefundPayload
  | CorrectionPayload
  | RefundReturnPayload
  | ShippingSettingsPayload

/** Kind and payload of a command on a purchase order. */
export type OrderCommandContent =
  | { readonly kind: 'acknowledge'; readonly payload: AcknowledgePayload }
  | { readonly kind: 'ship'; readonly payload: ShipPayload }
  | { readonly kind: 'cancel'; readonly payload: CancelPayload }
  | { readonly kind: 'refund'; readonly payload: RefundPayload }
  | { readonly kind: 'correct-shipment'; readonly payload: CorrectionPayload }
  | { readonly kind: 'refund-return'; readonly payload: RefundReturnPayload }

/** Kind and payload of a command whose request is sent to a purchase order itself. */
export type DirectCommandContent = Extract<OrderCommandContent, { kind: DirectCommandKind }>

/** Kind and payload of a command on the seller's shipping settings. */
export interface ShippingSettingsContent {
  readonly kind: 'create-shipping-settings'
  readonly payload: ShippingSettingsPayload
}

/** A kind together with the payload of that kind. */
export type CommandContent = OrderCommandContent | ShippingSettingsContent

/** A command on a purchase order before it is stored. */
export type PlannedCommand = OrderCommandContent & { readonly purchaseOrderId: string }

const kindSchema = z.enum(commandKinds)

/**
 * Reads stored kind and payload back.
 *
 * @throws z.ZodError when the kind is unknown or the payload is not one of that kind.
 */
export const parseCommand = (kind: string, payload: unknown): CommandContent => {
  const known = kindSchema.parse(kind)
  switch (known) {
    case 'acknowledge':
      return { kind: known, payload: acknowledgePayloadSchema.parse(payload) }
    case 'ship':
      return { kind: known, payload: shipPayloadSchema.parse(payload) }
    case 'cancel':
      return { kind: known, payload: cancelPayloadSchema.parse(payload) }
    case 'refund':
      return { kind: known, payload: refundPayloadSchema.parse(payload) }
    case 'correct-shipment':
      return { kind: known, payload: correctionPayloadSchema.parse(payload) }
    case 'refund-return':
      return { kind: known, payload: refundReturnPayloadSchema.parse(payload) }
    case 'create-shipping-settings':
      return { kind: known, payload: shippingSettingsPayloadSchema.parse(payload) }
  }
}

/** A stored command as far as it can be parsed. */
export interface StoredContent {
  readonly content: CommandContent
  /** Why the command must not be sent, so that an operator has to decide; null if all of it was parsed. */
  readonly fault: string | null
}

/**
 * Parses a stored kind and payload of any content; never throws. What cannot be read becomes a command of its kind that takes the
 * units of `lines` (its `command_lines`), so that it counts in full in ledgers, can be listed, held and rejected; a kind that is not known
 * counts as a cancellation, which leaves its units to nobody else. Its other members are empty, and `fault` says so.
 */
export const readStoredCommand = (kind: string, payload: unknown, lines: readonly LineQuantity[]): StoredContent => {
  try {
    const content = parseCommand(kind, payload)
    return { content, fault: shippedAtFault(content) }
  } catch (error) {
    if (!(error instanceof z.ZodError)) throw error
    const [issue] = error.issues
    const where = issue === undefined || issue.path.length === 0 ? '' : ` at ${issue.path.map(String).join('.')}`
    return {
      content: unreadContent(kind, lines),
      fault: `what is stored of it cannot be read${where}: ${issue?.message ?? 'unknown'}`,
    }
  }
}

const shippedAtFault = (content: CommandContent): string | null => {
  if (content.kind !== 'ship' && content.kind !== 'correct-shipment') return null
  const timed = content.kind === 'ship' ? content.payload.parcels : content.payload.lines
  const wrong = timed.find(({ shippedAt }) => !storedMoment.safeParse(shippedAt).success)
  return wrong === undefined ? null : `what is stored of it cannot be read: ${wrong.shippedAt} is no time of shipping`
}

const storedMoment = z.iso.datetime()

const unreadContent = (kind: string, lines: readonly LineQuantity[]): CommandContent => {
  const units = lines.map(({ lineNumber: line, quantity: count }) => ({ lineNumber: line, quantity: count }))
  switch (kind) {
    case 'acknowledge':
      return { kind, payload: {} }
    case 'create-shipping-settings':
      return { kind, payload: { simplifiedShippingSettings: { accountConfigs: { carrierConfigs: [] } } } }
    case 'ship': {
      const parcel = { carrier: '', trackingNumber: '', trackingUrl: null, method: null, shippedAt: '', lines: units }
      return { kind, payload: { parcels: [parcel] } }
    }
    case 'refund':
      return { kind, payload: { lines: units.map((line) => ({ ...line, reason: '', charges: [] })) } }
    case 'correct-shipment': {
      const replacement = { carrier: '', trackingNumber: '', trackingUrl: null }
      const shipped = units.map((line) => ({ ...line, shippedAt: '', method: null }))
      return { kind, payload: { trackingNumber: '', replacement, lines: shipped } }
    }
    case 'refund-return': {
      const lines = units.map((line) => ({ ...line, returnLineNumber: 0, reason: null, charges: [] }))
      return { kind, payload: { returnOrderId: '', customerOrderId: '', lines } }
    }
    default:
      return { kind: 'cancel', payload: { lines: units.map((line) => ({ ...line, reason: '' })) } }
  }
}

/** A number of units of a line. */
export interface LineQuantity {
  readonly lineNumber: string
  readonly quantity: number
}

/** The units of a payload, one entry per line, in order of first appearance; none for acknowledge and for shipping settings. */
export const listUnits = (payload: CommandPayload): LineQuantity[] => {
  const totals = new Map<string, number>()
  const entries =
    'parcels' in payload ? payload.parcels.flatMap((parcel) => parcel.lines) : 'lines' in payload ? payload.lines : []
  for (const entry of entries) totals.set(entry.lineNumber, (totals.get(entry.lineNumber) ?? 0) + entry.quantity)
  return [...totals].map(([line, total]) => ({ lineNumber: line, quantity: total }))
}
