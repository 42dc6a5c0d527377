/** `approving`: a person has approved it, and its event is being posted; the approval can be repeated. */
export const proposalStates = ['open', 'approving', 'approved', 'rejected'] as const
/** One of {@link proposalStates}. */
export type ProposalState = (typeof proposalStates)[number]

/** Source of the events of approved proposals; their id is that of the proposal. */
export const proposalSource = 'urn:tallyman:proposals'
