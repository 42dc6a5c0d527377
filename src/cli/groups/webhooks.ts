import { type Command, Option } from 'commander'
import { Misused } from '../../api-client/errors.ts'
import { parseCount, parseOverlap } from '../arguments.ts'
import type { CommandRegistry } from '../command-registry.ts'
import {
  addWebhook,
  listWebhookDeliveries,
  listWebhooks,
  redeliverWebhook,
  removeWebhook,
  rotateWebhook,
  setWebhookState,
  testWebhook,
} from '../commands/webhooks.ts'

/** Adds `tallyman webhooks`. */
export const addWebhooks = ({ program, defineCommand, runAction }: CommandRegistry): void => {
  const webhooks = program.command('webhooks').description('receivers of changes')
  defineCommand(webhooks, 'list', 'endpoints with their state', { isDefault: true })
    .option('--limit <number>', 'maximum number of entries', parseCount, 100)
    .action((options: { limit: number }, command: Command) =>
      runAction(command, (context) => listWebhooks(context, options.limit)),
    )
  defineCommand(webhooks, 'add', 'adds an endpoint and prints its secret, once')
    .argument('<url>', 'https://…')
    .option('--types <list>', 'types of changes, such as order.*,command.confirmed (default: all)')
    .option('--seller <id>', 'changes of this seller only')
    .option('--after <sequence>', 'begins after this change (default: with the next one)')
    .action((url: string, options: { types?: string; seller?: string; after?: string }, command: Command) =>
      runAction(command, (context) => {
        const { types = null, seller: sellerId = null, after = null } = options
        return addWebhook(context, { url, types, sellerId, after })
      }),
    )
  defineCommand(webhooks, 'remove', 'removes an endpoint with its secrets and deliveries')
    .argument('<id>')
    .action((id: string, _options: object, command: Command) => runAction(command, (context) => removeWebhook(context, id)))
  defineCommand(webhooks, 'pause', 'sends nothing until it is resumed; changes are kept until then')
    .argument('<id>')
    .action((id: string, _options: object, command: Command) =>
      runAction(command, (context) => setWebhookState(context, { id, state: 'paused' })),
    )
  defineCommand(webhooks, 'resume', 'continues at its position; waiting messages are sent now')
    .argument('<id>')
    .action((id: string, _options: object, command: Command) =>
      runAction(command, (context) => setWebhookState(context, { id, state: 'active' })),
    )
  defineCommand(webhooks, 'rotate', 'rotates the secret of an endpoint and prints it, once')
    .argument('<id>')
    .option('--overlap <seconds>', 'how long messages are also signed with the old secret', parseOverlap, 86_400)
    .action((id: string, options: { overlap: number }, command: Command) =>
      runAction(command, (context) => rotateWebhook(context, { id, overlapSeconds: options.overlap })),
    )
  defineCommand(webhooks, 'test', 'sends a test message now and prints the result')
    .argument('<id>')
    .action((id: string, _options: object, command: Command) => runAction(command, (context) => testWebhook(context, id)))
  defineCommand(webhooks, 'redeliver', 'sends messages again, by id of the delivery or by range of changes')
    .argument('<id>', 'of the endpoint')
    .argument('[deliveries...]', 'ids of deliveries')
    .option('--after <sequence>', 'changes after this one')
    .option('--before <sequence>', 'changes before this one')
    .action((id: string, ids: string[], { after, before }: { after?: string; before?: string }, command: Command) =>
      runAction(command, (context) => {
        if (ids.length > 0 && after === undefined && before === undefined)
          return redeliverWebhook(context, { id, selection: { ids } })
        if (ids.length === 0 && after !== undefined && before !== undefined)
          return redeliverWebhook(context, { id, selection: { after, before } })
        throw new Misused('give ids of deliveries, or --after and --before')
      }),
    )
  defineCommand(webhooks, 'deliveries', 'messages of an endpoint, the latest first')
    .argument('<id>')
    .addOption(new Option('--status <status>', 'in this status').choices(['pending', 'delivered', 'failed']))
    .option('--limit <number>', 'maximum number of entries', parseCount, 100)
    .action((id: string, options: { status?: string; limit: number }, command: Command) =>
      runAction(command, (context) =>
        listWebhookDeliveries(context, { id, status: options.status ?? null, limit: options.limit }),
      ),
    )
}
