import { useState } from 'preact/hooks'
import { api, readAnswer, type Schemas } from '../lib/api.ts'
import { count, pluralize } from '../lib/format.ts'
import { usePage } from '../lib/page.ts'
import { invalidate, useQuery } from '../lib/query.ts'
import { useMay } from '../lib/rights.ts'
import { navigate, readChoices, readParameters, useAddress } from '../lib/router.ts'
import { useAction } from '../parts/action.ts'
import { Field, FormDialog, readText, readTexts } from '../parts/dialog.tsx'
import { buildOptions, ChoiceFilter, Filters, TextFilter } from '../parts/filters.tsx'
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

const buildAddress = (id: string): string => `/console/webhooks/${encodeURIComponent(id)}`

const formatTypes = (types: readonly string[]): string => (types.length === 0 ? 'all' : types.join(', '))

const states = ['active', 'paused', 'disabled'] as const

/** Webhook endpoints. */
export const Webhooks = () => {
  const may = useMay()
  const at = useAddress()
  const [dialog, setDialog] = useState(false)
  const [created, setCreated] = useState<Schemas['NewWebhook'] | null>(null)
  const query = { ...readParameters(at, ['sellerId']), ...readChoices(at, { state: states }) }
  const webhooks = usePage('webhooks', at, query, (page) => readAnswer(api.GET('/v1/webhooks', { params: { query: page } })), {
    everyMs: 15_000,
  })
  return (
    <>
      <h1 tabIndex={-1}>Webhooks</h1>
      <p class="row">
        <span class="faint">Every matching change is posted to these addresses, signed, and in sequence for each order.</span>
        {may('operate', 'all') && (
          <button type="button" onClick={() => setDialog(true)}>
            Add an endpoint
          </button>
        )}
      </p>
      {created !== null && <SecretOnce name={`Secret of ${created.url}`} secret={created.secret} done={() => setCreated(null)} />}
      <Filters at={at}>
        <ChoiceFilter at={at} name="state" label="State" options={buildOptions(states)} />
        <TextFilter at={at} name="sellerId" label="Receives changes of seller" />
      </Filters>
      <List
        caption="Webhook endpoints"
        query={webhooks}
        at={at}
        buildKey={({ id }) => id}
        empty={
          Object.keys(query).length === 0
            ? 'There is no endpoint yet. Programs can also read the change feed.'
            : 'No endpoint matches.'
        }
        csv={{ path: `/v1/webhooks?${new URLSearchParams(query)}`, name: 'webhooks' }}
        columns={[
          { head: 'Address', wraps: true, cell: ({ id, url }) => <a href={buildAddress(id)}>{url}</a> },
          { head: 'State', wraps: true, cell: (webhook) => <State webhook={webhook} /> },
          { head: 'Changes', wraps: true, cell: ({ types }) => formatTypes(types) },
          { head: 'Seller', cell: ({ sellerId }) => sellerId ?? 'all' },
          { head: 'Last success', cell: ({ lastSuccessAt }) => <Ago at={lastSuccessAt} /> },
          { head: 'Failing since', cell: ({ failingSince }) => <Time at={failingSince} /> },
        ]}
      />
      {dialog && (
        <FormDialog
          title="Add an endpoint"
          meaning="It receives every matching change from now on. Its secret is shown once, when it has been added."
          action="Add"
          submit={async (form) => {
            const sellerId = readText(form, 'sellerId')
            const body = {
              url: readText(form, 'url'),
              types: readTexts(form, 'types'),
              sellerId: sellerId === '' ? null : sellerId,
            }
            setCreated(await readAnswer(api.POST('/v1/webhooks', { body })))
            webhooks.reload()
          }}
          close={() => setDialog(false)}
        >
          <Field name="url" label="Address" hint="Begins with https://." required />
          <Field name="types" label="Types of changes" hint="Such as order.* or command.held, separated by commas; empty: all." />
          <Field name="sellerId" label="Seller" hint="Empty: all sellers." />
        </FormDialog>
      )}
    </>
  )
}

