import { useState } from 'preact/hooks'
import { api, Refused, readAnswer, type Schemas } from '../lib/api.ts'
import { formatMoney, pluralize } from '../lib/format.ts'
import { usePage } from '../lib/page.ts'
import { invalidate, useQuery } from '../lib/query.ts'
import { useMay } from '../lib/rights.ts'
import { flags, readChoices, readParameters, useAddress } from '../lib/router.ts'
import { useAction } from '../parts/action.ts'
import { PartsBar } from '../parts/charts.tsx'
import { Field, FormDialog, readText, readTexts } from '../parts/dialog.tsx'
import { ChoiceFilter, Filters, SellerFilter, TextFilter } from '../parts/filters.tsx'
import { Empty, Loaded } from '../parts/states.tsx'
import { List, sellerColumn } from '../parts/table.tsx'
import { Badge, Money, None, Time, type Tone } from '../parts/text.tsx'
import { toast } from '../parts/toasts.tsx'

type Campaign = Schemas['Campaign']
type Detail = Schemas['CampaignDetail']

const statuses = [
  'READY',
  'SCHEDULED',
  'RUNNING',
  'LIMITED_BY_BUDGET',
  'BUDGET_EXHAUSTED',
  'CAMPAIGN_ENDING_SOON',
  'COMPLETED',
  'STOPPED',
  'DELETED',
] as const
const tones: Readonly<Record<string, Tone>> = {
  RUNNING: 'good',
  LIMITED_BY_BUDGET: 'warn',
  CAMPAIGN_ENDING_SOON: 'warn',
  BUDGET_EXHAUSTED: 'bad',
}
const colours: Readonly<Record<string, string>> = {
  RUNNING: 'b',
  LIMITED_BY_BUDGET: 'd',
  BUDGET_EXHAUSTED: 'c',
  CAMPAIGN_ENDING_SOON: 'e',
}

/** The marketplace reports budgets without a currency. */
const currencyNote = "in the currency of the seller's account"

const formatCampaignStatus = (status: string): string => status.toLowerCase().replaceAll('_', ' ')

const Status = ({ campaign }: { readonly campaign: Pick<Campaign, 'status' | 'missingSince'> }) => (
  <>
    {campaign.status === null ? (
      <span class="faint">not read yet</span>
    ) : (
      <Badge tone={tones[campaign.status] ?? 'plain'}>{formatCampaignStatus(campaign.status)}</Badge>
    )}
    {campaign.missingSince !== null && (
      <>
        {' '}
        <Badge tone="bad">missing</Badge>
      </>
    )}
  </>
)

const buildAddress = ({ sellerId, campaignId }: Pick<Campaign, 'sellerId' | 'campaignId'>): string =>
  `/console/campaigns/${encodeURIComponent(campaignId)}?sellerId=${encodeURIComponent(sellerId)}`

const watch = async (body: { sellerId?: string; campaignIds: string[] }): Promise<void> => {
  const { added } = await readAnswer(api.POST('/v1/campaigns', { body }))
  toast(added.length === 0 ? 'All of them are watched already.' : `${pluralize(added.length, 'campaign')} will be read now.`)
  invalidate()
}

/** Watched campaigns. */
export const Campaigns = () => {
  const may = useMay()
  const at = useAddress()
  const [dialog, setDialog] = useState(false)
  const query = { ...readParameters(at, ['sellerId', 'campaignId', 'status']), ...readChoices(at, { watched: flags }) }
  const campaigns = usePage('campaigns', at, query, (page) => readAnswer(api.GET('/v1/campaigns', { params: { query: page } })), {
    topics: ['campaign'],
  })
  return (
    <>
      <h1 tabIndex={-1}>Campaigns</h1>
      <p class="row">
        <span class="faint">
          The marketplace does not list campaigns: only campaigns whose ids are given here or in CAMPAIGN_IDS are read. Budgets
          are {currencyNote}.
        </span>
        {may('operate') && (
          <button type="button" onClick={() => setDialog(true)}>
            Watch campaigns
          </button>
        )}
      </p>
      <Filters at={at}>
        <ChoiceFilter
          at={at}
          name="status"
          label="Status"
          options={[['', 'All'], ...statuses.map((status) => [status, formatCampaignStatus(status)] as const)]}
        />
        <ChoiceFilter
          at={at}
          name="watched"
          label="Watched"
          options={[
            ['', 'All'],
            ['true', 'Watched'],
            ['false', 'No longer watched'],
          ]}
        />
        <TextFilter at={at} name="campaignId" label="Campaign" />
        <SellerFilter at={at} />
      </Filters>
      <List
        caption="Campaigns"
        query={campaigns}
        at={at}
        buildKey={({ sellerId, campaignId }) => `${sellerId}/${campaignId}`}
        empty="No campaign matches. Add ids with “Watch campaigns”."
        csv={{ path: `/v1/campaigns?${new URLSearchParams(query)}`, name: 'campaigns' }}
        columns={[
          { head: 'Campaign', wraps: true, cell: (row) => <a href={buildAddress(row)}>{row.name ?? row.campaignId}</a> },
          { head: 'Status', wraps: true, cell: (row) => <Status campaign={row} /> },
          sellerColumn,
          { head: 'From', cell: ({ startDate }) => startDate ?? <None /> },
          { head: 'To', cell: ({ endDate, startDate }) => endDate ?? (startDate === null ? <None /> : 'open end') },
          { head: 'Budget per day', number: true, cell: ({ dailyBudget }) => <Money amount={dailyBudget} currency={null} /> },
          { head: 'Total budget', number: true, cell: ({ totalBudget }) => <Money amount={totalBudget} currency={null} /> },
          {
            head: 'Read',
            wraps: true,
            cell: ({ observedAt, problem }) => (problem === null ? <Time at={observedAt} /> : problem),
          },
        ]}
      />
      {dialog && (
        <FormDialog
          title="Watch campaigns"
          meaning="Campaigns with these ids are read now, and then polled; more often when they are near their budget or end."
          action="Watch"
          submit={async (form) => {
            const sellerId = readText(form, 'sellerId')
            await watch({ campaignIds: readTexts(form, 'campaignIds'), ...(sellerId === '' ? {} : { sellerId }) })
          }}
          close={() => setDialog(false)}
        >
          <Field name="campaignIds" label="Campaign ids" hint="Separated by commas or blanks." required />
          <Field
            name="sellerId"
            label="Seller"
            hint="Required if there are several sellers."
            initial={at.parameters.get('sellerId') ?? ''}
          />
        </FormDialog>
      )}
    </>
  )
}

