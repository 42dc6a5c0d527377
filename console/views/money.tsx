import { api, readAnswer, type Schemas } from '../lib/api.ts'
import { count, pluralize } from '../lib/format.ts'
import { usePage } from '../lib/page.ts'
import { type Address, listFilters, readChoice, readChoices, readParameters, useAddress } from '../lib/router.ts'
import { ChoiceFilter, Filters, SellerFilter, TextFilter } from '../parts/filters.tsx'
import { OrderLink } from '../parts/orders.tsx'
import { type Column, List, sellerColumn } from '../parts/table.tsx'
import { Tabs } from '../parts/tabs.tsx'
import { Money as Amount, Badge, None, Time, type Tone } from '../parts/text.tsx'
import { ClaimItems, claimKindOptions, claimStateOptions, MonthFilter } from './claims.tsx'

type Difference = Schemas['SettlementDifference']
type Payment = Schemas['ClaimPayment']
type Inbound = Schemas['InboundShipmentLine']

const kinds = [
  'paid-less',
  'paid-more',
  'paid-twice',
  'never-paid',
  'refund-without-return',
  'commission-off-rate',
  'unknown-fee',
] as const satisfies readonly Difference['kind'][]
const kindNames = {
  'paid-less': 'paid less',
  'paid-more': 'paid more',
  'paid-twice': 'paid twice',
  'never-paid': 'never paid',
  'refund-without-return': 'refund without return',
  'commission-off-rate': 'commission off its rate',
  'unknown-fee': 'unknown fee',
} as const satisfies Readonly<Record<Difference['kind'], string>>
const kindOptions = [['', 'All'], ...kinds.map((kind) => [kind, kindNames[kind]] as const)] as const
const states = ['resolved', 'all'] as const
const stateOptions = [
  ['', 'Open'],
  ['resolved', 'Resolved'],
  ['all', 'All'],
] as const

/** The rows of reports that a difference comes from. */
const ReportRows = ({ rows, currency }: Pick<Difference, 'rows' | 'currency'>) =>
  rows.length === 0 ? (
    <span class="faint">no row</span>
  ) : (
    <details>
      <summary>{pluralize(rows.length, 'row')}</summary>
      <ul class="plain">
        {rows.map(({ lineKey, transactionType, amountType, description, postedOn, amount }) => (
          <li key={lineKey}>
            {transactionType}
            {amountType === null ? '' : `, ${amountType}`}: <Amount amount={amount} currency={currency} />
            {description === null ? '' : `, ${description}`}
            {postedOn === null ? '' : `, posted ${postedOn}`} <span class="faint whole">({lineKey})</span>
          </li>
        ))}
      </ul>
    </details>
  )

const differenceColumns: readonly Column<Difference>[] = [
  {
    head: 'Order',
    cell: ({ sellerId, purchaseOrderId, lineNumber }) =>
      purchaseOrderId === null ? (
        <None />
      ) : (
        <>
          <OrderLink sellerId={sellerId} purchaseOrderId={purchaseOrderId} />
          {lineNumber === null ? '' : `, line ${lineNumber}`}
        </>
      ),
  },
  { head: 'SKU', cell: ({ sku }) => sku ?? <None /> },
  sellerColumn,
  { head: 'Kind', wraps: true, cell: ({ kind }) => kindNames[kind] },
  {
    head: 'Expected',
    number: true,
    cell: ({ expectedAmount, currency }) => <Amount amount={expectedAmount} currency={currency} />,
  },
  { head: 'Paid', number: true, cell: ({ paidAmount, currency }) => <Amount amount={paidAmount} currency={currency} /> },
  { head: 'Difference', number: true, cell: ({ difference, currency }) => <Amount amount={difference} currency={currency} /> },
  { head: 'Rows of reports', wraps: true, cell: (row) => <ReportRows {...row} /> },
  { head: 'First seen', cell: ({ firstSeenAt }) => <Time at={firstSeenAt} /> },
  {
    head: 'State',
    wraps: true,
    cell: ({ state, resolution, resolvedAt }) =>
      state === 'open' ? (
        <Badge tone="warn">open</Badge>
      ) : (
        <>
          <Badge tone="good">{resolution === 'withdrawn' ? 'order no longer stored' : 'settled'}</Badge> <Time at={resolvedAt} />
        </>
      ),
  },
]

