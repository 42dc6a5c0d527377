import { z } from 'zod'
import { Misused } from '../../../api-client/errors.ts'
import { type ClaimEvidence, nameLoss, toEvidenceCsv, toEvidenceHtml } from '../../../domain/inventory/claim-document.ts'
import { formatAmount } from '../../../domain/values/money.ts'
import type { CliContext } from '../../context.ts'
import { readList } from '../../output/lists.ts'
import { count, print, printFile, printJson, printMessage, printTable } from '../../output/terminal.ts'

const claimSchema = z.looseObject({
  id: z.union([z.string(), z.number()]),
  sellerId: z.string(),
  sku: z.string(),
  month: z.string(),
  kind: z.string(),
  shipmentId: z.string().nullable(),
  units: z.number(),
  certainty: z.string(),
  logRead: z.boolean(),
  value: z.string().nullable(),
  currency: z.string().nullable(),
  state: z.string(),
  deadline: z.string().nullable(),
  filedUnits: z.number().nullable(),
  reference: z.string().nullable(),
  paidAmount: z.string().nullable(),
})

const text = z.string().nullable()
const evidenceSchema: z.ZodType<{ readonly items: readonly ClaimEvidence[] }> = z.looseObject({
  items: z.array(
    z.looseObject({
      id: z.string(),
      sellerId: z.string(),
      sku: z.string(),
      gtin: text,
      month: z.string(),
      kind: z.string(),
      units: z.number(),
      certainty: z.string(),
      value: text,
      currency: text,
      state: z.string(),
      deadline: text,
      reference: text,
      shipmentId: text,
      centers: z.array(z.string()),
      arithmetic: z.array(z.string()),
      reportRows: z.array(
        z.looseObject({ month: z.string(), fileName: text, generatedAt: text, columns: z.record(z.string(), z.string()) }),
      ),
      logEntries: z.array(
        z.looseObject({
          ...{ id: z.string(), transactionTime: z.string(), changedUnits: z.number(), movement: z.string(), fcName: text },
          ...{ shipmentId: text, type: text, reasonCode: text, reasonDescription: text, location: text },
        }),
      ),
      payments: z.array(
        z.looseObject({
          ...{ lineKey: z.string(), reportDate: z.string(), postedOn: text, description: text, units: z.number().nullable() },
          ...{ amount: z.string(), currency: text },
        }),
      ),
      omittedEntries: z.number(),
    }),
  ),
})

/** `tallyman claims list`. */
export const listClaims = async (
  { terminal, daemon }: CliContext,
  query: { readonly month: string | null; readonly sellerId: string | null; readonly state: string; readonly limit: number },
): Promise<void> => {
  const { limit, ...filter } = query
  const { items, more } = await readList(daemon, '/v1/claims/items', claimSchema, limit, filter)
  if (terminal.json) return printJson(terminal, { items, more })
  printTable(
    terminal,
    [
      { heading: 'id' },
      { heading: 'sku' },
      { heading: 'month' },
      { heading: 'kind' },
      { heading: 'units', align: 'right' },
      { heading: 'value', align: 'right' },
      { heading: 'certainty' },
      { heading: 'state' },
      { heading: 'deadline' },
      { heading: 'seller' },
    ],
    items.map((claim) => [
      String(claim.id),
      claim.sku,
      claim.month,
      claim.shipmentId === null ? claim.kind : `${claim.kind} ${claim.shipmentId}`,
      String(claim.units),
      claim.value === null ? '' : formatAmount(claim.value, claim.currency),
      claim.logRead ? claim.certainty : `${claim.certainty}, log pending`,
      claim.state,
      claim.deadline ?? '',
      claim.sellerId,
    ]),
  )
  if (more) printMessage(terminal, 'there are more; --limit shows them')
}

const paymentSchema = z.looseObject({
  ...{ sellerId: z.string(), lineKey: z.string(), claimId: z.union([z.string(), z.number()]).nullable(), problem: text },
  ...{ reimburses: z.string(), sku: text, amount: z.string(), currency: text, units: z.number().nullable(), postedOn: text },
})