const dayMs = 86_400_000

/** The elapsed time, and the budget that the elapsed days could have used. */
const Budget = ({ campaign }: { readonly campaign: Detail }) => {
  const { startDate, endDate, dailyBudget, totalBudget } = campaign
  if (startDate === null) return <Empty>The campaign has no start date yet.</Empty>
  const begin = Date.parse(startDate)
  // The last day counts as a whole.
  const days = endDate === null ? null : Math.max(1, Math.round((Date.parse(endDate) - begin) / dayMs) + 1)
  const elapsedDays = Math.max(0, Math.ceil((Date.now() - begin) / dayMs))
  const over = days === null ? elapsedDays : Math.min(elapsedDays, days)
  const daily = dailyBudget === null ? null : Number(dailyBudget)
  const total = totalBudget === null ? null : Number(totalBudget)
  const usable = daily === null ? null : Math.round(daily * over)
  const whole = total ?? (daily === null || days === null ? null : Math.round(daily * days))
  return (
    <>
      {days === null ? (
        <p>{pluralize(over, 'day')} so far, with an open end.</p>
      ) : (
        <PartsBar
          label={`Time, ${pluralize(days, 'day')}`}
          whole={days}
          parts={[{ label: 'elapsed days', value: over, tone: 'a' }]}
        />
      )}
      {whole !== null && usable !== null ? (
        <PartsBar
          label={`Budget, ${formatMoney(String(whole), '')} in total`}
          whole={whole}
          parts={[{ label: 'usable so far at the daily budget', value: Math.min(whole, usable), tone: 'd' }]}
        />
      ) : (
        <p>
          {daily === null
            ? 'There is no daily budget.'
            : `At most ${formatMoney(String(usable), '')} so far, at ${formatMoney(String(daily), '')} per day.`}
        </p>
      )}
      <p class="faint">
        {whole !== null && usable !== null && usable > whole && over < (days ?? Number.POSITIVE_INFINITY)
          ? `At the daily budget it is used up after ${pluralize(Math.ceil(whole / (daily ?? whole)), 'day')}, before the end. `
          : ''}
        The marketplace does not report the spent amount; only the status shows whether the budget is nearly used up.
      </p>
    </>
  )
}

/** The share of the observed time in each status. */
const Shares = ({ campaign }: { readonly campaign: Detail }) => {
  const { statusChanges } = campaign
  const minutes = new Map<string, number>()
  for (const [index, { toStatus, seenAt }] of statusChanges.entries()) {
    const until = statusChanges[index + 1]?.seenAt
    const spent = Math.max(0, (until === undefined ? Date.now() : Date.parse(until)) - Date.parse(seenAt))
    minutes.set(toStatus, (minutes.get(toStatus) ?? 0) + Math.round(spent / 60_000))
  }
  const parts = [...minutes].map(([status, value]) => ({
    label: formatCampaignStatus(status),
    value,
    tone: colours[status] ?? 'f',
  }))
  const whole = parts.reduce((sum, { value }) => sum + value, 0)
  return whole === 0 ? null : <PartsBar label="Minutes in each status" whole={whole} parts={parts} />
}

