import { formatAmount } from '../values/money.ts'

/** Evidence of claims as a table (CSV) and as a page to print (HTML), for the marketplace's support. */

/** A row of a report as it came. */
export interface EvidenceRow {
  readonly month: string
  readonly fileName: string | null
  /** ISO 8601. */
  readonly generatedAt: string | null
  /** Its columns by their headers. */
  readonly columns: Readonly<Record<string, string>>
}

/** An entry of the inventory log. */
export interface EvidenceEntry {
  readonly id: string
  /** ISO 8601. */
  readonly transactionTime: string
  readonly changedUnits: number
  readonly movement: string
  readonly fcName: string | null
  readonly shipmentId: string | null
  readonly type: string | null
  readonly reasonCode: string | null
  readonly reasonDescription: string | null
  readonly location: string | null
}

/** A row of a settlement report that has paid a claim. */
export interface EvidencePayment {
  /** Report and position of the row. */
  readonly lineKey: string
  /** `YYYY-MM-DD`. */
  readonly reportDate: string
  readonly postedOn: string | null
  readonly description: string | null
  readonly units: number | null
  readonly amount: string
  readonly currency: string | null
}

/** A claim with its evidence. */
export interface ClaimEvidence {
  readonly id: string
  readonly sellerId: string
  readonly sku: string
  readonly gtin: string | null
  readonly month: string
  readonly kind: string
  readonly units: number
  readonly certainty: string
  readonly value: string | null
  readonly currency: string | null
  readonly state: string
  /** ISO 8601. */
  readonly deadline: string | null
  readonly reference: string | null
  /** The inbound shipment; null: units of the month. */
  readonly shipmentId: string | null
  /** Fulfilment centers of the entries of the kind. */
  readonly centers: readonly string[]
  readonly arithmetic: readonly string[]
  readonly reportRows: readonly EvidenceRow[]
  readonly logEntries: readonly EvidenceEntry[]
  /** Rows of settlement reports that have paid the claim. */
  readonly payments: readonly EvidencePayment[]
  /** Entries that are left out, because a month has too many. */
  readonly omittedEntries: number
}

const headings = [
  'claim',
  'seller',
  'sku',
  'gtin',
  'month',
  'kind',
  'part',
  'time',
  'units',
  'center',
  'reference',
  'text',
  'deadline',
] as const

// Text that a spreadsheet would execute begins with an apostrophe, as in all tables of the interface.
const buildCell = (value: string | number | null): string => {
  const text = String(value ?? '')
  const safe = typeof value === 'string' && /^[=+\-@\t\r]/.test(text) ? `'${text}` : text
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}

/** The evidence as CSV (RFC 4180): one row for each claim, step of its arithmetic, row of a report and entry of the log. */
export const toEvidenceCsv = (claims: readonly ClaimEvidence[]): string => {
  const rows = claims.flatMap((claim) => {
    const of = [claim.id, claim.sellerId, claim.sku, claim.gtin, claim.month, claim.kind]
    const worth = claim.value === null ? 'without a known price' : formatAmount(claim.value, claim.currency)
    return [
      [
        ...of,
        'claim',
        null,
        claim.units,
        claim.centers.join(' '),
        claim.reference,
        `${claim.state}, ${claim.certainty}, ${worth}`,
        claim.deadline,
      ],
      ...claim.arithmetic.map((text) => [...of, 'arithmetic', null, null, null, null, text]),
      ...claim.reportRows.map((row) => [
        ...of,
        'report',
        row.generatedAt,
        null,
        null,
        row.fileName,
        `${row.month}: ${JSON.stringify(row.columns)}`,
      ]),
      ...claim.logEntries.map((entry) => [
        ...of,
        'log',
        entry.transactionTime,
        entry.changedUnits,
        entry.fcName,
        entry.id,
        [entry.movement, entry.type, entry.reasonCode, entry.reasonDescription, entry.location, entry.shipmentId]
          .filter((text) => text !== null)
          .join(', '),
      ]),
      ...claim.payments.map((payment) => [
        ...of,
        'payment',
        payment.postedOn,
        payment.units,
        null,
        payment.lineKey,
        `${payment.description ?? 'reimbursement'}: ${formatAmount(payment.amount, payment.currency)}`,
      ]),
    ]
  })
  return [[...headings], ...rows.map((cells) => headings.map((_, at) => cells[at] ?? null))]
    .map((cells) => `${cells.map(buildCell).join(',')}\r\n`)
    .join('')
}

