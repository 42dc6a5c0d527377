import { useId, useState } from 'preact/hooks'
import { api, readAnswer, type Schemas } from '../lib/api.ts'
import { usePage } from '../lib/page.ts'
import { useMay } from '../lib/rights.ts'
import { useAddress } from '../lib/router.ts'
import { useAction } from '../parts/action.ts'
import { Field, FormDialog, readText, readTexts } from '../parts/dialog.tsx'
import { List } from '../parts/table.tsx'
import { Ago, Badge, None, Time } from '../parts/text.tsx'
import { toast } from '../parts/toasts.tsx'

type Channel = Schemas['AlarmChannel']
type Kind = Channel['kind']

const kinds = [
  ['slack', 'Slack'],
  ['teams', 'Teams'],
  ['email', 'E-mail'],
] as const satisfies readonly (readonly [Kind, string])[]
const severities = ['critical', 'warning', 'notice'] as const
const concerns = ['warehouse', 'integrator', 'operator'] as const
const days = [1, 2, 3, 4, 5, 6, 7] as const
const dayNames: Readonly<Record<number, string>> = { 1: 'Mon', 2: 'Tue', 3: 'Wed', 4: 'Thu', 5: 'Fri', 6: 'Sat', 7: 'Sun' }
const defaultSeverities: readonly string[] = ['critical', 'warning']

const nameDay = (day: number): string => dayNames[day] ?? String(day)

const formatHours = (hours: Channel['hours']): string => {
  if (hours === null) return 'always'
  const on = hours.weekdays.length === days.length ? '' : `, ${hours.weekdays.map(nameDay).join(' ')}`
  return `${hours.from} to ${hours.to} (${hours.timeZone})${on}`
}

const State = ({ channel: { state, failingSince, failures, lastError, nextAt } }: { readonly channel: Channel }) => {
  if (state === 'paused') return <Badge tone="warn">paused</Badge>
  if (failingSince === null)
    return (
      <div>
        <Badge tone="good">active</Badge>
        {lastError !== null && <p class="faint">{lastError}</p>}
      </div>
    )
  return (
    <div>
      <Badge tone="bad">failing</Badge>
      <p>
        {lastError}, {failures} times since <Time at={failingSince} />
        {nextAt !== null && (
          <>
            ; next attempt <Time at={nextAt} />
          </>
        )}
      </p>
    </div>
  )
}

/** Checkboxes of one name. */
const Choices = ({
  legend,
  name,
  values,
  initial,
  label = String,
}: {
  readonly legend: string
  readonly name: string
  readonly values: readonly (string | number)[]
  readonly initial: readonly (string | number)[]
  readonly label?: (value: string | number) => string
}) => (
  <fieldset>
    <legend>{legend}</legend>
    {values.map((value) => (
      <label key={value} class="choice">
        <input type="checkbox" name={name} value={value} defaultChecked={initial.includes(value)} />
        {label(value)}
      </label>
    ))}
  </fieldset>
)

const readChecked = <Value extends string | number>(form: FormData, name: string, values: readonly Value[]): Value[] => {
  const checked = form.getAll(name)
  return values.filter((value) => checked.includes(String(value)))
}

/** The hours in a form; null: always. */
const readHours = (form: FormData): Channel['hours'] => {
  const [from, to] = [readText(form, 'from'), readText(form, 'to')]
  if (from === '' && to === '') return null
  return { from, to, timeZone: readText(form, 'timeZone'), weekdays: readChecked(form, 'weekdays', days) }
}

const readRules = (form: FormData) => {
  const repeat = readText(form, 'repeatHours')
  return {
    name: readText(form, 'name'),
    severities: readChecked(form, 'severities', severities),
    concerns: readChecked(form, 'concerns', concerns),
    sellerIds: readTexts(form, 'sellerIds'),
    hours: readHours(form),
    repeatHours: repeat === '' ? null : Number(repeat),
  }
}

