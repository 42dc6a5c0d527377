import { answered, api, type Schemas } from '../lib/api.ts'
import { several } from '../lib/format.ts'
import { useQuery } from '../lib/query.ts'
import { oneOf, useAddress } from '../lib/router.ts'
import { ChoiceFilter, Filters, optionsOf, TextFilter } from '../parts/filters.tsx'
import { Empty, Loaded } from '../parts/states.tsx'
import { Rows } from '../parts/table.tsx'
import { Badge } from '../parts/text.tsx'

type Setting = Schemas['Setting']

const origins = ['default', 'environment', 'file'] as const

const Value = ({ value, secret, isSet }: Setting) => {
  if (secret && isSet) return <span>••••••</span>
  return <span class={value === null ? 'faint' : ''}>{value === null ? 'not set' : value === '' ? 'empty' : value}</span>
}

/** The settings that are in force. */
export const Settings = () => {
  const at = useAddress()
  const settings = useQuery('settings', () => answered(api.GET('/v1/settings')), { everyMs: 300_000 })
  const from = oneOf(at, 'from', origins)
  const name = (at.parameters.get('name') ?? '').toUpperCase()
  return (
    <>
      <h1 tabIndex={-1}>Settings</h1>
      <p class="faint">
        What holds in the process that answers, since its start. Values of secrets never leave it. Settings change with the
        environment and a new start.
      </p>
      <Filters>
        <TextFilter at={at} name="name" label="Name" />
        <ChoiceFilter at={at} name="from" label="Set by" options={optionsOf(origins)} />
      </Filters>
      <Loaded query={settings}>
        {({ items, unknown }) => {
          const shown = items.filter((item) => item.name.includes(name) && (from === undefined || item.from === from))
          return (
            <>
              {unknown.length > 0 && (
                <p class="notice warn">
                  {several(unknown.length, 'variable')} look like settings and are none, so nothing reads them:{' '}
                  {unknown.join(', ')}.
                </p>
              )}
              {shown.length === 0 ? (
                <Empty>No setting fits.</Empty>
              ) : (
                <Rows
                  caption="Settings"
                  rows={shown}
                  keyOf={(item) => item.name}
                  columns={[
                    { head: 'Name', cell: (item) => <code>{item.name}</code> },
                    { head: 'Value', cell: (item) => <Value {...item} /> },
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
