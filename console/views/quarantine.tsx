import { useState } from 'preact/hooks'
import { answered, api, type Schemas } from '../lib/api.ts'
import { count } from '../lib/format.ts'
import { usePage } from '../lib/page.ts'
import { useResources } from '../lib/questions.ts'
import { useMay } from '../lib/rights.ts'
import { chosen, filtersOf, flags, given, useAddress } from '../lib/router.ts'
import { useAct } from '../parts/act.ts'
import { ReasonDialog } from '../parts/dialog.tsx'
import { ChoiceFilter, Filters, optionsOf, PeriodFilter, TextFilter } from '../parts/filters.tsx'
import { orderAddress } from '../parts/orders.tsx'
import { List } from '../parts/table.tsx'
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
  const { busy, act } = useAct()
  const reveal = (): void =>
    act(async () => {
      const answer = await answered(api.POST('/v1/quarantine/{id}/reveal', { params: { path: { id: record.id } }, body: {} }))
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
          <span class="faint">The audit records that you asked.</span>
        </p>
      )}
    </>
  )
}

const Acts = ({ record, done }: { readonly record: Quarantined; readonly done: () => void }) => {
  const [dismissing, setDismissing] = useState(false)
  const { id, resource, recordKey } = record
  const name = `${resource} ${recordKey ?? id}`
  const { busy, act } = useAct(`${name}: `)
  const replay = async (): Promise<void> => {
    try {
      const { outcome } = await answered(api.POST('/v1/quarantine/{id}/replay', { params: { path: { id } } }))
      toast(outcome === 'replayed' ? `${name} was understood and is stored.` : `Something newer of ${name} is stored already.`)
    } finally {
      // What stands in the way may be another one now.
      done()
    }
  }
  return (
    <div class="row">
      {!record.skipped && (
        <button type="button" disabled={busy} aria-label={`Replay ${name}`} onClick={() => act(replay)}>
          Replay
        </button>
      )}
      <button type="button" aria-label={`Dismiss ${name}`} onClick={() => setDismissing(true)}>
        Dismiss
      </button>
      {dismissing && (
        <ReasonDialog
          title={`Dismiss ${name}`}
          meaning="It cannot be had, or is not needed. The same text, when it comes again, stays dismissed; another one comes back here."
          action="Dismiss"
          decide={async (because) => {
            await answered(api.POST('/v1/quarantine/{id}/dismiss', { params: { path: { id } }, body: because }))
            toast(`${name} is dismissed.`)
            done()
          }}
          close={() => setDismissing(false)}
        />
      )}
    </div>
  )
}

/** Records that could not be understood: why, as they were received, and what can be done with them. */
export const Quarantine = () => {
  const may = useMay()
  const address = useAddress()
  const query = {
    ...given(address, ['sellerId', 'resource', 'recordKey', 'seenFrom', 'seenTo']),
    ...chosen(address, { state: states, skipped: flags }),
  }
  const records = usePage(
    'quarantine',
    address,
    query,
    (page) => answered(api.GET('/v1/quarantine', { params: { query: page } })),
    { everyMs: 15_000 },
  )
  const resources = useResources()
  return (
    <>
      <h1 tabIndex={-1}>Quarantine</h1>
      <p class="faint">
        Records that came in a shape that is not understood; all others were read. Replay one after an update that understands it,
        or dismiss it. One that comes again in a good shape settles by itself.
      </p>
      <Filters>
        <ChoiceFilter at={address} name="state" label="State" options={optionsOf(states, 'open')} />
        <ChoiceFilter
          at={address}
          name="resource"
          label="Sync"
          options={optionsOf((resources.data?.items ?? []).map(({ resource }) => resource))}
        />
        <TextFilter at={address} name="sellerId" label="Seller" />
        <TextFilter at={address} name="recordKey" label="Key of the record" />
        <ChoiceFilter
          at={address}
          name="skipped"
          label="Kind"
          options={[
            ['', 'All'],
            ['false', 'records'],
            ['true', 'skipped parts'],
          ]}
        />
        <PeriodFilter at={address} name="seen" label="Seen first" />
      </Filters>
      <List
        caption="Quarantine"
        query={records}
        at={address}
        keyOf={({ id }) => id}
        empty={
          filtersOf(address).length === 0
            ? 'Nothing is in quarantine: what came was understood.'
            : query.state === undefined
              ? 'Nothing open fits the filters.'
              : 'No record fits the filters.'
        }
        csv={{ path: `/v1/quarantine?${new URLSearchParams(query)}`, name: 'quarantine' }}
        columns={[
          {
            head: 'Record',
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
          { head: 'Seller', cell: ({ sellerId }) => sellerId },
          {
            head: 'State',
            cell: ({ state: its, dismissedBy, dismissedReason, retryAt }) => (
              <div>
                <Badge tone={tones[its]}>{its}</Badge>
                {dismissedBy !== null && (
                  <p>
                    by {dismissedBy}: {dismissedReason}
                  </p>
                )}
                {retryAt !== null && (
                  <p>
                    asked for again <Time at={retryAt} />
                  </p>
                )}
              </div>
            ),
          },
          {
            head: 'Fault',
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
          ...(may('operate')
            ? [
                {
                  head: 'Act',
                  cell: (record: Quarantined) =>
                    record.state === 'open' ? <Acts record={record} done={records.reload} /> : <None />,
                },
              ]
            : []),
        ]}
      />
    </>
  )
}