const RuleFields = ({ channel }: { readonly channel: Channel | null }) => {
  const hours = channel?.hours ?? null
  const ownZone = new Intl.DateTimeFormat().resolvedOptions().timeZone
  return (
    <>
      <Choices legend="Severities" name="severities" values={severities} initial={channel?.severities ?? defaultSeverities} />
      <Choices legend="For (none: all)" name="concerns" values={concerns} initial={channel?.concerns ?? []} />
      <Field
        name="sellerIds"
        label="Sellers"
        hint="Ids separated by commas; empty: all, and alarms of the daemon itself."
        initial={channel?.sellerIds.join(', ') ?? ''}
      />
      <Field name="from" label="Hours from" hint="Such as 08:00; empty: always." initial={hours?.from ?? ''} />
      <Field name="to" label="Hours to" hint="Such as 18:00. Outside of the hours messages wait." initial={hours?.to ?? ''} />
      <Field name="timeZone" label="Time zone" initial={hours?.timeZone ?? ownZone} />
      <Choices
        legend="Days on which the hours begin"
        name="weekdays"
        values={days}
        initial={hours?.weekdays ?? days}
        label={(day) => nameDay(Number(day))}
      />
      <Field
        name="repeatHours"
        label="Repeat after hours"
        type="number"
        hint="For an alarm that stays open; empty: never."
        initial={channel?.repeatHours === null || channel === null ? '' : String(channel.repeatHours)}
      />
    </>
  )
}

const AddressField = ({ kind, isNew }: { readonly kind: Kind; readonly isNew: boolean }) =>
  kind === 'email' ? (
    <Field
      name="recipients"
      label="Recipients"
      hint={`E-mail addresses separated by commas${isNew ? '' : '; empty: as before'}.`}
      required={isNew}
    />
  ) : (
    <Field
      name="url"
      label="URL"
      hint={`Of the incoming webhook or workflow. It is secret and not shown again${isNew ? '' : '; empty: as before'}.`}
      required={isNew}
    />
  )

const readAddress = (form: FormData) => {
  const [url, recipients] = [readText(form, 'url'), readTexts(form, 'recipients')]
  return { ...(url === '' ? {} : { url }), ...(recipients.length === 0 ? {} : { recipients }) }
}

const AddDialog = ({ close, done }: { readonly close: () => void; readonly done: () => void }) => {
  const id = useId()
  const [kind, setKind] = useState<Kind>('slack')
  return (
    <FormDialog
      title="Add a channel"
      meaning="It gets the matching alarms that are open at once, and from then on each alarm once, and again when it is over."
      action="Add"
      submit={async (form) => {
        const body = { ...readRules(form), ...readAddress(form), kind }
        const { name } = await readAnswer(api.POST('/v1/alarm-channels', { body }))
        toast(`The channel ${name} is active.`)
        done()
      }}
      close={close}
    >
      <div class="field">
        <label for={id}>Kind</label>
        <select
          id={id}
          value={kind}
          onChange={({ currentTarget }) => setKind(kinds.find(([one]) => one === currentTarget.value)?.[0] ?? 'slack')}
        >
          {kinds.map(([value, text]) => (
            <option key={value} value={value}>
              {text}
            </option>
          ))}
        </select>
      </div>
      <Field name="name" label="Name" required />
      <AddressField key={kind} kind={kind} isNew />
      <RuleFields channel={null} />
    </FormDialog>
  )
}

const ChangeDialog = ({
  channel,
  close,
  done,
}: {
  readonly channel: Channel
  readonly close: () => void
  readonly done: () => void
}) => (
  <FormDialog
    title={`Change ${channel.name}`}
    meaning="Waiting alarms that match are sent at once."
    action="Change"
    submit={async (form) => {
      const body = { ...readRules(form), ...readAddress(form) }
      await readAnswer(api.PATCH('/v1/alarm-channels/{id}', { params: { path: { id: channel.id } }, body }))
      toast('The channel is changed.')
      done()
    }}
    close={close}
  >
    <Field name="name" label="Name" initial={channel.name} required />
    <AddressField kind={channel.kind} isNew={false} />
    <RuleFields channel={channel} />
  </FormDialog>
)