const Differences = ({ at }: { readonly at: Address }) => {
  const query = {
    ...readParameters(at, ['sellerId', 'purchaseOrderId', 'sku']),
    ...readChoices(at, { kind: kinds, state: states }),
  }
  const differences = usePage(
    'settlement-differences',
    at,
    query,
    (page) => readAnswer(api.GET('/v1/settlement-differences', { params: { query: page } })),
    { topics: ['settlement'], everyMs: 60_000 },
  )
  return (
    <List
      caption="Settlement differences"
      query={differences}
      at={at}
      buildKey={({ id }) => id}
      empty={
        listFilters(at).length === 0
          ? 'There is no open difference: the settlement reports pay what the orders are due, as far as both are read.'
          : 'No difference matches the filters.'
      }
      csv={{ path: `/v1/settlement-differences?${new URLSearchParams(query)}`, name: 'settlement-differences' }}
      columns={differenceColumns}
    />
  )
}

const problems = {
  'no-sku': 'the row names no SKU',
  'no-claim': 'no claim of the SKU fits',
  'several-claims': 'several claims fit',
  'too-many-units': 'more units than a claim has left',
} as const satisfies Readonly<Record<NonNullable<Payment['problem']>, string>>

const assignedStates = ['true', 'false'] as const

const Reimbursements = ({ at }: { readonly at: Address }) => {
  const query = { ...readParameters(at, ['sellerId', 'sku']), ...readChoices(at, { assigned: assignedStates }) }
  const payments = usePage(
    'claim-payments',
    at,
    query,
    (page) => readAnswer(api.GET('/v1/claims/payments', { params: { query: page } })),
    { topics: ['settlement'], everyMs: 60_000 },
  )
  return (
    <List
      caption="Reimbursements"
      query={payments}
      at={at}
      buildKey={({ sellerId, lineKey }) => `${sellerId}/${lineKey}`}
      empty={
        listFilters(at).length === 0
          ? 'No settlement report that was read reimburses units.'
          : 'No reimbursement matches the filters.'
      }
      csv={{ path: `/v1/claims/payments?${new URLSearchParams(query)}`, name: 'reimbursements' }}
      columns={[
        { head: 'Row', cell: ({ lineKey }) => lineKey },
        { head: 'SKU', cell: ({ sku }) => sku ?? <None /> },
        sellerColumn,
        { head: 'For', wraps: true, cell: ({ description, reimburses }) => description ?? reimburses },
        { head: 'Units', number: true, cell: ({ units }) => (units === null ? <None /> : count(units)) },
        { head: 'Amount', number: true, cell: ({ amount, currency }) => <Amount amount={amount} currency={currency} /> },
        { head: 'Posted', cell: ({ postedOn }) => postedOn ?? <None /> },
        {
          head: 'Claim',
          wraps: true,
          cell: ({ claimId, problem }) =>
            claimId === null ? <Badge tone="warn">{problem === null ? 'not known' : problems[problem]}</Badge> : claimId,
        },
      ]}
    />
  )
}

const inboundNames = {
  open: 'open',
  complete: 'complete',
  short: 'short',
  over: 'more than sent',
  'unknown-sku': 'SKU not known',
} as const satisfies Readonly<Record<Inbound['state'], string>>
const inboundStates = ['not-received', 'short', 'unknown-sku', 'open', 'complete', 'over'] as const
const inboundOptions = [
  ['', 'All'],
  ...inboundStates.map((state) => [state, state === 'not-received' ? 'not received as sent' : inboundNames[state]] as const),
] as const
const inboundTones: Readonly<Record<Inbound['state'], Tone>> = {
  open: 'plain',
  complete: 'good',
  short: 'bad',
  over: 'warn',
  'unknown-sku': 'warn',
}

