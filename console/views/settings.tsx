import { api, readAnswer, type Schemas } from '../lib/api.ts'
import { pluralize } from '../lib/format.ts'
import { useQuery } from '../lib/query.ts'
import { readChoice, useAddress } from '../lib/router.ts'
import { buildOptions, ChoiceFilter, Filters, TextFilter } from '../parts/filters.tsx'
import { Empty, Loaded } from '../parts/states.tsx'
import { Rows } from '../parts/table.tsx'
import { Badge, Sentence } from '../parts/text.tsx'

type Setting = Schemas['Setting']

const origins = ['default', 'environment', 'file'] as const

const Value = ({ value, secret, isSet }: Setting) => {
  if (secret && isSet) return <span>••••••</span>
  return <span class={value === null ? 'faint' : ''}>{value === null ? 'not set' : value === '' ? 'empty' : value}</span>
}

/** The effective settings. */
export const Settings = () => {
  const at = useAddress()
  const settings = useQuery('settings', () => readAnswer(api.GET('/v1/settings')), { everyMs: 300_000 })
  const from = readChoice(at, 'from', origins)
  const name = (at.parameters.get('name') ?? '').toUpperCase()
  return (
    <>
      <h1 tabIndex={-1}>Settings</h1>
      <p class="faint">
        Settings of the answering process, as of its start. Values of secrets are not shown. Settings change with the environment
        and a restart.
      </p>
      <Filters at={at}>
        <TextFilter at={at} name="name" label="Name" />
        <ChoiceFilter at={at} name="from" label="Set by" options={buildOptions(origins)} />
      </Filters>
      <Loaded query={settings}>
        {({ items, unknown }) => {
          const shown = items.filter((item) => item.name.includes(name) && (from === undefined || item.from === from))
          return (
            <>
              {unknown.length > 0 && (
                <p class="notice warn">
                  {pluralize(unknown.length, 'variable')} with the prefix of a setting, without any effect: {unknown.join(', ')}.
                </p>
              )}
              {shown.length === 0 ? (
                <Empty>No setting matches.</Empty>
              ) : (
                <Rows
                  caption="Settings"
                  rows={shown}
                  buildKey={(item) => item.name}
                  columns={[
                    { head: 'Name', cell: (item) => <code>{item.name}</code> },
                    { head: 'Meaning', wraps: true, cell: (item) => <Sentence text={item.meaning} /> },
                    { head: 'Value', wraps: true, cell: (item) => <Value {...item} /> },
                    {
                      head: 'Set by',
                      cell: (item) => <Badge tone={item.from === 'default' ? 'plain' : 'good'}>{item.from}</Badge>,
                    },
                  ]}
                />
              )}
            </>
          )
        }}
      </Loaded>
    </>
  )
}
