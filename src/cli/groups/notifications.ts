import { type Command, Option } from 'commander'
import { type ProofMode, proofModes } from '../../clients/marketplace/notifications/proof-modes.ts'
import { parseSeconds } from '../arguments.ts'
import type { CommandRegistry } from '../command-registry.ts'

interface ChangeArguments {
  readonly url?: string
  readonly mode?: ProofMode
  readonly seller?: string
  readonly dryRun?: true
  readonly yes?: true
  readonly renewSecret?: true
}

const readChange = ({ url, mode, seller, dryRun, yes }: ChangeArguments) => ({
  url: url ?? null,
  mode: mode ?? null,
  sellerId: seller ?? null,
  dryRun: dryRun === true,
  yes: yes === true,
})

/** Adds `tallyman notifications`. Its commands use the marketplace directly, with the settings of the daemon. */
export const addNotifications = ({ program, defineCommand, runAction, process }: CommandRegistry): void => {
  const notifications = program
    .command('notifications')
    .description("subscriptions to the marketplace's notifications; uses the marketplace and the settings directly")
  const seller = ['--seller <id>', 'only this seller (default: each seller of the settings)'] as const
  const addChangeOptions = (command: Command): Command =>
    command
      .addOption(new Option('--mode <mode>', 'how notifications are proven (default: as now, or hmac)').choices(proofModes))
      .option(...seller)
      .option('--dry-run', 'only shows the changes')
      .option('--yes', 'skips the confirmation')

  defineCommand(notifications, 'list', 'subscriptions with their state, and whether they lead to a daemon', { isDefault: true })
    .option('--url <url>', 'public address of this daemon; subscriptions to another one are marked')
    .option(...seller)
    .action((options: { url?: string; seller?: string }, command: Command) =>
      runAction(command, async (context) => {
        const { listNotifications } = await import('../commands/notifications.ts')
        return listNotifications(context, { url: options.url ?? null, sellerId: options.seller ?? null })
      }),
    )
  addChangeOptions(defineCommand(notifications, 'subscribe', 'subscribes to each event that the daemon reads'))
    .requiredOption('--url <url>', 'public address of the daemon, https://…')
    .action((options: ChangeArguments, command: Command) =>
      runAction(command, async (context) => {
        const { subscribeNotifications } = await import('../commands/notifications.ts')
        return subscribeNotifications(context, readChange(options), process.readLine)
      }),
    )
  defineCommand(notifications, 'test', 'has the marketplace send a sample, and shows whether the daemon has received it')
    .option(...seller)
    .option('--wait <seconds>', 'how long to wait for the daemon', parseSeconds, 10)
    .action((options: { seller?: string; wait: number }, command: Command) =>
      runAction(command, async (context) => {
        const { testNotifications } = await import('../commands/notifications.ts')
        return testNotifications(context, { sellerId: options.seller ?? null, waitMs: options.wait * 1_000 })
      }),
    )
  addChangeOptions(
    defineCommand(
      notifications,
      'repair',
      'corrects subscriptions that are missing, inactive, double, outdated or have another address',
    ),
  )
    .option('--url <url>', 'public address of the daemon (default: that of the existing subscriptions)')
    .option('--renew-secret', 'also sends the current secret to the correct subscriptions')
    .action((options: ChangeArguments, command: Command) =>
      runAction(command, async (context) => {
        const { repairNotifications } = await import('../commands/notifications.ts')
        const renewSecret = options.renewSecret === true
        return repairNotifications(context, { ...readChange(options), renewSecret }, process.readLine)
      }),
    )
}
