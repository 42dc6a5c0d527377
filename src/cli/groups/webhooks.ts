import { type Command, Option } from 'commander'
import { parseCount, parseOverlap } from '../arguments.ts'
import { Misused } from '../faults.ts'
import type { Program } from '../parts.ts'
import {
  addWebhook,
  listWebhookDeliveries,
  listWebhooks,
  redeliverWebhook,
  removeWebhook,
  rotateWebhook,
  setWebhookState,
  testWebhook,
} from '../webhooks.ts'

/** Adds `tallyman webhooks`. */
export const addWebhooks = ({ program, leaf, act }: Program): void => {
  const webhooks = program.command('webhooks').description('receivers of changes')
  leaf(webhooks, 'list', 'endpoints with their state', { isDefault: true })
    .option('--limit <number>', 'maximum number of entries', parseCount, 100)
    .action((options: { limit: number }, command: Command) => act(command, (context) => listWebhooks(context, options.limit)))
  leaf(webhooks, 'add', 'adds an endpoint and prints its secret, once')
    .argument('<url>', 'https://…')
    .option('--types <list>', 'types of changes, such as order.*,command.confirmed (default: all)')
    .option('--seller <id>', 'changes of this seller only')
    .option('--after <sequence>', 'begins after this change (default: with the next one)')
    .action((url: string, options: { types?: string; seller?: string; after?: string }, command: Command) =>
      act(command, (context) => {
        const { types = null, seller: sellerId = null, after = null } = options
        return addWebhook(context, { url, types, sellerId, after })
      }),
    )
  leaf(webhooks, 'remove', 'removes an endpoint with its secrets and deliveries')
    .argument('<id>')
    .action((id: string, _options: object, command: Command) => act(command, (context) => removeWebhook(context, id)))
  leaf(webhooks, 'pause', 'sends nothing more until it is resumed; nothing is forgotten')
    .argument('<id>')
    .action((id: string, _options: object, command: Command) =>
      act(command, (context) => setWebhookState(context, { id, state: 'paused' })),
    )
  leaf(webhooks, 'resume', 'goes on where it was; what waits is sent now')
    .argument('<id>')
    .action((id: string, _options: object, command: Command) =>
      act(command, (context) => setWebhookState(context, { id, state: 'active' })),
    )
  leaf(webhooks, 'rotate', 'gives an endpoint another secret and prints it, once')
    .argument('<id>')
    .option('--overlap <seconds>', 'how long the old secret still signs', parseOverlap, 86_400)
    .action((id: string, options: { overlap: number }, command: Command) =>
      act(command, (context) => rotateWebhook(context, { id, overlapSeconds: options.overlap })),
    )
  leaf(webhooks, 'test', 'sends a test message now and prints what became of it')
    .argument('<id>')
    .action((id: string, _options: object, command: Command) => act(command, (context) => testWebhook(context, id)))
  leaf(webhooks, 'redeliver', 'sends messages again, by id of the delivery or by range of changes')
    .argument('<id>', 'of the endpoint')
    .argument('[deliveries...]', 'ids of deliveries')
    .option('--after <sequence>', 'changes after this one')
    .option('--before <sequence>', 'changes before this one')
    .action((id: string, ids: string[], { after, before }: { after?: string; before?: string }, command: Command) =>
      act(command, (context) => {
        if (ids.length > 0 && after === undefined && before === undefined) return redeliverWebhook(context, { id, what: { ids } })
        if (ids.length === 0 && after !== undefined && before !== undefined)
          return redeliverWebhook(context, { id, what: { after, before } })
        throw new Misused('give ids of deliveries, or --after and --before')
      }),
    )
  leaf(webhooks, 'deliveries', 'messages of an endpoint, the latest first')
    .argument('<id>')
    .addOption(new Option('--status <status>', 'in this status').choices(['pending', 'delivered', 'failed']))
    .option('--limit <number>', 'maximum number of entries', parseCount, 100)
    .action((id: string, options: { status?: string; limit: number }, command: Command) =>
      act(command, (context) => listWebhookDeliveries(context, { id, status: options.status ?? null, limit: options.limit })),
    )
}
