import { userInfo } from 'node:os'
import { Argument, Command, CommanderError, InvalidArgumentError, Option } from 'commander'
import { commandKinds, commandStates } from '../domain/command.ts'
import { eventStates } from '../domain/event-shape.ts'
import { scopes } from '../domain/keys.ts'
import { version } from '../version.ts'
import { listAlarms, resolveAlarm, silenceAlarm } from './alarms.ts'
import { listAudit } from './audit.ts'
import { listCampaigns, unwatchCampaign, watchCampaigns } from './campaigns.ts'
import { decideByLine, decideOnCommand, listCommands, parseLineVerdict, showCommand } from './commands.ts'
import { completionScript, completionsOf, type Shell, shells } from './completion.ts'
import { type CliContext, type CliProcess, createContext } from './context.ts'
import { runErase } from './erase.ts'
import { listEvents, rejectEvent, showEvent } from './erp-events.ts'
import { examples } from './examples.ts'
import { exitCodes, Failed, Misused, wordsOf } from './faults.ts'
import { showForecast } from './forecast.ts'
import { addKey, listKeys, revokeKey, rotateKey } from './keys.ts'
import { dismissQuarantine, listQuarantine, replayQuarantine } from './quarantine.ts'
import { runReconcile, runReconcileGtin } from './reconcile.ts'
import { runRetention, showRetention } from './retention.ts'
import { decideOnSeller, listSellers, reloadSellers, showSeller } from './sellers.ts'
import { forecastEvents, sendEvents } from './send.ts'
import { listOrders, showOrder } from './show-orders.ts'
import { runBackfill, runSync, syncedResources } from './syncs.ts'
import { oneLine, paint, write } from './terminal.ts'
import {
  addWebhook,
  listWebhookDeliveries,
  listWebhooks,
  redeliverWebhook,
  removeWebhook,
  rotateWebhook,
  setWebhookState,
  testWebhook,
} from './webhooks.ts'

/** Exit code after an interruption by the user, as in shells (128 + SIGINT). */
const interrupted = 130

/** A point in time from a date (its midnight in UTC) or a date and time with its offset. @throws InvalidArgumentError */
export const parseMoment = (text: string): Date => {
  const dateOnly = /^\d{4}-\d{2}-\d{2}$/.test(text)
  const withOffset = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2}(\.\d{1,3})?)?(Z|[+-]\d{2}:\d{2})$/.test(text)
  const moment = new Date(dateOnly ? `${text}T00:00:00Z` : text)
  // Date accepts the 30th of February as the 2nd of March.
  const real = dateOnly
    ? !Number.isNaN(moment.getTime()) && moment.toISOString().startsWith(text)
    : !Number.isNaN(moment.getTime())
  if ((dateOnly || withOffset) && real) return moment
  throw new InvalidArgumentError('a date such as 2026-03-01, or a date and time such as 2026-03-01T09:30:00Z, is accepted.')
}

/** A whole number of at least 1. @throws InvalidArgumentError */
export const parseCount = (text: string): number => {
  if (/^[1-9]\d{0,8}$/.test(text)) return Number(text)
  throw new InvalidArgumentError('a whole number of at least 1 is accepted.')
}

/** A month, `YYYY-MM`. @throws InvalidArgumentError */
export const parseMonth = (text: string): string => {
  if (/^20\d{2}-(0[1-9]|1[0-2])$/.test(text)) return text
  throw new InvalidArgumentError('a month such as 2026-03 is accepted.')
}

/** Seconds, zero allowed. @throws InvalidArgumentError */
export const parseSeconds = (text: string): number => {
  if (/^\d{1,5}$/.test(text)) return Number(text)
  throw new InvalidArgumentError('a whole number of seconds is accepted.')
}

const mostOverlapSeconds = 30 * 86_400

/** Seconds for which two secrets sign, up to thirty days. @throws InvalidArgumentError */
const parseOverlap = (text: string): number => {
  if (/^\d{1,7}$/.test(text) && Number(text) <= mostOverlapSeconds) return Number(text)
  throw new InvalidArgumentError(`a whole number of seconds up to ${mostOverlapSeconds} is accepted.`)
}

const systemUser = (environment: CliProcess['environment']): string => {
  try {
    return userInfo().username
  } catch {
    // A user id without an entry in the password file, as in containers.
    return environment['USER'] ?? 'unknown'
  }
}

