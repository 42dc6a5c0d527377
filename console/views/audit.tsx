import type { paths } from '../../types/index.d.ts'
import { api, readAnswer } from '../lib/api.ts'
import { usePage } from '../lib/page.ts'
import { readParameters, useAddress } from '../lib/router.ts'
import { ChoiceFilter, Filters, PeriodFilter, SellerFilter, TextFilter } from '../parts/filters.tsx'
import { List, sellerColumn } from '../parts/table.tsx'
import { None, Raw, Time } from '../parts/text.tsx'

type Action = NonNullable<NonNullable<paths['/v1/audit']['get']['parameters']['query']>['action']>

/** Texts of all actions that the audit records. */
const acts: Readonly<Record<Action, string>> = {
  'alarm.closed': 'closed an alarm',
  'alarm.silenced': 'silenced an alarm',
  'alarm_channel.added': 'added a channel for alarms',
  'alarm_channel.changed': 'changed a channel for alarms',
  'alarm_channel.removed': 'removed a channel for alarms',
  'alarm_channel.test_requested': 'tested a channel for alarms',
  'buyer.erased': "erased a buyer's data",
  'buyer.shown': "viewed a buyer's data",
  'campaigns.watched': 'watched campaigns',
  'campaign.unwatched': 'stopped watching a campaign',
  'claim.decided': 'recorded the state of a claim',
  'command.decided': 'decided a command',
  'event.rejected': 'rejected an event',
  'key.added': 'added a key',
  'key.revoked': 'revoked a key',
  'key.rotated': 'rotated a key',
  'log_reasons.changed': 'changed LOG_REASONS',
  'proposal.added': 'proposed an event',
  'proposal.approval_requested': 'approved a proposed event',
  'proposal.rejected': 'rejected a proposed event',
  'queues.change_requested': 'changed queues',
  'record.dismissed': 'dismissed a record',
  'record.shown': "viewed a record that may contain a buyer's data",
  'record.replay_requested': 'replayed a record',
  'retention.run_requested': 'removed old data',
  'seller.paused': 'paused a seller',
  'seller.removed': 'removed a seller',
  'seller.resumed': 'resumed a seller',
  'seller.went_live': 'made a seller live',
  'seller.went_shadow': 'put a seller in shadow mode',
  'sellers.reload_requested': 'reloaded the sellers',
  'session.closed': 'signed out',
  'session.opened': 'signed in',
  'sync.run_requested': 'ran a sync',
  'webhook.added': 'added a webhook',
  'webhook.changed': 'changed a webhook',
  'webhook.redelivered': 'sent webhook messages again',
  'webhook.removed': 'removed a webhook',
  'webhook.rotated': 'rotated the secret of a webhook',
  'webhook.test_requested': 'tested a webhook',
}
const isAction = (text: string): text is Action => Object.hasOwn(acts, text)
const actionOptions = [['', 'All'], ...Object.entries(acts)] as const

const isEmpty = (details: unknown): boolean =>
  typeof details !== 'object' || details === null || Object.keys(details).length === 0

/** Actions of people and programs. */
export const Audit = () => {
  const at = useAddress()
  const action = at.parameters.get('action') ?? ''
  const query = {
    ...readParameters(at, ['actor', 'subject', 'sellerId', 'keyId', 'from', 'to']),
    ...(isAction(action) ? { action } : {}),
  }
  const entries = usePage('audit', at, query, (page) => readAnswer(api.GET('/v1/audit', { params: { query: page } })), {
    topics: ['command', 'alarm', 'seller'],
  })
  return (
    <>
      <h1 tabIndex={-1}>Audit</h1>
      <p class="faint">Actions of people and programs through the interface, newest first. They are kept for ever.</p>
      <Filters at={at}>
        <ChoiceFilter at={at} name="action" label="Action" options={actionOptions} />
        <TextFilter at={at} name="actor" label="Who" />
        <TextFilter at={at} name="subject" label="Subject" placeholder="an id" />
        <TextFilter at={at} name="keyId" label="Key" />
        <SellerFilter at={at} />
        <PeriodFilter at={at} />
      </Filters>
      <List
        caption="Actions"
        query={entries}
        at={at}
        buildKey={({ id }) => id}
        empty="No action matches. Names and ids are compared as a whole."
        csv={{ path: `/v1/audit?${new URLSearchParams(query)}`, name: 'audit' }}
        columns={[
          { head: 'When', cell: (entry) => <Time at={entry.at} /> },
          {
            head: 'Who',
            wraps: true,
            cell: ({ actor, onBehalfOf }) => (onBehalfOf === null ? actor : `${actor}, for ${onBehalfOf}`),
          },
          { head: 'Action', wraps: true, cell: (entry) => (isAction(entry.action) ? acts[entry.action] : entry.action) },
          { head: 'Subject', wraps: true, cell: ({ subject }) => subject },
          sellerColumn,
          { head: 'Why', wraps: true, cell: ({ reason }) => reason ?? <None /> },
          { head: 'Key', cell: ({ keyId }) => keyId ?? <None /> },
          {
            head: 'More',
            wraps: true,
            cell: ({ details }) => (isEmpty(details) ? <None /> : <Raw summary="Details" value={details} />),
          },
        ]}
      />
    </>
  )
}