const actions = {
  pause: {
    action: 'Pause',
    meaning: 'Nothing is sent until it is resumed; changes are kept until then.',
  },
  resume: {
    action: 'Resume',
    meaning: 'Messages are sent from its position; the schedule of every waiting message restarts.',
  },
  disable: {
    action: 'Disable',
    meaning: 'Nothing is sent, and undelivered changes are removed after RETAIN_CHANGES.',
  },
  rotate: {
    action: 'Rotate the secret',
    meaning: 'Messages are signed with both secrets during the overlap. The new secret is shown once.',
  },
  remove: {
    action: 'Remove',
    meaning: 'The endpoint is removed with its secrets and deliveries. This cannot be undone.',
  },
} as const
type Action = keyof typeof actions

const statuses = ['pending', 'delivered', 'failed'] as const
const tones = { pending: 'warn', delivered: 'good', failed: 'bad' } as const

const formatOutcome = ({ httpStatus, error, status, attempt }: Delivery): string =>
  httpStatus !== null ? `HTTP ${httpStatus}` : (error ?? (status === 'pending' && attempt === 0 ? 'not sent yet' : 'no answer'))

const Deliveries = ({ id }: { readonly id: string }) => {
  const at = useAddress()
  const may = useMay()
  const { busy, runAction } = useAction()
  const query = { ...readParameters(at, ['changeSequence']), ...readChoices(at, { status: statuses }) }
  const deliveries = usePage(
    `deliveries ${id}`,
    at,
    query,
    (page) => readAnswer(api.GET('/v1/webhooks/{id}/deliveries', { params: { path: { id }, query: page } })),
    { everyMs: 10_000 },
  )
  const redeliver = (ids: readonly string[]): void =>
    runAction(async () => {
      const parameters = { params: { path: { id } }, body: { ids: [...ids] } }
      const { redelivered, missing } = await readAnswer(api.POST('/v1/webhooks/{id}/redeliver', parameters))
      const rest = missing.length === 0 ? '' : ` ${pluralize(missing.length, 'message')} cannot be sent again.`
      toast(`${pluralize(redelivered, 'message')} will be sent again.${rest}`)
      deliveries.reload()
    })
  const failed = deliveries.data?.items.filter((row) => row.status === 'failed' && row.changeSequence !== null) ?? []
  return (
    <>
      <h2>Deliveries</h2>
      <Filters at={at}>
        <ChoiceFilter at={at} name="status" label="Status" options={buildOptions(statuses)} />
      </Filters>
      {failed.length > 0 && may('operate', 'all') && (
        <p class="row">
          <button type="button" disabled={busy} onClick={() => redeliver(failed.map((row) => row.id))}>
            Send the {pluralize(failed.length, 'failed message')} of this page again
          </button>
        </p>
      )}
      <List
        caption="Deliveries, newest first"
        query={deliveries}
        at={at}
        buildKey={(row) => row.id}
        empty="No message matches."
        csv={{ path: `/v1/webhooks/${encodeURIComponent(id)}/deliveries?${new URLSearchParams(query)}`, name: 'deliveries' }}
        columns={[
          { head: 'Message', cell: ({ changeSequence }) => (changeSequence === null ? 'test' : `change ${changeSequence}`) },
          { head: 'Status', cell: (row) => <Badge tone={tones[row.status]}>{row.status}</Badge> },
          { head: 'Outcome', wraps: true, cell: formatOutcome },
          { head: 'Attempts', number: true, cell: ({ attempt }) => count(attempt) },
          { head: 'Last', cell: (row) => <Time at={row.at} /> },
          { head: 'Next', cell: (row) => <Time at={row.nextAt} /> },
          ...(may('operate', 'all')
            ? [
                {
                  head: 'Action',
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

const WebhookDetails = ({ webhook, reload }: { readonly webhook: Webhook; readonly reload: () => void }) => {
  const [dialog, setDialog] = useState<Action | null>(null)
  const [secret, setSecret] = useState<string | null>(null)
  const may = useMay()
  const { busy, runAction } = useAction()
  const { id, state } = webhook
  const params = { path: { id } }
  const submit: Readonly<Record<Action, (form: FormData) => Promise<void>>> = {
    pause: async () => {
      await readAnswer(api.PATCH('/v1/webhooks/{id}', { params, body: { state: 'paused' } }))
      toast('The endpoint is paused.')
    },
    resume: async () => {
      await readAnswer(api.PATCH('/v1/webhooks/{id}', { params, body: { state: 'active' } }))
      toast('The endpoint is active.')
    },
    disable: async () => {
      await readAnswer(api.PATCH('/v1/webhooks/{id}', { params, body: { state: 'disabled' } }))
      toast('The endpoint is disabled.')
    },
    rotate: async (form) => {
      const body = { overlapSeconds: Math.round(Number(readText(form, 'overlapHours')) * 3_600) }
      const answer = await readAnswer(api.POST('/v1/webhooks/{id}/rotate', { params, body }))
      setSecret(answer.secret)
    },
    remove: async () => {
      await readAnswer(api.DELETE('/v1/webhooks/{id}', { params }))
      toast('The endpoint is removed.')
      navigate('/console/webhooks')
    },
  }
  const test = (): void =>
    runAction(async () => {
      const { delivered, httpStatus, error, durationMs } = await readAnswer(api.POST('/v1/webhooks/{id}/test', { params }))
      const outcome = httpStatus === null ? (error ?? 'there was no answer') : `HTTP ${httpStatus}`
      toast(
        `The test message ${delivered ? 'was delivered' : 'was not delivered'}: ${outcome}, ${Math.round(durationMs)} ms.`,
        delivered ? 'good' : 'bad',
      )
      invalidate()
      reload()
    })
  const offered: readonly Action[] =
    state === 'active' ? ['pause', 'rotate', 'disable', 'remove'] : ['resume', 'rotate', 'remove']
  return (
    <>
      <h1 tabIndex={-1}>{webhook.url}</h1>
      {webhook.reason !== null && <p class={`notice ${state === 'active' ? '' : 'bad'}`}>{webhook.reason}</p>}
      {secret !== null && <SecretOnce name="The new secret" secret={secret} done={() => setSecret(null)} />}
      <dl class="facts card">
        <dt>State</dt>
        <dd>
          <State webhook={webhook} /> since <Time at={webhook.stateSince} />
        </dd>
        <dt>Changes</dt>
        <dd>
          {formatTypes(webhook.types)}, of {webhook.sellerId ?? 'all sellers'}
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
          {offered.map((action) => (
            <button key={action} type="button" onClick={() => setDialog(action)}>
              {actions[action].action}
            </button>
          ))}
        </p>
      )}
      <Deliveries id={id} />
      {dialog !== null && (
        <FormDialog
          title={actions[dialog].action}
          meaning={actions[dialog].meaning}
          action={actions[dialog].action}
          submit={async (form) => {
            await submit[dialog](form)
            if (dialog !== 'remove') reload()
          }}
          close={() => setDialog(null)}
        >
          {dialog === 'rotate' && (
            <Field
              name="overlapHours"
              label="Overlap in hours"
              type="number"
              hint="How long messages are also signed with the old secret."
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
  const webhook = useQuery(`webhook ${id}`, () => readAnswer(api.GET('/v1/webhooks/{id}', { params: { path: { id } } })), {
    everyMs: 10_000,
  })
  return (
    <Loaded query={webhook} heading={`Webhook ${id}`}>
      {(data) => <WebhookDetails webhook={data} reload={webhook.reload} />}
    </Loaded>
  )
}
