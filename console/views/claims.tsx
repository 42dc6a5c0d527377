import { useState } from 'preact/hooks'
import { api, readAnswer, type Schemas } from '../lib/api.ts'
import { count } from '../lib/format.ts'
import { usePage } from '../lib/page.ts'
import { useMay } from '../lib/rights.ts'
import { type Address, listFilters, readChoices, readParameters } from '../lib/router.ts'
import { Field, ReasonDialog, readText } from '../parts/dialog.tsx'
import { buildOptions, TextFilter } from '../parts/filters.tsx'
import { List, sellerColumn } from '../parts/table.tsx'
import { Badge, Countdown, Money, None, type Tone } from '../parts/text.tsx'
import { toast } from '../parts/toasts.tsx'

type Item = Schemas['ClaimItem']

const kinds = ['lost', 'damaged', 'missing', 'returned', 'inbound'] as const
/** Kinds of claims, for the filter. */
export const claimKindOptions = buildOptions(kinds)
const stateNames: Readonly<Record<Item['state'], string>> = {
  open: 'open',
  filed: 'filed',
  'paid-in-part': 'paid in part',
  paid: 'paid',
  refused: 'refused',
  expired: 'expired',
  withdrawn: 'withdrawn',
}
const states = ['filed', 'paid-in-part', 'paid', 'refused', 'expired', 'withdrawn', 'all'] as const
/** States of claims, for the filter. */
export const claimStateOptions = [
  ['', 'Open'],
  ...states.map((state) => [state, state === 'all' ? 'all' : stateNames[state]] as const),
] as const

/** The month before this one, `YYYY-MM`: the newest whose report is complete. */
export const findPreviousMonth = (now: Date): string =>
  new Date(Date.UTC(now.getFullYear(), now.getMonth() - 1, 1)).toISOString().slice(0, 7)

/** Form of a month such as `2026-03`. */
export const monthPattern = '20\\d{2}-(0[1-9]|1[0-2])'

/** A field for the month of a report. */
export const MonthFilter = ({ at }: { readonly at: Address }) => (
  <TextFilter at={at} name="month" label="Month" placeholder={findPreviousMonth(new Date())} pattern={monthPattern} />
)

const tones: Readonly<Record<Item['state'], Tone>> = {
  open: 'warn',
  filed: 'plain',
  'paid-in-part': 'plain',
  paid: 'good',
  refused: 'bad',
  expired: 'bad',
  withdrawn: 'good',
}

const skuAddress = ({ sellerId, sku, month }: Item): string =>
  `/console/inventory/${encodeURIComponent(sellerId)}/${encodeURIComponent(sku)}?month=${month}`

const decisions = [
  ['filed', 'filed'],
  ['paid', 'paid'],
  ['paid-in-part', 'paid in part'],
  ['refused', 'refused'],
  ['open', 'open again'],
] as const

const DecideDialog = ({
  claim,
  close,
  done,
}: {
  readonly claim: Item
  readonly close: () => void
  readonly done: () => void
}) => {
  const [state, setState] = useState<(typeof decisions)[number][0]>(claim.state === 'open' ? 'filed' : 'paid')
  const isPaid = state === 'paid' || state === 'paid-in-part'
  return (
    <ReasonDialog
      title={`Claim ${claim.id}: ${count(claim.units)} ${claim.kind} of ${claim.sku}`}
      meaning="Records what was done at the marketplace; nothing is sent to it."
      action="Record"
      decide={async (reasonAndActor, form) => {
        const [reference, paidAmount] = [readText(form, 'reference'), readText(form, 'paidAmount')]
        const body = {
          ...reasonAndActor,
          state,
          ...(reference === '' ? {} : { reference }),
          ...(paidAmount === '' ? {} : { paidAmount }),
          force: form.get('force') !== null,
        }
        await readAnswer(api.POST('/v1/claims/{id}', { params: { path: { id: claim.id } }, body }))
        toast(`Claim ${claim.id} is ${decisions.find(([value]) => value === state)?.[1] ?? state}.`)
        done()
      }}
      close={close}
    >
      <div class="field">
        <label for="claim-state">State</label>
        <select
          id="claim-state"
          value={state}
          onChange={(change) => {
            const chosen = decisions.find(([value]) => value === change.currentTarget.value)
            if (chosen !== undefined) setState(chosen[0])
          }}
        >
          {decisions.map(([value, text]) => (
            <option key={value} value={value}>
              {text}
            </option>
          ))}
        </select>
      </div>
      <Field name="reference" label="Number of the case" initial={claim.reference ?? ''} />
      {isPaid && <Field name="paidAmount" label="Amount paid" hint="Such as 12.50, in the currency of the value." />}
      {isPaid && (
        <div class="field">
          <label>
            <input type="checkbox" name="force" /> Also if the amount is above the value
          </label>
        </div>
      )}
      {state === 'filed' && !claim.logRead && (
        <div class="field">
          <label>
            <input type="checkbox" name="force" /> Also before the whole log of the SKU was read
          </label>
        </div>
      )}
    </ReasonDialog>
  )
}

