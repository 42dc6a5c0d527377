import { useState } from 'preact/hooks'
import { api, readAnswer, type Schemas } from '../lib/api.ts'
import { usePage } from '../lib/page.ts'
import { readChoices, useAddress } from '../lib/router.ts'
import { Field, ReasonDialog, readText, readTexts } from '../parts/dialog.tsx'
import { ChoiceFilter, Filters } from '../parts/filters.tsx'
import { SecretOnce } from '../parts/secret.tsx'
import { List } from '../parts/table.tsx'
import { Ago, Badge, Time } from '../parts/text.tsx'
import { toast } from '../parts/toasts.tsx'

type Key = Schemas['Key']

const scopes = [
  ['read', 'Read'],
  ['events:write', 'Post events'],
  ['propose', 'Propose events to a person'],
  ['operate', 'Operate: decide, change, add keys'],
] as const

type KeyDialog = { readonly kind: 'add' } | { readonly kind: 'rotate' | 'revoke'; readonly key: Key }

const AddKey = ({ close, onCreated }: { readonly close: () => void; readonly onCreated: (key: Schemas['NewKey']) => void }) => (
  <ReasonDialog
    title="Add a key"
    meaning="The key is shown once, when it has been added. It cannot have rights that you do not have."
    action="Add"
    decide={async (reasonAndActor, form) => {
      const sellers = readTexts(form, 'sellerIds')
      const body = {
        name: readText(form, 'name'),
        scopes: scopes.flatMap(([scope]) => (form.getAll('scopes').includes(scope) ? [scope] : [])),
        sellerIds: sellers.length === 0 ? null : sellers,
        ...reasonAndActor,
      }
      onCreated(await readAnswer(api.POST('/v1/keys', { body })))
    }}
    close={close}
  >
    <Field name="name" label="Name" hint="The actor in the audit." required />
    <fieldset>
      <legend>Rights</legend>
      {scopes.map(([scope, label]) => (
        <label key={scope} class="choice">
          <input type="checkbox" name="scopes" value={scope} defaultChecked={scope === 'read'} />
          {label}
        </label>
      ))}
    </fieldset>
    <Field name="sellerIds" label="Sellers" hint="Ids separated by commas; empty: all, also those that are added later." />
  </ReasonDialog>
)

/** Keys of programs and people. */
export const Keys = () => {
  const at = useAddress()
  const [dialog, setDialog] = useState<KeyDialog | null>(null)
  const [created, setCreated] = useState<Schemas['NewKey'] | null>(null)
  const query = readChoices(at, { state: ['all'] })
  const keys = usePage('keys', at, query, (page) => readAnswer(api.GET('/v1/keys', { params: { query: page } })), {
    everyMs: 60_000,
  })
  const show = (key: Schemas['NewKey']): void => {
    setCreated(key)
    keys.reload()
  }
  return (
    <>
      <h1 tabIndex={-1}>Keys</h1>
      <p class="row">
        <span class="faint">
          Each program and person has its own key; <a href="/console/audit">the audit</a> records the actions with it.
        </span>
        <button type="button" onClick={() => setDialog({ kind: 'add' })}>
          Add a key
        </button>
      </p>
      {created !== null && <SecretOnce name={`Key ${created.name}`} secret={created.key} done={() => setCreated(null)} />}
      <Filters at={at}>
        <ChoiceFilter
          at={at}
          name="state"
          label="State"
          options={[
            ['', 'Active'],
            ['all', 'Active and revoked'],
          ]}
        />
      </Filters>
      <List
        caption="Keys"
        query={keys}
        at={at}
        buildKey={({ id }) => id}
        empty="There is no key besides API_KEY. Add one for each program and person."
        csv={{ path: `/v1/keys?${new URLSearchParams(query)}`, name: 'keys' }}
        columns={[
          {
            head: 'Name',
            wraps: true,
            cell: ({ name, id }) => <a href={`/console/audit?keyId=${encodeURIComponent(id)}`}>{name}</a>,
          },
          { head: 'Rights', wraps: true, cell: (key) => key.scopes.join(', ') },
          { head: 'Sellers', wraps: true, cell: ({ sellerIds }) => (sellerIds === null ? 'all' : sellerIds.join(', ')) },
          { head: 'Last used', cell: ({ lastUsedAt }) => (lastUsedAt === null ? 'never' : <Ago at={lastUsedAt} />) },
          {
            head: 'Added',
            wraps: true,
            cell: ({ createdAt, createdBy }) => (
              <>
                <Time at={createdAt} /> by {createdBy}
              </>
            ),
          },
          { head: 'Rotated', cell: ({ rotatedAt }) => <Time at={rotatedAt} /> },
          { head: 'Old secret until', cell: ({ previousUntil }) => <Time at={previousUntil} /> },
          {
            head: 'Actions',
            wraps: true,
            cell: (key) =>
              key.revokedAt !== null ? (
                <Badge tone="bad">revoked</Badge>
              ) : (
                <span class="row">
                  <button type="button" aria-label={`Rotate ${key.name}`} onClick={() => setDialog({ kind: 'rotate', key })}>
                    Rotate
                  </button>
                  <button type="button" aria-label={`Revoke ${key.name}`} onClick={() => setDialog({ kind: 'revoke', key })}>
                    Revoke
                  </button>
                </span>
              ),
          },
        ]}
      />
      {dialog?.kind === 'add' && <AddKey close={() => setDialog(null)} onCreated={show} />}
      {dialog?.kind === 'rotate' && (
        <ReasonDialog
          title={`Rotate ${dialog.key.name}`}
          meaning="It gets a new secret, which is shown once. The previous secret is accepted during the overlap."
          action="Rotate"
          decide={async (reasonAndActor, form) => {
            const overlapSeconds = Math.round(Number(readText(form, 'overlapHours')) * 3_600)
            const parameters = { params: { path: { id: dialog.key.id } }, body: { overlapSeconds, ...reasonAndActor } }
            show(await readAnswer(api.POST('/v1/keys/{id}/rotate', parameters)))
          }}
          close={() => setDialog(null)}
        >
          <Field name="overlapHours" label="Overlap in hours" type="number" initial="24" required />
        </ReasonDialog>
      )}
      {dialog?.kind === 'revoke' && (
        <ReasonDialog
          title={`Revoke ${dialog.key.name}`}
          meaning="It is refused from now on, and sessions that were opened with it end. This cannot be undone."
          action="Revoke"
          decide={async (reasonAndActor) => {
            await readAnswer(api.DELETE('/v1/keys/{id}', { params: { path: { id: dialog.key.id }, query: reasonAndActor } }))
            toast(`The key ${dialog.key.name} is revoked.`)
            keys.reload()
          }}
          close={() => setDialog(null)}
        />
      )}
    </>
  )
}
