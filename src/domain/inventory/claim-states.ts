/**
 * States of a claim. open: it can be filed; filed, paid-in-part, paid, refused: set by a person; expired: it was not filed by its deadline;
 * withdrawn: a later report or log shows that nothing is missing.
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
}

const dayMs = 86_400_000

/**
 * The usual windows. Return disputes close 45 days after their window opens (public facts, section 13). For lost and damaged units no window is
 * published; reports of six months are read again.
 */
export const claimWindows: ClaimWindows = { inventoryMs: 180 * dayMs, returnsMs: 45 * dayMs }
