import { useState } from 'preact/hooks'
import { api, readAnswer, type Schemas } from '../lib/api.ts'
import { formatMoney } from '../lib/format.ts'
import { member, text } from '../lib/json.ts'
import { usePage } from '../lib/page.ts'
import { invalidate, useQuery } from '../lib/query.ts'
import { useMay } from '../lib/rights.ts'
import { readChoices, readParameters, useAddress } from '../lib/router.ts'
import { formatCommand } from '../parts/commands.tsx'
import { ReasonDialog } from '../parts/dialog.tsx'
import { ChoiceFilter, Filters, SellerFilter } from '../parts/filters.tsx'
import { OrderLink } from '../parts/orders.tsx'
import { Loaded } from '../parts/states.tsx'
import { List, sellerColumn } from '../parts/table.tsx'
import { Ago, Badge, None, Raw, Time, type Tone } from '../parts/text.tsx'
import { toast } from '../parts/toasts.tsx'

type Proposal = Schemas['Proposal']

const tones: Readonly<Record<Proposal['state'], Tone>> = { open: 'warn', approving: 'bad', approved: 'good', rejected: 'plain' }

const isUndecided = ({ state }: Proposal): boolean => state === 'open' || state === 'approving'

/** The effect that a proposed event would have now. */
const Effect = ({ id }: { readonly id: string }) => {
  const proposal = useQuery(`proposal ${id}`, () => readAnswer(api.GET('/v1/proposals/{id}', { params: { path: { id } } })))
  return (
    <Loaded query={proposal}>
      {({ forecast }) =>
        forecast === null ? (
          <p>It is decided already.</p>
        ) : forecast.would === 'rejected' ? (
          <p class="notice bad">It would be refused now: {forecast.problem?.detail}</p>
        ) : forecast.commands.length === 0 ? (
          <p>It sends nothing to the marketplace{forecast.problem === null ? '.' : ` now: ${forecast.problem.detail}`}</p>
        ) : (
          <ul aria-label="What it sends to the marketplace">
            {forecast.commands.map((command) => (
              <li key={formatCommand(command)}>
                {formatCommand(command)}
                {command.money !== null && `, ${formatMoney(command.money.amount, command.money.currency)}`}
              </li>
            ))}
          </ul>
        )
      }
    </Loaded>
  )
}

const Actions = ({ proposal, done }: { readonly proposal: Proposal; readonly done: () => void }) => {
  const [dialog, setDialog] = useState<'approve' | 'reject' | null>(null)
  const { id, type, state } = proposal
  const params = { path: { id } }
  const close = (): void => setDialog(null)
  const decided = (message: string): void => {
    toast(message)
    invalidate()
    done()
  }
  return (
    <span class="row">
      <button type="button" aria-label={`Approve proposal ${id}`} onClick={() => setDialog('approve')}>
        Approve
      </button>
      {state === 'open' && (
        <button type="button" aria-label={`Reject proposal ${id}`} onClick={() => setDialog('reject')}>
          Reject
        </button>
      )}
      {dialog === 'approve' && (
        <ReasonDialog
          title={`Approve ${type}`}
          meaning="The event is posted as if the ERP had sent it. The audit records it with your name."
          action="Approve"
          decide={async (reasonAndActor) => {
            await readAnswer(api.POST('/v1/proposals/{id}/approve', { params, body: reasonAndActor }))
            decided('The event is posted.')
          }}
          close={close}
        >
          <Effect id={id} />
        </ReasonDialog>
      )}
      {dialog === 'reject' && (
        <ReasonDialog
          title={`Reject ${type}`}
          meaning="Nothing is posted, and the proposal is closed."
          action="Reject"
          decide={async (reasonAndActor) => {
            await readAnswer(api.POST('/v1/proposals/{id}/reject', { params, body: reasonAndActor }))
            decided('The proposal is rejected.')
          }}
          close={close}
        />
      )}
    </span>
  )
}

const State = ({ proposal: { state, decidedBy, decidedAt, decisionReason } }: { readonly proposal: Proposal }) => (
  <div>
    <Badge tone={tones[state]}>{state}</Badge>
    {state === 'approving' && <p>The approval was interrupted: approve it again. The event is accepted once.</p>}
    {decidedBy !== null && (
      <p>
        <Time at={decidedAt} /> by {decidedBy}
        {decisionReason !== null && `: ${decisionReason}`}
      </p>
    )}
  </div>
)

/** Events that programs, such as agents, propose: a person approves or rejects them. */
export const Proposals = () => {
  const may = useMay()
  const at = useAddress()
  const query = { ...readParameters(at, ['sellerId']), ...readChoices(at, { state: ['all'] }) }
  const proposals = usePage('proposals', at, query, (page) => readAnswer(api.GET('/v1/proposals', { params: { query: page } })), {
    everyMs: 15_000,
  })
  return (
    <>
      <h1 tabIndex={-1}>Proposals</h1>
      <p class="faint">Events that programs, such as agents, propose. Nothing happens until a person approves one.</p>
      <Filters at={at}>
        <ChoiceFilter
          at={at}
          name="state"
          label="State"
          options={[
            ['', 'undecided'],
            ['all', 'All'],
          ]}
        />
        <SellerFilter at={at} />
      </Filters>
      <List
        caption="Proposals"
        query={proposals}
        at={at}
        buildKey={({ id }) => id}
        empty={Object.keys(query).length === 0 ? 'No proposal waits for a decision.' : 'No proposal matches.'}
        csv={{ path: `/v1/proposals?${new URLSearchParams(query)}`, name: 'proposals' }}
        columns={[
          { head: 'Event', cell: ({ type, data }) => <Raw summary={type} value={data} /> },
          {
            head: 'Order',
            cell: ({ sellerId, data }) => {
              const purchaseOrderId = text(member(data, 'purchaseOrderId'))
              return purchaseOrderId === '' ? <None /> : <OrderLink sellerId={sellerId} purchaseOrderId={purchaseOrderId} />
            },
          },
          { head: 'Why', wraps: true, cell: ({ reason }) => reason },
          { head: 'Proposed by', wraps: true, cell: ({ proposedBy }) => proposedBy },
          { head: 'Proposed', cell: ({ proposedAt }) => <Ago at={proposedAt} /> },
          { head: 'State', wraps: true, cell: (proposal) => <State proposal={proposal} /> },
          sellerColumn,
          ...(may('operate')
            ? [
                {
                  head: 'Action',
                  wraps: true,
                  cell: (proposal: Proposal) =>
                    isUndecided(proposal) ? <Actions proposal={proposal} done={proposals.reload} /> : <None />,
                },
              ]
            : []),
        ]}
      />
    </>
  )
}