/** `tallyman claims payments`: reimbursements of settlement reports, with their claims. */
export const listClaimPayments = async (
  { terminal, daemon }: CliContext,
  query: { readonly sellerId: string | null; readonly assigned: boolean | null; readonly limit: number },
): Promise<void> => {
  const { limit, ...filter } = query
  const { items, more } = await readList(daemon, '/v1/claims/payments', paymentSchema, limit, filter)
  if (terminal.json) return printJson(terminal, { items, more })
  printTable(
    terminal,
    [
      { heading: 'row' },
      { heading: 'sku' },
      { heading: 'for' },
      { heading: 'units', align: 'right' },
      { heading: 'amount', align: 'right' },
      { heading: 'posted' },
      { heading: 'claim' },
      { heading: 'seller' },
    ],
    items.map((payment) => [
      payment.lineKey,
      payment.sku ?? '',
      payment.reimburses,
      payment.units === null ? '' : String(payment.units),
      formatAmount(payment.amount, payment.currency),
      payment.postedOn ?? '',
      payment.claimId === null ? (payment.problem ?? '') : String(payment.claimId),
      payment.sellerId,
    ]),
  )
  if (more) printMessage(terminal, 'there are more; --limit shows them')
}

/** `tallyman claims show`: a claim with its evidence. */
export const showClaim = async ({ terminal, daemon }: CliContext, id: string): Promise<void> => {
  const path = `/v1/claims/${encodeURIComponent(id)}`
  const claim = await daemon.get(path, claimSchema)
  const { items } = await daemon.get(`${path}/evidence`, evidenceSchema)
  const [evidence] = items
  if (terminal.json) return printJson(terminal, { claim, evidence })
  const worth = claim.value === null ? '' : `, worth ${formatAmount(claim.value, claim.currency)}`
  print(
    terminal,
    `claim ${claim.id}: ${claim.units} ${nameLoss(claim.kind)} of ${claim.sku} in ${claim.month}${worth}; ${claim.state}`,
  )
  if (claim.filedUnits !== null) {
    const reference = claim.reference === null ? '' : ` as ${claim.reference}`
    const paid = claim.paidAmount === null ? '' : `; paid ${formatAmount(claim.paidAmount, claim.currency)}`
    print(terminal, `filed with ${count(claim.filedUnits, 'unit')}${reference}${paid}`)
  } else if (claim.deadline !== null) print(terminal, `to be filed by ${claim.deadline}`)
  for (const { lineKey, postedOn, description, units, amount, currency } of evidence?.payments ?? [])
    print(
      terminal,
      `paid by row ${lineKey}${postedOn === null ? '' : ` of ${postedOn}`}: ${description ?? 'reimbursement'}, ` +
        `${units === null ? 'units not stated' : count(units, 'unit')}, ${formatAmount(amount, currency)}`,
    )
  if (!claim.logRead) print(terminal, 'the log of the SKU has not been read in full since the difference was found')
  for (const line of evidence?.arithmetic ?? []) print(terminal, `  ${line}`)
  printTable(
    terminal,
    [
      { heading: 'time' },
      { heading: 'units', align: 'right' },
      { heading: 'counted as' },
      { heading: 'center' },
      { heading: 'shipment' },
      { heading: 'entry' },
    ],
    (evidence?.logEntries ?? []).map((entry) => [
      entry.transactionTime,
      String(entry.changedUnits),
      entry.movement,
      entry.fcName ?? '',
      entry.shipmentId ?? '',
      entry.id,
    ]),
  )
}

/** `tallyman claims file`, `tallyman claims close`: sets the state of a claim. */
export const decideClaim = async (
  { terminal, daemon }: CliContext,
  { id, ...body }: { readonly id: string; readonly state: string; readonly actor: string } & Readonly<Record<string, unknown>>,
): Promise<void> => {
  const claim = await daemon.post(`/v1/claims/${encodeURIComponent(id)}`, claimSchema, { body })
  if (terminal.json) printJson(terminal, claim)
  else print(terminal, `claim ${claim.id} is ${claim.state}`)
}

/** `tallyman claims export`: the evidence of a claim or of a month. @throws Misused unless exactly one of them is given */
export const exportClaims = async (
  { terminal, daemon }: CliContext,
  asked: {
    readonly id: string | null
    readonly month: string | null
    readonly sellerId: string | null
    readonly state: string
    readonly format: 'csv' | 'html'
  },
): Promise<void> => {
  const { id, month, sellerId, state, format } = asked
  if ((id === null) === (month === null)) throw new Misused('give either a claim (its id) or a month (--month 2026-03)')
  const { items } =
    id === null
      ? await daemon.get('/v1/claims/evidence', evidenceSchema, { query: { month, sellerId, state } })
      : await daemon.get(`/v1/claims/${encodeURIComponent(id)}/evidence`, evidenceSchema)
  if (terminal.json) return printJson(terminal, { items })
  if (items.length === 0) {
    const found = state === 'all' ? `no claim of ${month}` : `no claim of ${month} is ${state}; --state all exports the others`
    printMessage(terminal, found)
  }
  const title = id === null ? `Claims for ${month}` : `Claim ${id}`
  printFile(terminal, format === 'csv' ? toEvidenceCsv(items) : toEvidenceHtml(title, items))
}