const Timeline = ({ campaign }: { readonly campaign: Detail }) =>
  campaign.statusChanges.length === 0 ? (
    <Empty>The campaign has not been read yet.</Empty>
  ) : (
    <ol class="timeline">
      {[...campaign.statusChanges].reverse().map(({ fromStatus, toStatus, seenAt, legal, missed }) => (
        <li key={`${seenAt} ${toStatus}`} class={`moment ${legal === false ? 'decision' : 'event'}`}>
          <p>
            <Badge tone={tones[toStatus] ?? 'plain'}>{formatCampaignStatus(toStatus)}</Badge> <Time at={seenAt} />
          </p>
          <p class="faint">
            {fromStatus === null ? 'first seen' : `before: ${formatCampaignStatus(fromStatus)}`}
            {legal === false &&
              (missed === null
                ? '; this transition is not in the specification'
                : `; between two reads it passed ${missed.map(formatCampaignStatus).join(', ')}`)}
          </p>
        </li>
      ))}
    </ol>
  )

const CampaignDetails = ({ campaign, reload }: { readonly campaign: Detail; readonly reload: () => void }) => {
  const { busy, runAction } = useAction()
  const may = useMay()
  const [dialog, setDialog] = useState(false)
  const { sellerId, campaignId, watched } = campaign
  return (
    <>
      <h1 tabIndex={-1}>{campaign.name ?? campaignId}</h1>
      {campaign.problem !== null && <p class="notice bad">The campaign could not be read last time: {campaign.problem}</p>}
      {campaign.missingSince !== null && (
        <p class="notice warn">
          The campaign is missing at the marketplace since <Time at={campaign.missingSince} />.
        </p>
      )}
      <dl class="facts card">
        <dt>Status</dt>
        <dd>
          <Status campaign={campaign} />
        </dd>
        <dt>Campaign</dt>
        <dd>
          {campaignId} of {sellerId}
        </dd>
        <dt>Dates</dt>
        <dd>
          {campaign.startDate ?? 'not known'} to {campaign.endDate ?? 'open end'}
        </dd>
        <dt>Budget</dt>
        <dd>
          {campaign.dailyBudget === null ? 'none' : formatMoney(campaign.dailyBudget, '')} per day,{' '}
          {campaign.totalBudget === null ? 'no limit' : formatMoney(campaign.totalBudget, '')} in total, {currencyNote}
        </dd>
        <dt>Target</dt>
        <dd>{campaign.targetRoas === null ? <None /> : `${campaign.targetRoas} return on ad spend`}</dd>
        <dt>Next statuses</dt>
        <dd>{campaign.nextStatuses.length === 0 ? 'none' : campaign.nextStatuses.map(formatCampaignStatus).join(', ')}</dd>
        <dt>Read</dt>
        <dd>
          <Time at={campaign.observedAt} />; polled as {campaign.urgency}
        </dd>
      </dl>
      <h2>Budget against time</h2>
      <div class="card">
        <Budget campaign={campaign} />
      </div>
      <h2>Status, in minutes</h2>
      <Shares campaign={campaign} />
      <Timeline campaign={campaign} />
      {may('operate') && (
        <p class="row">
          {watched ? (
            <button type="button" onClick={() => setDialog(true)}>
              Stop watching
            </button>
          ) : (
            <button type="button" disabled={busy} onClick={() => runAction(() => watch({ sellerId, campaignIds: [campaignId] }))}>
              Watch it again
            </button>
          )}
        </p>
      )}
      {dialog && (
        <FormDialog
          title="Stop watching"
          meaning="The campaign is no longer read. Stored data are kept."
          action="Stop watching"
          submit={async () => {
            const parameters = { params: { path: { campaignId }, query: { sellerId } } }
            await readAnswer(api.DELETE('/v1/campaigns/{campaignId}', parameters))
            toast('The campaign is no longer read.')
            reload()
          }}
          close={() => setDialog(false)}
        />
      )}
    </>
  )
}

/** @throws Refused @throws Unreachable */
const readCampaign = async (campaignId: string, query: { sellerId?: string }): Promise<Detail> => {
  try {
    return await readAnswer(api.GET('/v1/campaigns/{campaignId}', { params: { path: { campaignId }, query } }))
  } catch (error) {
    if (!(error instanceof Refused) || error.status !== 404) throw error
    // The interface's text is for programs.
    const of = query.sellerId === undefined ? '' : ` of ${query.sellerId}`
    throw new Refused(
      404,
      `There is no campaign ${campaignId}${of} here: it has never been watched. Campaigns can be watched in their list.`,
    )
  }
}

/** One campaign: its status over time, and its budget against its time. */
export const CampaignView = ({ parts }: { readonly parts: Readonly<Record<string, string>> }) => {
  const at = useAddress()
  const { id: campaignId = '' } = parts
  const query = readParameters(at, ['sellerId'])
  const campaign = useQuery(`campaign ${campaignId} ${JSON.stringify(query)}`, () => readCampaign(campaignId, query), {
    topics: ['campaign'],
  })
  return (
    <Loaded query={campaign} heading={`Campaign ${campaignId}`}>
      {(data) => <CampaignDetails campaign={data} reload={campaign.reload} />}
    </Loaded>
  )
}
