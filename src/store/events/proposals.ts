import { type ProposalState, proposalStates } from '../../domain/events/proposal.ts'
import type { JsonObject } from '../../domain/values/json.ts'
import type { SqlRunner, Transaction } from '../db/database.ts'
import { parseEnumColumn } from '../db/enum-column.ts'
import { buildPage, type ListPage } from '../db/page.ts'
import { type SellerFilter, sellerCondition } from '../sellers/seller-filter.ts'

/** An event that a program proposes. */
export interface EventProposal {
  readonly id: bigint
  readonly sellerId: string
  readonly type: string
  /** Data of the event, with its `sellerId`. */
  readonly data: unknown
  /** Why the program proposes it. */
  readonly reason: string
  readonly state: ProposalState
  readonly proposedBy: string
  readonly proposedAt: Date
  readonly decidedBy: string | null
  readonly decidedAt: Date | null
  readonly decisionReason: string | null
}

const fromRow = (row: Omit<EventProposal, 'state'> & { readonly state: string }): EventProposal => ({
  ...row,
  state: parseEnumColumn(proposalStates, row.state),
})

const undecided: ProposalState[] = ['open', 'approving']

/** Undecided proposals of these sellers. */
export const countUndecidedProposals = ({ prisma }: SqlRunner, sellers: SellerFilter): Promise<number> =>
  prisma.eventProposal.count({ where: { state: { in: undecided }, sellerId: sellerCondition(sellers) } })

/** Stores a proposal. */
export const createProposal = async (
  { prisma }: SqlRunner,
  proposal: Pick<EventProposal, 'sellerId' | 'type' | 'reason' | 'proposedBy'> & { readonly data: JsonObject },
): Promise<EventProposal> => fromRow(await prisma.eventProposal.create({ data: proposal }))

/** One proposal; null: there is none. */
export const readProposal = async ({ prisma }: SqlRunner, id: bigint): Promise<EventProposal | null> => {
  const row = await prisma.eventProposal.findUnique({ where: { id } })
  return row === null ? null : fromRow(row)
}

/** Which proposals to list. */
export interface ProposalFilter {
  readonly sellerId: SellerFilter
  /** Also those that are approved or rejected. */
  readonly all: boolean
}

/** Proposals, newest first, before this id. */
export const listProposals = async (
  { prisma }: SqlRunner,
  { sellerId, all }: ProposalFilter,
  before: bigint | null,
  limit: number,
): Promise<ListPage<EventProposal, bigint>> => {
  const rows = await prisma.eventProposal.findMany({
    where: {
      sellerId: sellerCondition(sellerId),
      ...(all ? {} : { state: { in: undecided } }),
      ...(before === null ? {} : { id: { lt: before } }),
    },
    orderBy: { id: 'desc' },
    take: limit + 1,
  })
  return buildPage(rows.map(fromRow), limit, ({ id }) => id)
}

/** A decision of a person. */
export interface ProposalDecision {
  readonly id: bigint
  readonly decidedBy: string
  readonly reason: string | null
}

/**
 * Begins the approval of an open proposal, or repeats one that did not end: the event is posted next. False: it is decided. It must exist.
 */
export const beginApproval = async (tx: Transaction, { id, decidedBy, reason }: ProposalDecision): Promise<boolean> =>
  (await tx.execute(
    `UPDATE tallyman.event_proposals SET state = 'approving', decided_by = $2, decided_at = now(), decision_reason = $3
     WHERE id = $1 AND state IN ('open', 'approving')`,
    id,
    decidedBy,
    reason,
  )) > 0

/** Ends an approval: its event is stored, or was refused, and the proposal is open again. */
export const endApproval = async (sql: SqlRunner, id: bigint, isStored: boolean): Promise<void> => {
  await sql.execute(
    isStored
      ? `UPDATE tallyman.event_proposals SET state = 'approved' WHERE id = $1 AND state = 'approving'`
      : `UPDATE tallyman.event_proposals SET state = 'open', decided_by = NULL, decided_at = NULL, decision_reason = NULL
         WHERE id = $1 AND state = 'approving'`,
    id,
  )
}

/** Rejects an open proposal. False: it is decided, or being approved. It must exist. */
export const rejectProposal = async (tx: Transaction, { id, decidedBy, reason }: ProposalDecision): Promise<boolean> =>
  (await tx.execute(
    `UPDATE tallyman.event_proposals SET state = 'rejected', decided_by = $2, decided_at = now(), decision_reason = $3
     WHERE id = $1 AND state = 'open'`,
    id,
    decidedBy,
    reason,
  )) > 0

/** Deletes proposals that were decided before this time. */
export const deleteOldProposals = async (sql: SqlRunner, keepMs: number): Promise<void> => {
  await sql.execute(
    `DELETE FROM tallyman.event_proposals
     WHERE state IN ('approved', 'rejected') AND decided_at < now() - make_interval(secs => $1::float8 / 1000)`,
    keepMs,
  )
}
