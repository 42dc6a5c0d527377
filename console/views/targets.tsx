import { api, readAnswer } from '../lib/api.ts'
import { count } from '../lib/format.ts'
import { usePage } from '../lib/page.ts'
import { flags, readChoices, readParameters, useAddress } from '../lib/router.ts'
import { ChoiceFilter, Filters, SellerFilter, TextFilter } from '../parts/filters.tsx'
import { List, sellerColumn } from '../parts/table.tsx'
import { Badge, None, Time } from '../parts/text.tsx'

const tactics = ['contextual', 'behavioral'] as const

/** Targets and audiences of display advertising, with their reach. */
export const Targets = () => {
  const at = useAddress()
  const query = { ...readParameters(at, ['sellerId', 'q']), ...readChoices(at, { tactic: tactics, usable: flags }) }
  const targets = usePage('targets', at, query, (page) => readAnswer(api.GET('/v1/targets', { params: { query: page } })), {
    topics: ['target', 'taxonomy'],
    everyMs: 60_000,
  })
  return (
    <>
      <h1 tabIndex={-1}>Targets</h1>
      <p class="faint">Targets of ads: nodes of the catalogue with their reach, and audiences.</p>
      <Filters at={at}>
        <TextFilter at={at} name="q" label="Name or path" />
        <ChoiceFilter
          at={at}
          name="tactic"
          label="Kind"
          options={[
            ['', 'All'],
            ['contextual', 'Nodes of the catalogue'],
            ['behavioral', 'Audiences'],
          ]}
        />
        <ChoiceFilter
          at={at}
          name="usable"
          label="Usable"
          options={[
            ['', 'All'],
            ['true', 'Usable now'],
            ['false', 'Disabled or missing'],
          ]}
        />
        <SellerFilter at={at} />
      </Filters>
      <List
        caption="Targets"
        query={targets}
        at={at}
        buildKey={({ sellerId, tactic: kind, id }) => `${sellerId}/${kind}/${id}`}
        empty="No target matches. Targets are read when display advertising is set up (DISPLAY_URL)."
        csv={{ path: `/v1/targets?${new URLSearchParams(query)}`, name: 'targets' }}
        columns={[
          { head: 'Target', wraps: true, cell: ({ name, id }) => name ?? id },
          {
            head: 'Kind',
            cell: ({ tactic: kind, audienceType, attribute }) =>
              kind === 'contextual'
                ? 'node'
                : [audienceType, attribute]
                    .filter((part) => part !== null)
                    .join(' ')
                    .toLowerCase(),
          },
          { head: 'Path', wraps: true, cell: ({ taxonPath }) => (taxonPath === null ? <None /> : taxonPath.join(' › ')) },
          {
            head: 'Reach',
            wraps: true,
            cell: ({ reach, reachBands }) =>
              reach === null || reach.length === 0 ? (
                <None />
              ) : (
                <>
                  {reachBands?.map((band) => (
                    <Badge key={band}>{band.toLowerCase()}</Badge>
                  ))}{' '}
                  <span class="faint">{reach.join(', ').toLowerCase().replaceAll('_', ' ')}</span>
                </>
              ),
          },
          { head: 'Items', number: true, cell: ({ itemCount }) => (itemCount === null ? <None /> : count(itemCount)) },
          {
            head: 'Usable',
            cell: ({ usable: isUsable, missingSince, isDisabled }) =>
              isUsable ? (
                <Badge tone="good">yes</Badge>
              ) : missingSince !== null ? (
                <Badge tone="bad">missing</Badge>
              ) : (
                <Badge tone="warn">{isDisabled === true ? 'disabled' : 'not known'}</Badge>
              ),
          },
          sellerColumn,
          { head: 'Changed', cell: ({ changedAt }) => <Time at={changedAt} /> },
        ]}
      />
    </>
  )
}
