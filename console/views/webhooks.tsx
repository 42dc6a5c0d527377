import { useState } from 'preact/hooks'
import { answered, api, type Schemas } from '../lib/api.ts'
import { count, several } from '../lib/format.ts'
import { usePage } from '../lib/page.ts'
import { invalidate, useQuery } from '../lib/query.ts'
import { useMay } from '../lib/rights.ts'
import { chosen, given, navigate, useAddress } from '../lib/router.ts'
import { useAct } from '../parts/act.ts'
import { Field, FormDialog, textIn, textsIn } from '../parts/dialog.tsx'
import { ChoiceFilter, Filters, optionsOf, TextFilter } from '../parts/filters.tsx'
import { SecretOnce } from '../parts/secret.tsx'
import { Loaded } from '../parts/states.tsx'
import { List } from '../parts/table.tsx'
import { Ago, Badge, None, Time } from '../parts/text.tsx'
import { toast } from '../parts/toasts.tsx'

type Webhook = Schemas['Webhook']
type Delivery = Schemas['WebhookDelivery']

const State = ({ webhook: { state, failingSince } }: { readonly webhook: Webhook }) => {
  if (state === 'disabled') return <Badge tone="bad">disabled</Badge>
  if (state === 'paused') return <Badge tone="warn">paused</Badge>
  return failingSince === null ? <Badge tone="good">active</Badge> : <Badge tone="bad">failing</Badge>
}

const addressOf = (id: string): string => `/console/webhooks/${encodeURIComponent(id)}`

const wordsOf = (types: readonly string[]): string => (types.length === 0 ? 'all' : types.join(', '))

const states = ['active', 'paused', 'disabled'] as const

/** Endpoints that changes are posted to. */
export const Webhooks = () => {
  const may = useMay()
  const at = useAddress()
  const [asking, setAsking] = useState(false)
  const [made, setMade] = useState<Schemas['NewWebhook'] | null>(null)
  const query = { ...given(at, ['sellerId']), ...chosen(at, { state: states }) }
  const webhooks = usePage('webhooks', at, query, (page) => answered(api.GET('/v1/webhooks', { params: { query: page } })), {
    everyMs: 15_000,
  })
  return (
    <>
      <h1 tabIndex={-1}>Webhooks</h1>
      <p class="row">
        <span class="faint">Every change that fits is posted to these addresses, signed, in order for each order.</span>
        {may('operate', 'all') && (
          <button type="button" onClick={() => setAsking(true)}>
            Add an endpoint
          </button>
        )}
      </p>
      {made !== null && <SecretOnce what={`Secret of ${made.url}`} secret={made.secret} done={() => setMade(null)} />}
      <Filters>
        <ChoiceFilter at={at} name="state" label="State" options={optionsOf(states)} />
        <TextFilter at={at} name="sellerId" label="Gets changes of seller" />
      </Filters>
      <List
        caption="Webhook endpoints"
        query={webhooks}
        at={at}
        keyOf={({ id }) => id}
        empty={
          Object.keys(query).length === 0
            ? 'There is no endpoint yet. Programs can also read the change feed.'
            : 'No endpoint fits.'
        }
        csv={{ path: `/v1/webhooks?${new URLSearchParams(query)}`, name: 'webhooks' }}
        columns={[
          { head: 'Address', cell: ({ id, url }) => <a href={addressOf(id)}>{url}</a> },
          { head: 'State', cell: (webhook) => <State webhook={webhook} /> },
          { head: 'Changes', cell: ({ types }) => wordsOf(types) },
          { head: 'Seller', cell: ({ sellerId }) => sellerId ?? 'all' },
          { head: 'Last success', cell: ({ lastSuccessAt }) => <Ago at={lastSuccessAt} /> },
          { head: 'Failing since', cell: ({ failingSince }) => <Time at={failingSince} /> },
        ]}
      />
      {asking && (
        <FormDialog
          title="Add an endpoint"
          meaning="It gets every change that fits from now on. Its secret is shown once, when it has been added."
          action="Add"
          submit={async (form) => {
            const sellerId = textIn(form, 'sellerId')
            const body = { url: textIn(form, 'url'), types: textsIn(form, 'types'), sellerId: sellerId === '' ? null : sellerId }
            setMade(await answered(api.POST('/v1/webhooks', { body })))
            webhooks.reload()
          }}
          close={() => setAsking(false)}
        >
          <Field name="url" label="Address" hint="Begins with https://." required />
          <Field name="types" label="Types of changes" hint="Such as order.* or command.held, separated by commas; empty: all." />
          <Field name="sellerId" label="Seller" hint="Empty: those of all sellers." />
        </FormDialog>
      )}
    </>
  )
}

