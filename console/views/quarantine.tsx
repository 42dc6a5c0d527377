import { useState } from 'preact/hooks'
import { api, readAnswer, type Schemas } from '../lib/api.ts'
import { count } from '../lib/format.ts'
import { usePage } from '../lib/page.ts'
import { useMay } from '../lib/rights.ts'
import { type Address, flags, listFilters, readChoices, readParameters, useAddress } from '../lib/router.ts'
import { useResources } from '../lib/shared-queries.ts'
import { useAction } from '../parts/action.ts'
import { ReasonDialog } from '../parts/dialog.tsx'
import { buildOptions, ChoiceFilter, Filters, PeriodFilter, SellerFilter, TextFilter } from '../parts/filters.tsx'
import { orderAddress } from '../parts/orders.tsx'
import { type Column, List, sellerColumn } from '../parts/table.tsx'
import { Badge, None, Raw, Time, type Tone } from '../parts/text.tsx'
import { toast } from '../parts/toasts.tsx'

type Quarantined = Schemas['QuarantinedRecord']

const states = ['replayed', 'superseded', 'dismissed', 'all'] as const
const tones: Readonly<Record<Quarantined['state'], Tone>> = {
  open: 'warn',
  replayed: 'good',
  superseded: 'good',
  dismissed: 'plain',
}

const RawText = ({ record }: { readonly record: Quarantined }) => {
  const [shown, setShown] = useState<string | null>(null)
  const { busy, runAction } = useAction()
  const reveal = (): void =>
    runAction(async () => {
      const answer = await readAnswer(api.POST('/v1/quarantine/{id}/reveal', { params: { path: { id: record.id } }, body: {} }))
      setShown(answer.rawText)
    })
  return (
    <>
      <Raw summary={shown === null ? 'As received' : 'As received, with all texts'} value={shown ?? record.rawText} />
      {record.masked && shown === null && (
        <p class="row">
          <button type="button" aria-label={`Show hidden texts of record ${record.id}`} disabled={busy} onClick={reveal}>
            Show hidden texts
          </button>
          <span class="faint">The audit records this request.</span>
        </p>
      )}
    </>
  )
}

const Actions = ({ record, done }: { readonly record: Quarantined; readonly done: () => void }) => {
  const [dismissing, setDismissing] = useState(false)
  const { id, resource, recordKey } = record
  const name = `${resource} ${recordKey ?? id}`
  const { busy, runAction } = useAction(`${name}: `)
  const replay = async (): Promise<void> => {
    try {
      const { outcome } = await readAnswer(api.POST('/v1/quarantine/{id}/replay', { params: { path: { id } } }))
      toast(outcome === 'replayed' ? `${name} was parsed and is stored.` : `A newer version of ${name} is already stored.`)
    } finally {
      // The record may have another error now.
      done()
    }
  }
  return (
    <div class="row">
      {!record.skipped && (
        <button type="button" disabled={busy} aria-label={`Replay ${name}`} onClick={() => runAction(replay)}>
          Replay
        </button>
      )}
      <button type="button" aria-label={`Dismiss ${name}`} onClick={() => setDismissing(true)}>
        Dismiss
      </button>
      {dismissing && (
        <ReasonDialog
          title={`Dismiss ${name}`}
          meaning="It cannot be obtained, or is not needed. The same text stays dismissed when it is received again; a different text is listed here again."
          action="Dismiss"
          decide={async (reasonAndActor) => {
            await readAnswer(api.POST('/v1/quarantine/{id}/dismiss', { params: { path: { id } }, body: reasonAndActor }))
            toast(`${name} is dismissed.`)
            done()
          }}
          close={() => setDismissing(false)}
        />
      )}
    </div>
  )
}

const columns: readonly Column<Quarantined>[] = [
  {
    head: 'Record',
    wraps: true,
    cell: ({ sellerId, resource, recordKey, skipped: isSkipped }) => (
      <span>
        {isSkipped ? 'skipped part of ' : ''}
        {resource}{' '}
        {recordKey === null ? (
          <span class="faint">without a key</span>
        ) : resource === 'orders' && !isSkipped ? (
          <a href={orderAddress(sellerId, recordKey)}>{recordKey}</a>
        ) : (
          recordKey
        )}
      </span>
    ),
  },
  sellerColumn,
  {
    head: 'State',
    wraps: true,
    cell: ({ state, dismissedBy, dismissedReason, retryAt }) => (
      <div>
        <Badge tone={tones[state]}>{state}</Badge>
        {dismissedBy !== null && (
          <p>
            by {dismissedBy}: {dismissedReason}
          </p>
        )}
        {retryAt !== null && (
          <p>
            requested again <Time at={retryAt} />
          </p>
        )}
      </div>
    ),
  },
  {
    head: 'Error',
    wraps: true,
    cell: (record) => (
      <div>
        <p>{record.fault}</p>
        <RawText key={record.id} record={record} />
      </div>
    ),
  },
  { head: 'Times seen', number: true, cell: ({ seenCount }) => count(seenCount) },
  { head: 'First seen', cell: ({ firstSeenAt }) => <Time at={firstSeenAt} /> },
  { head: 'Last seen', cell: ({ lastSeenAt }) => <Time at={lastSeenAt} /> },
]

const buildActionColumn = (done: () => void): Column<Quarantined> => ({
  head: 'Action',
  wraps: true,
  cell: (record) => (record.state === 'open' ? <Actions record={record} done={done} /> : <None />),
})

const QuarantineFilters = ({ at }: { readonly at: Address }) => {
  const resources = useResources()
  return (
    <Filters at={at}>
      <ChoiceFilter at={at} name="state" label="State" options={buildOptions(states, 'open')} />
      <ChoiceFilter
        at={at}
        name="resource"
        label="Sync"
        options={buildOptions((resources.data?.items ?? []).map(({ resource }) => resource))}
      />
      <SellerFilter at={at} />
      <TextFilter at={at} name="recordKey" label="Key of the record" />
      <ChoiceFilter
        at={at}
        name="skipped"
        label="Kind"
        options={[
          ['', 'All'],
          ['false', 'records'],
          ['true', 'skipped parts'],
        ]}
      />
      <PeriodFilter at={at} name="seen" label="First seen" />
    </Filters>
  )
}

/** Records that could not be parsed: the error, the received text, and actions. */
export const Quarantine = () => {
  const may = useMay()
  const address = useAddress()
  const query = {
    ...readParameters(address, ['sellerId', 'resource', 'recordKey', 'seenFrom', 'seenTo']),
    ...readChoices(address, { state: states, skipped: flags }),
  }
  const records = usePage(
    'quarantine',
    address,
    query,
    (page) => readAnswer(api.GET('/v1/quarantine', { params: { query: page } })),
    { everyMs: 15_000 },
  )
  return (
    <>
      <h1 tabIndex={-1}>Quarantine</h1>
      <p class="faint">
        Records that could not be parsed; all other records were stored. Replay a record after an update that can parse it, or
        dismiss it. A record that is received again in a valid form settles automatically.
      </p>
      <QuarantineFilters at={address} />
      <List
        caption="Quarantine"
        query={records}
        at={address}
        buildKey={({ id }) => id}
        empty={
          listFilters(address).length === 0
            ? 'Nothing is in quarantine: all received records were parsed.'
            : query.state === undefined
              ? 'No open record matches the filters.'
              : 'No record matches the filters.'
        }
        csv={{ path: `/v1/quarantine?${new URLSearchParams(query)}`, name: 'quarantine' }}
        columns={may('operate') ? [...columns, buildActionColumn(records.reload)] : columns}
      />
    </>
  )
}
