/**
 * States of a claim. open: it can be filed; filed, refused: set by a person; paid-in-part, paid: set by a person or by a settlement report; expired: it was
 * not filed by its deadline; withdrawn: a later report or log shows that nothing is missing.
 */
export const claimStates = ['open', 'filed', 'paid-in-part', 'paid', 'refused', 'expired', 'withdrawn'] as const

/** A state of a claim. */
export type ClaimState = (typeof claimStates)[number]

/** States that a person sets. */
export const claimDecisions = ['open', 'filed', 'paid-in-part', 'paid', 'refused'] as const

/** A state that a person sets. */
export type ClaimDecision = (typeof claimDecisions)[number]

/**
 * Certainty of a claim. reported: the report states the units; compared: report and log were compared; not-compared: the log was not read far
 * enough.
 */
export const claimCertainties = ['reported', 'compared', 'not-compared'] as const

/** The certainty of a claim. */
export type ClaimCertainty = (typeof claimCertainties)[number]

/** How long claims can be filed, in milliseconds. */
export interface ClaimWindows {
  /** From the end of the month whose report shows the loss. */
  readonly inventoryMs: number
  /** Claims for returned units: from the first day of the difference. */
  readonly returnsMs: number
  /** Claims for units of inbound shipments: from this time after the delivery … */
  readonly inboundFromMs: number
  /** … to this time after it. */
  readonly inboundMs: number
}

const dayMs = 86_400_000

/**
 * The usual windows. Return disputes close 45 days after their window opens (public facts, section 13). For lost and damaged units no window is
 * published; reports of six months are read again. Inbound shipments are disputed from day 10 to day 50 after their delivery (public facts, section 13).
 */
export const claimWindows: ClaimWindows = {
  ...{ inventoryMs: 180 * dayMs, returnsMs: 45 * dayMs },
  ...{ inboundFromMs: 10 * dayMs, inboundMs: 50 * dayMs },
}
