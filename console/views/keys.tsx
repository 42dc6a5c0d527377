import { useState } from 'preact/hooks'
import { answered, api, type Schemas } from '../lib/api.ts'
import { usePage } from '../lib/page.ts'
import { chosen, useAddress } from '../lib/router.ts'
import { Field, ReasonDialog, textIn, textsIn } from '../parts/dialog.tsx'
import { ChoiceFilter, Filters } from '../parts/filters.tsx'
import { SecretOnce } from '../parts/secret.tsx'
import { List } from '../parts/table.tsx'
import { Ago, Badge, Time } from '../parts/text.tsx'
import { toast } from '../parts/toasts.tsx'

type Key = Schemas['Key']

const scopes = [
  ['read', 'Read'],
  ['events:write', 'Post events'],
  ['operate', 'Operate: decide, change, give out keys'],
] as const

type Asked = { readonly what: 'add' } | { readonly what: 'rotate' | 'revoke'; readonly key: Key }

const AddKey = ({ close, made }: { readonly close: () => void; readonly made: (key: Schemas['NewKey']) => void }) => (
  <ReasonDialog
    title="Add a key"
    meaning="The key is shown once, when it has been added. It can have no right that you do not have."
    action="Add"
    decide={async (because, form) => {
      const sellers = textsIn(form, 'sellerIds')
      const body = {
        name: textIn(form, 'name'),
        scopes: scopes.flatMap(([scope]) => (form.getAll('scopes').includes(scope) ? [scope] : [])),
        sellerIds: sellers.length === 0 ? null : sellers,
        ...because,
      }
      made(await answered(api.POST('/v1/keys', { body })))
    }}
    close={close}
  >
    <Field name="name" label="Name" hint="Who acts with it, as the audit says." required />
    <fieldset>
      <legend>Rights</legend>
      {scopes.map(([scope, words]) => (
        <label key={scope} class="choice">
          <input type="checkbox" name="scopes" value={scope} defaultChecked={scope === 'read'} />
          {words}
        </label>
      ))}
    </fieldset>
    <Field name="sellerIds" label="Sellers" hint="Ids separated by commas; empty: all, also those that are added later." />
  </ReasonDialog>
)

/** Keys of programs and people. */
export const Keys = () => {
  const at = useAddress()
  const [asked, setAsked] = useState<Asked | null>(null)
  const [made, setMade] = useState<Schemas['NewKey'] | null>(null)
  const query = chosen(at, { state: ['all'] })
  const keys = usePage('keys', at, query, (page) => answered(api.GET('/v1/keys', { params: { query: page } })), {
    everyMs: 60_000,
  })
  const show = (key: Schemas['NewKey']): void => {
    setMade(key)
    keys.reload()
  }
  return (
    <>
      <h1 tabIndex={-1}>Keys</h1>
      <p class="row">
        <span class="faint">
          Each program and person has a key of its own; <a href="/console/audit">the audit</a> says what was done with it.
        </span>
        <button type="button" onClick={() => setAsked({ what: 'add' })}>
          Add a key
        </button>
      </p>
      {made !== null && <SecretOnce what={`Key ${made.name}`} secret={made.key} done={() => setMade(null)} />}
      <Filters>
        <ChoiceFilter
          at={at}
          name="state"
          label="State"
          options={[
            ['', 'Active'],
            ['all', 'Revoked ones too'],
          ]}
        />
      </Filters>
      <List
        caption="Keys"
        query={keys}
        at={at}
        keyOf={({ id }) => id}
        empty="There is no key besides API_KEY. Add one for each program and person."
        csv={{ path: `/v1/keys?${new URLSearchParams(query)}`, name: 'keys' }}
        columns={[
          { head: 'Name', cell: ({ name, id }) => <a href={`/console/audit?keyId=${encodeURIComponent(id)}`}>{name}</a> },
          { head: 'Rights', cell: (key) => key.scopes.join(', ') },
          { head: 'Sellers', cell: ({ sellerIds }) => (sellerIds === null ? 'all' : sellerIds.join(', ')) },
          { head: 'Last used', cell: ({ lastUsedAt }) => (lastUsedAt === null ? 'never' : <Ago at={lastUsedAt} />) },
          {
            head: 'Added',
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
            cell: (key) =>
              key.revokedAt !== null ? (
                <Badge tone="bad">revoked</Badge>
              ) : (
                <span class="row">
                  <button type="button" aria-label={`Rotate ${key.name}`} onClick={() => setAsked({ what: 'rotate', key })}>
                    Rotate
                  </button>
                  <button type="button" aria-label={`Revoke ${key.name}`} onClick={() => setAsked({ what: 'revoke', key })}>
                    Revoke
                  </button>
                </span>
              ),
          },
        ]}
      />
      {asked?.what === 'add' && <AddKey close={() => setAsked(null)} made={show} />}
      {asked?.what === 'rotate' && (
        <ReasonDialog
          title={`Rotate ${asked.key.name}`}
          meaning="It gets another secret, which is shown once. The one before is accepted for the time of the overlap."
          action="Rotate"
          decide={async (because, form) => {
            const overlapSeconds = Math.round(Number(textIn(form, 'overlapHours')) * 3_600)
            const parameters = { params: { path: { id: asked.key.id } }, body: { overlapSeconds, ...because } }
            show(await answered(api.POST('/v1/keys/{id}/rotate', parameters)))
          }}
          close={() => setAsked(null)}
        >
          <Field name="overlapHours" label="Overlap in hours" type="number" initial="24" required />
        </ReasonDialog>
      )}
      {asked?.what === 'revoke' && (
        <ReasonDialog
          title={`Revoke ${asked.key.name}`}
          meaning="It is refused from now on, and sessions that were opened with it end. This cannot be taken back."
          action="Revoke"
          decide={async (because) => {
            await answered(api.DELETE('/v1/keys/{id}', { params: { path: { id: asked.key.id }, query: because } }))
            toast(`The key ${asked.key.name} is revoked.`)
            keys.reload()
          }}
          close={() => setAsked(null)}
        />
      )}
    </>
  )
}