const entities: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' }
const escapeHtml = (value: string | number | null): string =>
  String(value ?? '').replaceAll(/[&<>"']/g, (character) => entities[character] ?? '')

const buildTable = (caption: string, heads: readonly string[], rows: readonly (readonly (string | number | null)[])[]): string =>
  rows.length === 0
    ? `<p>${escapeHtml(caption)}: none.</p>`
    : `<table><caption>${escapeHtml(caption)}</caption><thead><tr>${heads.map((head) => `<th scope="col">${escapeHtml(head)}</th>`).join('')}</tr></thead>
<tbody>${rows.map((cells) => `<tr>${cells.map((cell) => `<td>${escapeHtml(cell)}</td>`).join('')}</tr>`).join('\n')}</tbody></table>`

const buildPayments = (payments: readonly EvidencePayment[]): string =>
  buildTable(
    'Payments by settlement reports',
    ['Report', 'Row', 'Posted on', 'Description', 'Units', 'Amount'],
    payments.map(({ reportDate, lineKey, postedOn, description, units, amount, currency }) => [
      ...[reportDate, lineKey, postedOn, description, units],
      formatAmount(amount, currency),
    ]),
  )

const lossNames: Readonly<Record<string, string>> = { returned: 'returned and not counted', inbound: 'not received' }

/** What happened to the units of a claim of this kind, as a person calls it. */
export const nameLoss = (kind: string): string => lossNames[kind] ?? kind

const buildSection = (claim: ClaimEvidence): string => {
  const title = `${claim.units} ${nameLoss(claim.kind)} of ${claim.sku}, ${claim.month}`
  const facts = [
    `Claim ${claim.id}`,
    `seller ${claim.sellerId}`,
    ...(claim.shipmentId === null ? [] : [`inbound shipment ${claim.shipmentId}`]),
    ...(claim.gtin === null ? [] : [`GTIN ${claim.gtin}`]),
    ...(claim.centers.length === 0 ? [] : [`fulfilment centers ${claim.centers.join(', ')}`]),
    ...(claim.reference === null ? [] : [`case ${claim.reference}`]),
    ...(claim.deadline === null ? [] : [`to be filed until ${claim.deadline}`]),
  ]
  const omitted = claim.omittedEntries > 0 ? `, the first ${claim.logEntries.length}` : ''
  return `<section><h2>${escapeHtml(title)}</h2>
<p>${escapeHtml(facts.join('; '))}.</p>
<ol>${claim.arithmetic.map((text) => `<li>${escapeHtml(text)}</li>`).join('\n')}</ol>
${claim.reportRows
  .map(({ month, fileName, generatedAt, columns }) =>
    buildTable(
      `Row of the report of ${month}${fileName === null ? '' : `, ${fileName}`}${generatedAt === null ? '' : `, generated ${generatedAt}`}`,
      Object.keys(columns),
      [Object.values(columns)],
    ),
  )
  .join('\n')}
${buildTable(
  `Entries of the inventory log${omitted}`,
  ['Time (UTC)', 'Units', 'Counted as', 'Type', 'Reason', 'Description', 'Location', 'Center', 'Shipment', 'Id'],
  claim.logEntries.map((entry) => [
    entry.transactionTime,
    entry.changedUnits,
    entry.movement,
    entry.type,
    entry.reasonCode,
    entry.reasonDescription,
    entry.location,
    entry.fcName,
    entry.shipmentId,
    entry.id,
  ]),
)}
${claim.payments.length === 0 ? '' : buildPayments(claim.payments)}</section>`
}

/** The style of the page; a part of the page, so that the saved file is complete. */
const style = `body{font:14px/1.5 sans-serif;margin:2rem auto;max-width:70rem;padding:0 1rem}h2{border-top:1px solid;padding-top:1rem}
table{border-collapse:collapse;margin:1rem 0;font-size:12px;width:100%}caption{text-align:left;font-weight:bold;padding:.3rem 0}
th,td{border:1px solid #999;padding:.2rem .4rem;text-align:left;overflow-wrap:anywhere}section{break-inside:avoid-page}`

/** The evidence as a page of its own, without scripts and without links to other files. */
export const toEvidenceHtml = (title: string, claims: readonly ClaimEvidence[]): string => `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>${escapeHtml(title)}</title><style>${style}</style></head>
<body><h1>${escapeHtml(title)}</h1>
${claims.length === 0 ? '<p>There is no such claim.</p>' : claims.map(buildSection).join('\n')}
</body></html>
`
