import type { Command } from 'commander'
import { parseCount } from '../arguments.ts'
import type { CommandRegistry } from '../command-registry.ts'
import { listCampaigns, unwatchCampaign, watchCampaigns } from '../commands/campaigns.ts'

/** Adds `tallyman campaigns`. */
export const addCampaigns = ({ program, defineCommand, runAction }: CommandRegistry): void => {
  const campaigns = program.command('campaigns').description('advertising campaigns that are watched')
  defineCommand(campaigns, 'list', 'campaigns with their status', { isDefault: true })
    .option('--seller <id>', 'of this seller only')
    .option('--status <status>', 'in this status, such as RUNNING')
    .option('--limit <number>', 'maximum number of entries', parseCount, 100)
    .action((options: { seller?: string; status?: string; limit: number }, command: Command) =>
      runAction(command, (context) =>
        listCampaigns(context, { sellerId: options.seller ?? null, status: options.status ?? null, limit: options.limit }),
      ),
    )
  defineCommand(campaigns, 'watch', 'reads these campaigns from now on')
    .argument('<id...>')
    .option('--seller <id>', 'their seller; required when there are several sellers')
    .action((campaignIds: string[], options: { seller?: string }, command: Command) =>
      runAction(command, (context) => watchCampaigns(context, { campaignIds, sellerId: options.seller ?? null })),
    )
  defineCommand(campaigns, 'unwatch', 'stops reading a campaign; stored data is kept')
    .argument('<id>')
    .option('--seller <id>', 'its seller; required when several sellers have it')
    .action((campaignId: string, options: { seller?: string }, command: Command) =>
      runAction(command, (context) => unwatchCampaign(context, { campaignId, sellerId: options.seller ?? null })),
    )
}