// Asked for at a terminal; a script has to give it.
const reasonOf = async (process: CliProcess, { terminal }: CliContext, given: string | undefined): Promise<string> => {
  if (given !== undefined) return given
  if (!process.isInteractive || terminal.json) throw new Misused("required option '--reason <text>' not specified")
  write(process.talk, 'Reason: ')
  const said = (await process.readLine()).trim()
  if (said === '') throw new Misused('a reason is required; nothing was done')
  return said
}

/** Every command without subcommands, by its words. */
const leavesOf = (command: Command, words: readonly string[] = []): readonly (readonly [string, Command])[] =>
  command.commands.flatMap((one) => {
    const own = [...words, one.name()]
    return one.commands.length === 0 ? [[own.join(' '), one] as const] : leavesOf(one, own)
  })

interface CommandListOptions {
  readonly state?: string
  readonly kind?: string
  readonly order?: string
  readonly sku?: string
  readonly trackingNumber?: string
  readonly seller?: string
  readonly limit: number
}

/** Builds the whole command line; `act` runs an action with its context and stores what it throws. */
export const buildProgram = (
  process: CliProcess,
  act: (command: Command, action: (context: CliContext) => Promise<void>) => Promise<void>,
) => {
  const program = new Command('tallyman')
    .description('Operates the running daemon at TALLYMAN_URL (http://127.0.0.1:$PORT), with API_KEY.')
    .version(version, '-V, --version')
    .option('--json', 'data as JSON on standard output')
    .exitOverride()
    .configureOutput({ writeOut: (text) => write(process.out, text), writeErr: (text) => write(process.talk, text) })
    .showHelpAfterError('(see tallyman --help)')
    .addHelpText('after', '\nExit codes: 0 done, 1 failed, 2 misused.')

  const leaf = (parent: Command, name: string, description: string, options: { isDefault?: boolean } = {}): Command =>
    parent.command(name, options).description(description).option('--json', 'data as JSON on standard output')

  leaf(program, 'doctor', 'checks configuration, daemon, database, Redis, credentials and clock, and recommends actions')
    .option('--units', "compares the sandbox's effects with the database, unit by unit")
    .option('--orders', 'lists orders per day that returns, the inventory log and events name and that are not stored')
    .option('--sandbox <url>', 'address of the sandbox (default: SANDBOX_URL, or http://127.0.0.1:$SANDBOX_PORT)')
    .option('--wait <seconds>', 'with --units: how long to compare differences again', parseSeconds, 300)
    .action((options: { units?: true; orders?: true; sandbox?: string; wait: number }, command: Command) =>
      act(command, async (context) => {
        // Loaded on demand: clients, queues and database take half of the start time of every other command.
        const { runDoctor } = await import('./doctor.ts')
        await runDoctor(context, {
          units: options.units === true,
          orders: options.orders === true,
          sandbox: options.sandbox ?? null,
          waitMs: options.wait * 1_000,
        })
      }),
    )

  leaf(program, 'sync', 'runs a sync now')
    .argument('<resource>', 'orders, returns, …')
    .option('--seller <id>', 'of this seller only')
    .action((resource: string, options: { seller?: string }, command: Command) =>
      act(command, (context) => runSync(context, { resource, sellerId: options.seller ?? null })),
    )

  leaf(program, 'backfill', 'imports history and shows the progress; run it again to see the progress or to resume')
    .argument('<resource>', 'orders, returns, …')
    .requiredOption('--from <date>', 'first day, or moment, of the import', parseMoment)
    .option('--to <date>', 'end of the import (default: now)', parseMoment)
    .option('--seller <id>', 'of this seller only')
    .option('--wait <seconds>', 'how long it waits while no process is at it', parseSeconds, 60)
    .action((resource: string, options: { from: Date; to?: Date; seller?: string; wait: number }, command: Command) =>
      act(command, (context) => {
        const to = options.to ?? null
        if (to !== null && to <= options.from) throw new Misused('--to must be later than --from')
        const { from, seller: sellerId = null, wait } = options
        return runBackfill(context, { resource, from, to, sellerId, waitMs: wait * 1_000 })
      }),
    )

  const orders = program.command('orders').description('orders, their units and what became of them')
  leaf(orders, 'list', 'orders; the newest first', { isDefault: true })
    .option('-q, --search <text>', 'purchase order, customer order, SKU or tracking number')
    .option('--open', 'some units are neither shipped nor cancelled')
    .option('--late', 'open, and past the ship-by time')
    .option('--sku <sku>', 'with a line of this SKU')
    .option('--tracking-number <number>', 'with a parcel of this number')
    .option('--seller <id>', 'of this seller only')
    .option('--limit <number>', 'maximum number of entries', parseCount, 100)
    .action(
      (
        options: {
          search?: string
          open?: true
          late?: true
          sku?: string
          trackingNumber?: string
          seller?: string
          limit: number
        },
        command: Command,
      ) =>
        act(command, (context) =>
          listOrders(context, {
            q: options.search ?? null,
            open: options.open ?? null,
            late: options.late ?? null,
            sku: options.sku ?? null,
            trackingNumber: options.trackingNumber ?? null,
            sellerId: options.seller ?? null,
            limit: options.limit,
          }),
        ),
    )
  leaf(orders, 'show', 'an order with its units, parcels and commands')
    .argument('<purchaseOrderId>')
    .option('--seller <id>', 'its seller; required when several sellers have it')
    .action((purchaseOrderId: string, options: { seller?: string }, command: Command) =>
      act(command, (context) => showOrder(context, { purchaseOrderId, sellerId: options.seller ?? null })),
    )

  const commands = program.command('commands').description('commands sent to the marketplace')
  leaf(commands, 'list', 'commands, the latest first', { isDefault: true })
    .addOption(new Option('--state <state>', 'in this state').choices(commandStates))
    .addOption(new Option('--kind <kind>', 'of this kind').choices(commandKinds))
    .option('--order <purchaseOrderId>', 'of this purchase order')
    .option('--sku <sku>', 'that take units of this SKU')
    .option('--tracking-number <number>', 'with a parcel of this tracking number')
    .option('--seller <id>', 'of one seller')
    .option('--limit <number>', 'maximum number of entries', parseCount, 100)
    .action((options: CommandListOptions, command: Command) =>
      act(command, (context) =>
        listCommands(context, {
          state: options.state ?? null,
          kind: options.kind ?? null,
          purchaseOrderId: options.order ?? null,
          sku: options.sku ?? null,
          trackingNumber: options.trackingNumber ?? null,
          sellerId: options.seller ?? null,
          limit: options.limit,
        }),
      ),
    )
  leaf(commands, 'show', 'a command with its attempts and evidence')
    .argument('<id>')
    .action((id: string, _options: object, command: Command) => act(command, (context) => showCommand(context, id)))
  const decisions = [
    ['retry', 'sends a command again'],
    ['confirm', 'marks a command as applied'],
    ['reject', 'abandons a command and releases its units'],
  ] as const
  for (const [decision, description] of decisions) {
    leaf(commands, decision, description)
      .argument('<id>')
      .option('--reason <text>', 'why; stored with the command')
      .option('--by <name>', 'who decides (default: the user of this system)')
      .action((id: string, options: { reason?: string; by?: string }, command: Command) =>
        act(command, async (context) =>
          decideOnCommand(context, {
            id,
            decision,
            reason: await reasonOf(process, context, options.reason),
            actor: options.by ?? systemUser(process.environment),
          }),
        ),
      )
  }

  leaf(commands, 'decide', 'decides a command line by line: applied, not-applied or send-again')
    .argument('<id>')
    .requiredOption(
      '--line <verdict>',
      'such as 1=applied, 2=not-applied or 2/1Z999=send-again:1 (line, parcel or reason, verdict, units); give it for every line',
      (text: string, before: readonly ReturnType<typeof parseLineVerdict>[] = []) => [...before, parseLineVerdict(text)],
    )
    .option('--reason <text>', 'why; stored with the command')
    .option('--by <name>', 'who decides (default: the user of this system)')
    .action(
      (
        id: string,
        options: { line: readonly ReturnType<typeof parseLineVerdict>[]; reason?: string; by?: string },
        command: Command,
      ) =>
        act(command, async (context) =>
          decideByLine(context, {
            id,
            lines: options.line,
            reason: await reasonOf(process, context, options.reason),
            actor: options.by ?? systemUser(process.environment),
          }),
        ),
    )

  const alarms = program.command('alarms').description('what needs attention')
  leaf(alarms, 'list', 'open alarms, the latest first', { isDefault: true })
    .option('--limit <number>', 'maximum number of entries', parseCount, 100)
    .action((options: { limit: number }, command: Command) => act(command, (context) => listAlarms(context, options.limit)))
  leaf(alarms, 'resolve', 'closes the alarm of a past incident, such as a rejected command or event')
    .argument('<id>')
    .option('--reason <text>', 'what came of it; recorded in the audit')
    .option('--by <name>', 'who checked it (default: the user of this system)')
    .action((id: string, options: { reason?: string; by?: string }, command: Command) =>
      act(command, (context) =>
        resolveAlarm(context, { id, actor: options.by ?? systemUser(process.environment), reason: options.reason ?? null }),
      ),
    )
  leaf(alarms, 'silence', 'silences an open alarm until a moment; it stays open')
    .argument('<id>')
    .requiredOption('--until <date>', 'day, or moment, at which it ends', parseMoment)
    .option('--reason <text>', 'why; recorded in the audit')
    .option('--by <name>', 'who decides (default: the user of this system)')
    .action((id: string, options: { until: Date; reason?: string; by?: string }, command: Command) =>
      act(command, async (context) =>
        silenceAlarm(context, {
          id,
          actor: options.by ?? systemUser(process.environment),
          reason: await reasonOf(process, context, options.reason),
          until: options.until,
        }),
      ),
    )

  const events = program.command('events').description('events received from the ERP')
  leaf(events, 'list', 'events, the latest first', { isDefault: true })
    .addOption(new Option('--state <state>', 'in this state').choices(eventStates))
    .option('--seller <id>', 'of this seller only')
    .option('--limit <number>', 'maximum number of entries', parseCount, 100)
    .action((options: { state?: string; seller?: string; limit: number }, command: Command) =>
      act(command, (context) =>
        listEvents(context, { state: options.state ?? null, sellerId: options.seller ?? null, limit: options.limit }),
      ),
    )
  leaf(events, 'show', 'an event with its commands, or why it waits or was rejected')
    .argument('<source>')
    .argument('<id>')
    .action((source: string, id: string, _options: object, command: Command) =>
      act(command, (context) => showEvent(context, { source, id })),
    )
  leaf(events, 'reject', 'rejects an event that waits; it creates no command')
    .argument('<source>')
    .argument('<id>')
    .option('--reason <text>', 'why; stored with the event')
    .option('--by <name>', 'who decides (default: the user of this system)')
    .action((source: string, id: string, options: { reason?: string; by?: string }, command: Command) =>
      act(command, async (context) => {
        const actor = options.by ?? systemUser(process.environment)
        return rejectEvent(context, { source, id, reason: await reasonOf(process, context, options.reason), actor })
      }),
    )

  const sellers = program.command('sellers').description('state of each seller')
  leaf(sellers, 'list', 'sellers with their state, since when and why', { isDefault: true })
    .option('--limit <number>', 'maximum number of entries', parseCount, 1_000)
    .action((options: { limit: number }, command: Command) => act(command, (context) => listSellers(context, options)))
  leaf(sellers, 'show', 'one seller with its open work, and how far behind it is')
    .argument('<id>')
    .action((id: string, _options: object, command: Command) => act(command, (context) => showSeller(context, id)))
  leaf(sellers, 'reload', 'reads the settings of the sellers again (SELLERS_FILE); faults change nothing').action(
    (_options: object, command: Command) => act(command, reloadSellers),
  )
  leaf(sellers, 'pause', 'stops all work of a seller until it is resumed')
    .argument('<id>')
    .option('--reason <text>', 'why; stored with the seller')
    .option('--by <name>', 'who decides (default: the user of this system)')
    .action((sellerId: string, options: { reason?: string; by?: string }, command: Command) =>
      act(command, async (context) => {
        const actor = options.by ?? systemUser(process.environment)
        const reason = await reasonOf(process, context, options.reason)
        return decideOnSeller(context, { sellerId, decision: 'pause', actor, reason })
      }),
    )
  leaf(sellers, 'resume', 'resumes a stopped or paused seller; its credentials are tried at once')
    .argument('<id>')
    .option('--reason <text>', 'why; recorded in the change feed')
    .option('--by <name>', 'who decides (default: the user of this system)')
    .action((sellerId: string, options: { reason?: string; by?: string }, command: Command) =>
      act(command, (context) => {
        const actor = options.by ?? systemUser(process.environment)
        return decideOnSeller(context, { sellerId, decision: 'resume', actor, reason: options.reason ?? null })
      }),
    )

  leaf(program, 'forecast', 'when backfills will end, and which commands and ship-by dates are at risk')
    .option('--seller <id>', 'of this seller only')
    .option('--hours <number>', 'how far to look ahead, up to 168', parseCount, 24)
    .action((options: { seller?: string; hours: number }, command: Command) =>
      act(command, (context) => showForecast(context, { sellerId: options.seller ?? null, hours: options.hours })),
    )

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

  leaf(program, 'send', 'posts ERP events, signed when EVENTS_SECRET is set')
    .argument('<event.json>', 'a CloudEvent or a list of them; - reads standard input')
    .option('--dry-run', 'shows what the events would do now, and stores nothing')
    .action((file: string, { dryRun }: { dryRun?: true }, command: Command) =>
      act(command, (context) => (dryRun ? forecastEvents : sendEvents)(context, file, process.readInput)),
    )

  const quarantine = program.command('quarantine').description('records that could not be parsed')
  leaf(quarantine, 'list', 'quarantined records', { isDefault: true })
    .option('--limit <number>', 'maximum number of entries', parseCount, 100)
    .action((options: { limit: number }, command: Command) => act(command, (context) => listQuarantine(context, options.limit)))
  leaf(quarantine, 'replay', 'parses a record again after a fix')
    .argument('[id]')
    .option('--all', 'every record that is still open')
    .action((id: string | undefined, options: { all?: true }, command: Command) =>
      act(command, (context) => {
        if ((id === undefined) === (options.all === undefined)) throw new Misused('give the id of one record, or --all')
        return replayQuarantine(context, id ?? null)
      }),
    )
  leaf(quarantine, 'dismiss', 'settles a record that cannot be obtained; the same text, seen again, stays settled')
    .argument('<id>')
    .option('--reason <text>', 'why; stored with the record')
    .option('--by <name>', 'who decides (default: the user of this system)')
    .action((id: string, options: { reason?: string; by?: string }, command: Command) =>
      act(command, async (context) =>
        dismissQuarantine(context, {
          id,
          reason: await reasonOf(process, context, options.reason),
          actor: options.by ?? systemUser(process.environment),
        }),
      ),
    )

  leaf(program, 'erase', 'erases the buyer of a customer order from all stored data; units and money are kept')
    .requiredOption('--customer-order <id>', "the marketplace's id of the customer order")
    .option('--reason <text>', 'why; kept permanently, so it must not name the buyer')
    .option('--seller <id>', 'seller of the order; required when there are several sellers')
    .option('--by <name>', 'who requests it (default: the user of this system)')
    .option('--dry-run', 'only shows what would be erased')
    .option('--yes', 'skips the confirmation')
    .action(
      (
        options: { customerOrder: string; reason?: string; seller?: string; by?: string; dryRun?: true; yes?: true },
        command: Command,
      ) =>
        act(command, async (context) => {
          const { customerOrder: customerOrderId, seller: sellerId = null } = options
          const reason = await reasonOf(process, context, options.reason)
          const actor = options.by ?? systemUser(process.environment)
          const how = { dryRun: options.dryRun === true, yes: options.yes === true }
          return runErase(context, { customerOrderId, sellerId, actor, reason, ...how }, process.readLine)
        }),
    )

  const campaigns = program.command('campaigns').description('advertising campaigns that are watched')
  leaf(campaigns, 'list', 'campaigns with their status', { isDefault: true })
    .option('--seller <id>', 'of this seller only')
    .option('--status <status>', 'in this status, such as RUNNING')
    .option('--limit <number>', 'maximum number of entries', parseCount, 100)
    .action((options: { seller?: string; status?: string; limit: number }, command: Command) =>
      act(command, (context) =>
        listCampaigns(context, { sellerId: options.seller ?? null, status: options.status ?? null, limit: options.limit }),
      ),
    )
  leaf(campaigns, 'watch', 'reads these campaigns from now on')
    .argument('<id...>')
    .option('--seller <id>', 'their seller; required when there are several sellers')
    .action((campaignIds: string[], options: { seller?: string }, command: Command) =>
      act(command, (context) => watchCampaigns(context, { campaignIds, sellerId: options.seller ?? null })),
    )
  leaf(campaigns, 'unwatch', 'stops reading a campaign; stored data is kept')
    .argument('<id>')
    .option('--seller <id>', 'its seller; required when several sellers have it')
    .action((campaignId: string, options: { seller?: string }, command: Command) =>
      act(command, (context) => unwatchCampaign(context, { campaignId, sellerId: options.seller ?? null })),
    )

  leaf(program, 'reconcile', 'lists discrepancies of the inventory reports of a month, and possible claims')
    .option('--month <month>', 'month of the reports, such as 2026-03', parseMonth)
    .option('--gtin <gtin>', 'requests this one item of the running month from the marketplace now')
    .option('--seller <id>', 'of this seller only')
    .action((options: { month?: string; gtin?: string; seller?: string }, command: Command) => {
      const { month, gtin, seller: sellerId = null } = options
      if (gtin !== undefined && month === undefined)
        return act(command, (context) => runReconcileGtin(context, { gtin, sellerId }))
      if (month !== undefined && gtin === undefined) return act(command, (context) => runReconcile(context, { month, sellerId }))
      throw new Misused('give either a month (--month 2026-03) or an item of the running month (--gtin)')
    })

  const retention = program.command('retention').description('how long data is kept (RETAIN_…)')
  leaf(retention, 'show', 'what is stored, for how long, and what is due for removal', { isDefault: true }).action(
    (_options: object, command: Command) => act(command, showRetention),
  )
  leaf(retention, 'run', 'removes now what is older than the settings say')
    .option('--wait <seconds>', 'how long it waits while no process is at it', parseSeconds, 60)
    .action(({ wait }: { wait: number }, command: Command) => act(command, (context) => runRetention(context, wait * 1_000)))

  const keys = program.command('keys').description('keys of programs and people, with their scopes')
  leaf(keys, 'list', 'active keys, without their secrets', { isDefault: true })
    .option('--all', 'revoked ones too')
    .option('--limit <number>', 'maximum number of entries', parseCount, 1_000)
    .action((options: { all?: true; limit: number }, command: Command) =>
      act(command, (context) => listKeys(context, { all: options.all === true, limit: options.limit })),
    )
  leaf(keys, 'add', 'adds a key and prints it, once')
    .argument('<name>', 'who acts with it, as the audit will say')
    .addOption(new Option('--scope <scope...>', 'what it may do').choices(scopes).makeOptionMandatory())
    .option('--seller <id...>', 'only for these sellers (default: all)')
    .option('--reason <text>', 'why; stored in the audit')
    .option('--by <name>', 'who decides (default: the user of this system)')
    .action((name: string, options: { scope: string[]; seller?: string[]; reason?: string; by?: string }, command: Command) =>
      act(command, async (context) => {
        const { scope, seller = [], by: actor = systemUser(process.environment) } = options
        const reason = await reasonOf(process, context, options.reason)
        return addKey(context, { name, scopes: scope, sellerIds: seller, reason, actor })
      }),
    )
  leaf(keys, 'rotate', 'gives a key another secret and prints it, once')
    .argument('<id>')
    .option('--overlap <seconds>', 'how long the secret before is accepted, up to 30 days', parseOverlap, 86_400)
    .option('--reason <text>', 'why; stored in the audit')
    .option('--by <name>', 'who decides (default: the user of this system)')
    .action((id: string, options: { overlap: number; reason?: string; by?: string }, command: Command) =>
      act(command, async (context) => {
        const { overlap: overlapSeconds, by: actor = systemUser(process.environment) } = options
        const reason = await reasonOf(process, context, options.reason)
        return rotateKey(context, { id, overlapSeconds, reason, actor })
      }),
    )
  leaf(keys, 'revoke', 'ends a key for ever')
    .argument('<id>')
    .option('--reason <text>', 'why; stored in the audit')
    .option('--by <name>', 'who decides (default: the user of this system)')
    .action((id: string, options: { reason?: string; by?: string }, command: Command) =>
      act(command, async (context) => {
        const { by: actor = systemUser(process.environment) } = options
        const reason = await reasonOf(process, context, options.reason)
        return revokeKey(context, { id, reason, actor })
      }),
    )

  leaf(program, 'audit', 'what people have done, the latest first')
    .option('--who <name>', 'by this key, or person')
    .option('--action <action>', 'of this kind, such as command.decided')
    .option('--subject <id>', 'to this command, order, key …')
    .option('--seller <id>', 'of this seller only')
    .option('--from <date>', 'not before', parseMoment)
    .option('--to <date>', 'before', parseMoment)
    .option('--limit <number>', 'maximum number of entries', parseCount, 100)
    .action(
      (
        options: { who?: string; action?: string; subject?: string; seller?: string; from?: Date; to?: Date; limit: number },
        command: Command,
      ) =>
        act(command, (context) =>
          listAudit(context, {
            actor: options.who ?? null,
            action: options.action ?? null,
            subject: options.subject ?? null,
            sellerId: options.seller ?? null,
            from: options.from ?? null,
            to: options.to ?? null,
            limit: options.limit,
          }),
        ),
    )

  leaf(program, 'migrate', 'applies missing migrations to DATABASE_URL').action((_options: object, command: Command) =>
    act(command, async (context) => {
      const { runMigrate } = await import('./migrate.ts')
      await runMigrate(context)
    }),
  )
  leaf(
    program,
    'grants',
    'creates the roles tallyman_daemon, tallyman_erp and tallyman_bi on DATABASE_URL, and grants their rights',
  )
    .option('--print', 'only prints the SQL, for an administrator')
    .action((options: { print?: true }, command: Command) =>
      act(command, async (context) => {
        const { runGrants } = await import('./grants.ts')
        await runGrants(context, options.print === true)
      }),
    )
  leaf(
    program,
    'vacuum',
    'rewrites the tables that may hold buyers, so that the files of Postgres hold nothing of erased ones; locks each meanwhile',
  ).action((_options: object, command: Command) =>
    act(command, async (context) => {
      const { runVacuum } = await import('./vacuum.ts')
      await runVacuum(context)
    }),
  )

  program
    .command('completion')
    .description('prints what makes a shell complete the words of tallyman')
    .addArgument(new Argument('<shell>').choices(shells))
    .action((shell: Shell) => write(process.out, completionScript(shell)))
  // What the scripts of `completion` ask.
  program
    .command('complete', { hidden: true })
    .argument('[words...]')
    .action((words: string[], _options: object, command: Command) =>
      act(command, async ({ daemon }) => {
        const resources = words[0] === 'sync' || words[0] === 'backfill' ? await syncedResources(daemon) : []
        for (const word of completionsOf(program, words, resources)) write(process.out, `${word}\n`)
      }),
    )

  for (const [words, command] of leavesOf(program)) {
    const lines = (examples[words] ?? []).map((line) => `  tallyman ${line}`)
    if (lines.length > 0) command.addHelpText('after', `\nExamples:\n${lines.join('\n')}`)
  }
  return program
}