const Actions = ({ channel, done }: { readonly channel: Channel; readonly done: () => void }) => {
  const [dialog, setDialog] = useState<'change' | 'remove' | null>(null)
  const { busy, runAction } = useAction()
  const { id, name, state } = channel
  const params = { path: { id } }
  const close = (): void => setDialog(null)
  const test = (): void =>
    runAction(async () => {
      const { delivered, status, error } = await readAnswer(api.POST('/v1/alarm-channels/{id}/test', { params }))
      const outcome = [...(status === null ? [] : [`status ${status}`]), ...(error === null ? [] : [error])].join(', ')
      toast(`The test message ${delivered ? 'was delivered' : 'was not delivered'}: ${outcome}.`, delivered ? 'good' : 'bad')
    })
  const setState = (next: Channel['state']): void =>
    runAction(async () => {
      await readAnswer(api.PATCH('/v1/alarm-channels/{id}', { params, body: { state: next } }))
      toast(next === 'paused' ? 'The channel is paused.' : 'The channel is active; open alarms are sent.')
      done()
    })
  return (
    <span class="row">
      <button type="button" disabled={busy} aria-label={`Send a test message to ${name}`} onClick={test}>
        Test
      </button>
      <button type="button" aria-label={`Change ${name}`} onClick={() => setDialog('change')}>
        Change
      </button>
      {state === 'active' ? (
        <button type="button" disabled={busy} aria-label={`Pause ${name}`} onClick={() => setState('paused')}>
          Pause
        </button>
      ) : (
        <button type="button" disabled={busy} aria-label={`Resume ${name}`} onClick={() => setState('active')}>
          Resume
        </button>
      )}
      <button type="button" aria-label={`Remove ${name}`} onClick={() => setDialog('remove')}>
        Remove
      </button>
      {dialog === 'change' && <ChangeDialog channel={channel} close={close} done={done} />}
      {dialog === 'remove' && (
        <FormDialog
          title={`Remove ${name}`}
          meaning="It gets no more alarms. This cannot be undone."
          action="Remove"
          submit={async () => {
            await readAnswer(api.DELETE('/v1/alarm-channels/{id}', { params }))
            toast(`The channel ${name} is removed.`)
            done()
          }}
          close={close}
        />
      )}
    </span>
  )
}

/** Channels to which alarms are sent: Slack, Teams and e-mail. */
export const AlarmChannels = () => {
  const may = useMay()
  const at = useAddress()
  const [adding, setAdding] = useState(false)
  const channels = usePage(
    'alarm-channels',
    at,
    {},
    (page) => readAnswer(api.GET('/v1/alarm-channels', { params: { query: page } })),
    {
      topics: ['alarm'],
      everyMs: 15_000,
    },
  )
  return (
    <>
      <h1 tabIndex={-1}>Alarm channels</h1>
      <p class="row">
        <span class="faint">
          <a href="/console/alarms">Alarms</a> are sent to these channels by their rules: new ones, and when they are over.
        </span>
        {may('operate', 'all') && (
          <button type="button" onClick={() => setAdding(true)}>
            Add a channel
          </button>
        )}
      </p>
      <List
        caption="Alarm channels"
        query={channels}
        at={at}
        buildKey={({ id }) => id}
        empty="There is no channel yet: alarms are shown here only, and sent to webhooks."
        csv={{ path: '/v1/alarm-channels', name: 'alarm-channels' }}
        columns={[
          { head: 'Name', wraps: true, cell: ({ name }) => name },
          { head: 'State', wraps: true, cell: (channel) => <State channel={channel} /> },
          {
            head: 'Address',
            wraps: true,
            cell: ({ kind, target }) => (
              <>
                {kinds.find(([one]) => one === kind)?.[1] ?? kind} <span class="whole">{target}</span>
              </>
            ),
          },
          {
            head: 'Alarms',
            wraps: true,
            cell: (channel) =>
              channel.severities.join(', ') +
              (channel.concerns.length === 0 ? '' : `, for ${channel.concerns.join(', ')}`) +
              (channel.sellerIds.length === 0 ? '' : `, of ${channel.sellerIds.join(', ')}`),
          },
          { head: 'Hours', wraps: true, cell: ({ hours }) => formatHours(hours) },
          { head: 'Repeated', cell: ({ repeatHours }) => (repeatHours === null ? 'never' : `after ${repeatHours} h`) },
          { head: 'Last message', cell: ({ lastSentAt }) => (lastSentAt === null ? <None /> : <Ago at={lastSentAt} />) },
          ...(may('operate', 'all')
            ? [{ head: 'Actions', wraps: true, cell: (channel: Channel) => <Actions channel={channel} done={channels.reload} /> }]
            : []),
        ]}
      />
      {adding && <AddDialog close={() => setAdding(false)} done={channels.reload} />}
    </>
  )
}