const asks = {
  pause: {
    action: 'Pause',
    meaning: 'Nothing is sent until it is resumed, and nothing is forgotten.',
  },
  resume: {
    action: 'Resume',
    meaning: 'Messages are sent from where it stopped; the schedule of every waiting message begins anew.',
  },
  disable: {
    action: 'Disable',
    meaning: 'Nothing is sent, and changes that were not delivered go when their time is over.',
  },
  rotate: {
    action: 'Give it another secret',
    meaning: 'Messages are signed with both secrets for the time of the overlap. The new one is shown once.',
  },
  remove: {
    action: 'Remove',
    meaning: 'The endpoint goes with its secrets and its deliveries. This cannot be taken back.',
  },
} as const
type Ask = keyof typeof asks

const statuses = ['pending', 'delivered', 'failed'] as const
const tones = { pending: 'warn', delivered: 'good', failed: 'bad' } as const

const outcomeOf = ({ httpStatus, error, status, attempt }: Delivery): string =>
  httpStatus !== null ? `HTTP ${httpStatus}` : (error ?? (status === 'pending' && attempt === 0 ? 'not sent yet' : 'no answer'))

const Deliveries = ({ id }: { readonly id: string }) => {
  const at = useAddress()
  const may = useMay()
  const { busy, act } = useAct()
  const query = { ...given(at, ['changeSequence']), ...chosen(at, { status: statuses }) }
  const deliveries = usePage(
    `deliveries ${id}`,
    at,
    query,
    (page) => answered(api.GET('/v1/webhooks/{id}/deliveries', { params: { path: { id }, query: page } })),
    { everyMs: 10_000 },
  )
  const redeliver = (ids: readonly string[]): void =>
    act(async () => {
      const parameters = { params: { path: { id } }, body: { ids: [...ids] } }
      const { redelivered, missing } = await answered(api.POST('/v1/webhooks/{id}/redeliver', parameters))
      const rest = missing.length === 0 ? '' : ` ${several(missing.length, 'message')} cannot be.`
      toast(`${several(redelivered, 'message')} will be sent again.${rest}`)
      deliveries.reload()
    })
  const failed = deliveries.data?.items.filter((row) => row.status === 'failed' && row.changeSequence !== null) ?? []
  return (
    <>
      <h2>Deliveries</h2>
      <Filters>
        <ChoiceFilter at={at} name="status" label="Status" options={optionsOf(statuses)} />
      </Filters>
      {failed.length > 0 && may('operate', 'all') && (
        <p class="row">
          <button type="button" disabled={busy} onClick={() => redeliver(failed.map((row) => row.id))}>
            Send the {several(failed.length, 'failed message')} of this page again
          </button>
        </p>
      )}
      <List
        caption="Deliveries, newest first"
        query={deliveries}
        at={at}
        keyOf={(row) => row.id}
        empty="No message fits."
        csv={{ path: `/v1/webhooks/${encodeURIComponent(id)}/deliveries?${new URLSearchParams(query)}`, name: 'deliveries' }}
        columns={[
          { head: 'Message', cell: ({ changeSequence }) => (changeSequence === null ? 'test' : `change ${changeSequence}`) },
          { head: 'Status', cell: (row) => <Badge tone={tones[row.status]}>{row.status}</Badge> },
          { head: 'Outcome', cell: outcomeOf },
          { head: 'Attempts', number: true, cell: ({ attempt }) => count(attempt) },
          { head: 'Last', cell: (row) => <Time at={row.at} /> },
          { head: 'Next', cell: (row) => <Time at={row.nextAt} /> },
          ...(may('operate', 'all')
            ? [
                {
                  head: 'Again',
                  cell: (row: Delivery) =>
                    row.changeSequence === null ? (
                      <None />
                    ) : (
                      <button type="button" disabled={busy} onClick={() => redeliver([row.id])}>
                        Send again<span class="visually-hidden"> change {row.changeSequence}</span>
                      </button>
                    ),
                },
              ]
            : []),
        ]}
      />
    </>
  )
}