/** Reports an error; returns the exit code. */
const tellFault = (process: CliProcess, error: unknown): number => {
  if (process.signal.aborted) return interrupted
  const known = error instanceof Failed || error instanceof Misused
  const notes = error instanceof Failed ? error.notes : []
  write(process.talk, `${paint(process.talk, 'bad', 'tallyman:')} ${oneLine(wordsOf(error))}\n`)
  for (const note of notes) write(process.talk, `  ${oneLine(note)}\n`)
  // Anything else is a defect of this program: the stack helps to fix it.
  if (!known && error instanceof Error && error.stack !== undefined) write(process.talk, `${error.stack}\n`)
  return error instanceof Misused ? exitCodes.misused : exitCodes.failed
}

/** Runs the command line; returns the exit code and never throws. */
export const runCli = async (args: readonly string[], process: CliProcess): Promise<number> => {
  const program = buildProgram(process, async (command, action) => {
    const { json } = command.optsWithGlobals<{ json?: true }>()
    const context = createContext(process, json === true)
    await action(context).finally(() => context.daemon.close())
  })
  try {
    await program.parseAsync(args, { from: 'user' })
    return exitCodes.done
  } catch (error) {
    // Commander has reported the fault already; requesting help or the version is not a fault.
    if (error instanceof CommanderError) return error.exitCode === 0 ? exitCodes.done : exitCodes.misused
    return tellFault(process, error)
  }
}