const Decide = ({ claim, done }: { readonly claim: Item; readonly done: () => void }) => {
  const [open, setOpen] = useState(false)
  if (claim.state === 'withdrawn') return <None />
  return (
    <>
      <button type="button" aria-label={`Record the state of claim ${claim.id}`} onClick={() => setOpen(true)}>
        Record…
      </button>
      {open && <DecideDialog claim={claim} close={() => setOpen(false)} done={done} />}
    </>
  )
}

/** Links to the evidence: a page to print, and a table. The browser opens and saves them itself. */
const EvidenceLinks = ({ path, about }: { readonly path: string; readonly about: string }) => (
  <>
    <a href={`${path}format=html`} target="_blank" rel="noreferrer" aria-label={`Evidence of ${about}, to print`}>
      print
    </a>
    ,{' '}
    <a href={`${path}format=csv`} download aria-label={`Evidence of ${about}, as CSV`}>
      CSV
    </a>
  </>
)

/** Claims with their state and evidence, newest first or by deadline. */
export const ClaimItems = ({ at, byDeadline = false }: { readonly at: Address; readonly byDeadline?: boolean }) => {
  const may = useMay()
  const query = {
    ...readParameters(at, ['sellerId', 'month', 'sku']),
    ...readChoices(at, { kind: kinds, state: states }),
    sort: 'deadline' as const,
  }
  const items = usePage(
    'claim-items',
    at,
    query,
    (page) => readAnswer(api.GET('/v1/claims/items', { params: { query: page } })),
    {
      topics: ['inventory', 'reconciliation'],
      everyMs: 60_000,
    },
  )
  const { sku: _, sort: __, month = byDeadline ? findPreviousMonth(new Date()) : undefined, ...ofMonth } = query
  return (
    <>
      {month !== undefined && (
        <p>
          Evidence of all {ofMonth.state === 'all' ? '' : `${stateNames[ofMonth.state ?? 'open']} `}claims of {month}:{' '}
          <EvidenceLinks path={`/v1/claims/evidence?${new URLSearchParams({ ...ofMonth, month })}&`} about={month} />
        </p>
      )}
      <List
        caption="Claims"
        query={items}
        at={at}
        buildKey={({ id }) => id}
        empty={listFilters(at).length === 0 ? 'No claim is open.' : 'No claim matches the filters.'}
        csv={{ path: `/v1/claims/items?${new URLSearchParams(query)}`, name: 'claims' }}
        columns={[
          { head: 'SKU', cell: (claim) => <a href={skuAddress(claim)}>{claim.sku}</a> },
          { head: 'Month', cell: (claim) => claim.month },
          sellerColumn,
          {
            head: 'Kind',
            cell: ({ kind, shipmentId }) => (
              <>
                {kind}
                {shipmentId !== null && <br />}
                {shipmentId}
              </>
            ),
          },
          { head: 'Units', number: true, cell: ({ units }) => count(units) },
          { head: 'Value', number: true, cell: ({ value, currency }) => <Money amount={value} currency={currency} /> },
          {
            head: 'Certainty',
            cell: ({ certainty, logRead }) => (
              <>
                {certainty}
                {!logRead && <br />}
                {!logRead && 'log pending'}
              </>
            ),
          },
          {
            head: 'State',
            wraps: true,
            cell: ({ state, reference, paidAmount, currency }) => (
              <>
                <Badge tone={tones[state]}>{stateNames[state]}</Badge>
                {reference === null ? '' : ` ${reference}`}
                {paidAmount !== null && (
                  <>
                    {' '}
                    <Money amount={paidAmount} currency={currency} />
                  </>
                )}
              </>
            ),
          },
          {
            head: 'To be filed',
            cell: ({ deadline, state, sellerId: of }) =>
              deadline === null || state !== 'open' ? <None /> : <Countdown to={deadline} sellerId={of} />,
          },
          {
            head: 'Evidence',
            wraps: true,
            cell: ({ id }) => <EvidenceLinks path={`/v1/claims/${id}/evidence?`} about={`claim ${id}`} />,
          },
          ...(may('operate') ? [{ head: 'Action', cell: (claim: Item) => <Decide claim={claim} done={items.reload} /> }] : []),
        ]}
      />
    </>
  )
}
