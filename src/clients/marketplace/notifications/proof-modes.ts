/** How the marketplace can prove its notifications (public facts, section 15). */
export const proofModes = ['basic', 'hmac', 'oauth'] as const
/** One of {@link proofModes}. */
export type ProofMode = (typeof proofModes)[number]
