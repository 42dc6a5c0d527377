import { z } from 'zod'
import type { CliContext } from '../context.ts'
import { readList } from '../output/lists.ts'
import { count, print, printJson, printMessage, printTable, type Tone } from '../output/terminal.ts'

const campaignSchema = z.looseObject({
  sellerId: z.string(),
  campaignId: z.string(),
  name: z.string().nullish(),
  status: z.string().nullish(),
  urgency: z.string().nullish(),
  endDate: z.string().nullish(),
  dailyBudget: z.string().nullish(),
  totalBudget: z.string().nullish(),
  watched: z.boolean(),
  missingSince: z.string().nullish(),
  problem: z.string().nullish(),
})

const tones: Readonly<Record<string, Tone>> = {
  RUNNING: 'good',
  LIMITED_BY_BUDGET: 'warning',
  BUDGET_EXHAUSTED: 'bad',
  CAMPAIGN_ENDING_SOON: 'warning',
}

const statusCell = (status: string | null | undefined) => {
  if (status === null || status === undefined) return { text: 'not read yet', tone: 'quiet' } as const
  const tone = tones[status]
  return tone === undefined ? status : { text: status, tone }
}

const findNote = ({ watched, missingSince, problem }: z.infer<typeof campaignSchema>): string => {
  if (!watched) return 'no longer watched'
  if (typeof missingSince === 'string') return `unknown to the marketplace since ${missingSince}`
  return problem ?? ''
}

/** `tallyman campaigns list`. */
export const listCampaigns = async (
  { terminal, daemon }: CliContext,
  { sellerId, status, limit }: { sellerId: string | null; status: string | null; limit: number },
): Promise<void> => {
  const { items, more } = await readList(daemon, '/v1/campaigns', campaignSchema, limit, { sellerId, status })
  if (terminal.json) return printJson(terminal, { items, more })
  printTable(
    terminal,
    [
      { heading: 'campaign' },
      { heading: 'name' },
      { heading: 'status' },
      { heading: 'ends' },
      { heading: 'daily', align: 'right' },
      { heading: 'total', align: 'right' },
      { heading: 'polled' },
      { heading: 'seller' },
      { heading: 'note' },
    ],
    items.map((campaign) => [
      campaign.campaignId,
      campaign.name ?? '',
      statusCell(campaign.status),
      campaign.endDate ?? '',
      campaign.dailyBudget ?? '',
      campaign.totalBudget ?? '',
      campaign.watched ? (campaign.urgency ?? '') : '',
      campaign.sellerId,
      findNote(campaign),
    ]),
  )
  if (more) printMessage(terminal, 'there are more; --limit shows them')
}

/** `tallyman campaigns watch`. */
export const watchCampaigns = async (
  { terminal, daemon }: CliContext,
  { campaignIds, sellerId }: { campaignIds: readonly string[]; sellerId: string | null },
): Promise<void> => {
  const answer = await daemon.post(
    '/v1/campaigns',
    z.looseObject({ sellerId: z.string(), campaignIds: z.array(z.string()), added: z.array(z.string()) }),
    { body: { campaignIds, ...(sellerId === null ? {} : { sellerId }) } },
  )
  if (terminal.json) return printJson(terminal, answer)
  const known = answer.campaignIds.length - answer.added.length
  const note = known === 0 ? '' : `; ${count(known, 'campaign')} ${known === 1 ? 'was' : 'were'} already watched`
  print(terminal, `watching ${count(answer.added.length, 'new campaign')} of seller ${answer.sellerId}${note}`)
}

/** `tallyman campaigns unwatch`. */
export const unwatchCampaign = async (
  { terminal, daemon }: CliContext,
  { campaignId, sellerId }: { campaignId: string; sellerId: string | null },
): Promise<void> => {
  const answer = await daemon.delete(
    `/v1/campaigns/${encodeURIComponent(campaignId)}`,
    z.looseObject({ sellerId: z.string(), campaignId: z.string() }),
    { query: { sellerId } },
  )
  if (terminal.json) printJson(terminal, answer)
  else print(terminal, `campaign ${answer.campaignId} of seller ${answer.sellerId} is no longer watched; stored data is kept`)
}