const Shown = ({ webhook, reload }: { readonly webhook: Webhook; readonly reload: () => void }) => {
  const [asking, setAsking] = useState<Ask | null>(null)
  const [secret, setSecret] = useState<string | null>(null)
  const may = useMay()
  const { busy, act } = useAct()
  const { id, state } = webhook
  const params = { path: { id } }
  const submit: Readonly<Record<Ask, (form: FormData) => Promise<void>>> = {
    pause: async () => {
      await answered(api.PATCH('/v1/webhooks/{id}', { params, body: { state: 'paused' } }))
      toast('The endpoint is paused.')
    },
    resume: async () => {
      await answered(api.PATCH('/v1/webhooks/{id}', { params, body: { state: 'active' } }))
      toast('The endpoint is active.')
    },
    disable: async () => {
      await answered(api.PATCH('/v1/webhooks/{id}', { params, body: { state: 'disabled' } }))
      toast('The endpoint is disabled.')
    },
    rotate: async (form) => {
      const body = { overlapSeconds: Math.round(Number(textIn(form, 'overlapHours')) * 3_600) }
      const answer = await answered(api.POST('/v1/webhooks/{id}/rotate', { params, body }))
      setSecret(answer.secret)
    },
    remove: async () => {
      await answered(api.DELETE('/v1/webhooks/{id}', { params }))
      toast('The endpoint is removed.')
      navigate('/console/webhooks')
    },
  }
  const test = (): void =>
    act(async () => {
      const { delivered, httpStatus, error, durationMs } = await answered(api.POST('/v1/webhooks/{id}/test', { params }))
      const outcome = httpStatus === null ? (error ?? 'there was no answer') : `HTTP ${httpStatus}`
      toast(
        `The test message ${delivered ? 'was delivered' : 'was not delivered'}: ${outcome}, ${Math.round(durationMs)} ms.`,
        delivered ? 'good' : 'bad',
      )
      invalidate()
      reload()
    })
  const offered: readonly Ask[] = state === 'active' ? ['pause', 'rotate', 'disable', 'remove'] : ['resume', 'rotate', 'remove']
  return (
    <>
      <h1 tabIndex={-1}>{webhook.url}</h1>
      {webhook.reason !== null && <p class={`notice ${state === 'active' ? '' : 'bad'}`}>{webhook.reason}</p>}
      {secret !== null && <SecretOnce what="The new secret" secret={secret} done={() => setSecret(null)} />}
      <dl class="facts card">
        <dt>State</dt>
        <dd>
          <State webhook={webhook} /> since <Time at={webhook.stateSince} />
        </dd>
        <dt>Changes</dt>
        <dd>
          {wordsOf(webhook.types)}, of {webhook.sellerId ?? 'all sellers'}
        </dd>
        <dt>Up to</dt>
        <dd>change {webhook.position}</dd>
        <dt>Last success</dt>
        <dd>
          <Time at={webhook.lastSuccessAt} />
        </dd>
        <dt>Failing since</dt>
        <dd>
          <Time at={webhook.failingSince} />
        </dd>
        <dt>Id</dt>
        <dd>{id}</dd>
      </dl>
      {may('operate', 'all') && (
        <p class="row">
          <button type="button" disabled={busy} onClick={() => test()}>
            {busy ? 'Sending…' : 'Send a test message'}
          </button>
          {offered.map((ask) => (
            <button key={ask} type="button" onClick={() => setAsking(ask)}>
              {asks[ask].action}
            </button>
          ))}
        </p>
      )}
      <Deliveries id={id} />
      {asking !== null && (
        <FormDialog
          title={asks[asking].action}
          meaning={asks[asking].meaning}
          action={asks[asking].action}
          submit={async (form) => {
            await submit[asking](form)
            if (asking !== 'remove') reload()
          }}
          close={() => setAsking(null)}
        >
          {asking === 'rotate' && (
            <Field
              name="overlapHours"
              label="Overlap in hours"
              type="number"
              hint="How long the old secret still signs."
              initial="24"
              required
            />
          )}
        </FormDialog>
      )}
    </>
  )
}

/** One endpoint with its deliveries. */
export const WebhookView = ({ parts }: { readonly parts: Readonly<Record<string, string>> }) => {
  const { id = '' } = parts
  const webhook = useQuery(`webhook ${id}`, () => answered(api.GET('/v1/webhooks/{id}', { params: { path: { id } } })), {
    everyMs: 10_000,
  })
  return (
    <Loaded query={webhook} heading={`Webhook ${id}`}>
      {(data) => <Shown webhook={data} reload={webhook.reload} />}
    </Loaded>
  )
}