const InboundShipments = ({ at }: { readonly at: Address }) => {
  const query = { ...readParameters(at, ['sellerId', 'shipmentId', 'sku']), ...readChoices(at, { state: inboundStates }) }
  const lines = usePage(
    'inbound-shipments',
    at,
    query,
    (page) => readAnswer(api.GET('/v1/inbound-shipments', { params: { query: page } })),
    { topics: ['inventory'], everyMs: 60_000 },
  )
  return (
    <List
      caption="Inbound shipments"
      query={lines}
      at={at}
      buildKey={({ sellerId, shipmentId, sku }) => JSON.stringify([sellerId, shipmentId, sku])}
      empty={
        listFilters(at).length === 0
          ? 'The ERP has stated no inbound shipment (event erp.inbound.shipped).'
          : 'No inbound shipment matches the filters.'
      }
      csv={{ path: `/v1/inbound-shipments?${new URLSearchParams(query)}`, name: 'inbound-shipments' }}
      columns={[
        { head: 'Shipment', cell: ({ shipmentId }) => shipmentId },
        { head: 'SKU', cell: ({ sku }) => sku },
        sellerColumn,
        { head: 'Sent', number: true, cell: ({ sentUnits }) => count(sentUnits) },
        { head: 'Received', number: true, cell: ({ receivedUnits }) => count(receivedUnits) },
        { head: 'Shipped', cell: ({ shippedAt }) => <Time at={shippedAt} /> },
        {
          head: 'Delivered',
          cell: ({ deliveredAt, firstReceivedAt }) =>
            deliveredAt === null && firstReceivedAt === null ? <None /> : <Time at={deliveredAt ?? firstReceivedAt} />,
        },
        { head: 'Expected by', cell: ({ expectedBy }) => <Time at={expectedBy} /> },
        {
          head: 'State',
          wraps: true,
          cell: ({ state, late }) => (
            <>
              <Badge tone={inboundTones[state]}>{inboundNames[state]}</Badge>
              {late && state !== 'short' ? ' late' : ''}
            </>
          ),
        },
      ]}
    />
  )
}

const notes = {
  differences:
    'What settlement reports have paid for order lines, where it is not what they are due. A difference closes automatically when a later report settles it.',
  claims:
    'Units that can be claimed from the marketplace, the next deadline first. A person records what was filed and answered; a settlement report that reimburses the units records their payment.',
  reimbursements:
    'Rows of settlement reports that reimburse units, with the claim that each pays. A row whose claim is not certain changes no claim: record its payment for the right one.',
  inbound:
    'Units that the ERP has sent to fulfillment centers, beside their receipts in the inventory log. Missing units become claims from day 10 after the delivery.',
} as const

const tabs = [
  ['differences', 'Settlement differences'],
  ['claims', 'Claims'],
  ['reimbursements', 'Reimbursements'],
  ['inbound', 'Inbound shipments'],
] as const

/** Money: differences of settlement reports, claims by their deadline, the reimbursements that pay them, and inbound shipments. */
export const Money = () => {
  const at = useAddress()
  const shown = readChoice(at, 'show', ['claims', 'reimbursements', 'inbound']) ?? 'differences'
  return (
    <>
      <h1 tabIndex={-1}>Money</h1>
      <Tabs at={at} label="Parts of the money" tabs={tabs} shown={shown} />
      <p class="faint">{notes[shown]}</p>
      <Filters at={at}>
        {shown === 'claims' && <MonthFilter at={at} />}
        <SellerFilter at={at} />
        {shown === 'differences' && <TextFilter at={at} name="purchaseOrderId" label="Order" />}
        <TextFilter at={at} name="sku" label="SKU" />
        {shown === 'differences' && <ChoiceFilter at={at} name="kind" label="Kind" options={kindOptions} />}
        {shown === 'differences' && <ChoiceFilter at={at} name="state" label="State" options={stateOptions} />}
        {shown === 'claims' && <ChoiceFilter at={at} name="kind" label="Kind" options={claimKindOptions} />}
        {shown === 'claims' && <ChoiceFilter at={at} name="state" label="State" options={claimStateOptions} />}
        {shown === 'inbound' && <TextFilter at={at} name="shipmentId" label="Shipment" />}
        {shown === 'inbound' && <ChoiceFilter at={at} name="state" label="State" options={inboundOptions} />}
        {shown === 'reimbursements' && (
          <ChoiceFilter
            at={at}
            name="assigned"
            label="Claim"
            options={[
              ['', 'All'],
              ['false', 'Not known'],
              ['true', 'Known'],
            ]}
          />
        )}
      </Filters>
      {shown === 'differences' && <Differences at={at} />}
      {shown === 'claims' && <ClaimItems at={at} byDeadline />}
      {shown === 'reimbursements' && <Reimbursements at={at} />}
      {shown === 'inbound' && <InboundShipments at={at} />}
    </>
  )
}
