import { Failed, Misused } from '../../api-client/errors.ts'
import { MarketplaceFailure } from '../../clients/http/errors.ts'
import { chooseTestType } from '../../clients/marketplace/notifications/event-types.ts'
import type { ProofMode } from '../../clients/marketplace/notifications/proof-modes.ts'
import type { Subscription } from '../../clients/marketplace/notifications/subscriptions.ts'
import type { CliContext } from '../context.ts'
import { type ConnectedSeller, callWithinLimit, describeFailure, withSellers } from '../notifications/connected-seller.ts'
import { buildNotificationUrl, buildProof, isDaemonUrl } from '../notifications/destination.ts'
import { describeState, listUncorrected, planRepair, planSubscribe, type SubscriptionChange } from '../notifications/plan.ts'
import { readReceived } from '../notifications/received.ts'
import { count, duration, pause, print, printJson, printMessage, printTable } from '../output/terminal.ts'

const defaultMode: ProofMode = 'hmac'
const pollMs = 250

/** Options of `tallyman notifications subscribe | repair`. */
export interface ChangeOptions {
  /** Null: every seller of the settings. */
  readonly sellerId: string | null
  /** Public address of the daemon; null: that of the existing subscriptions. */
  readonly url: string | null
  /** Null: the mode of the existing subscriptions, or HMAC. */
  readonly mode: ProofMode | null
  readonly dryRun: boolean
  /** No confirmation is requested. */
  readonly yes: boolean
}

interface SellerPlan extends ConnectedSeller {
  readonly url: string
  readonly mode: ProofMode
  readonly changes: readonly SubscriptionChange[]
  readonly uncorrected: ReturnType<typeof listUncorrected>
}

/** The address of a seller's notifications. @throws Misused when it is not given and the subscriptions do not name exactly one */
const findUrl = ({ seller }: ConnectedSeller, given: string | null, existing: readonly Subscription[]): string => {
  const { sellerId } = seller
  if (given !== null) return buildNotificationUrl(given, sellerId)
  const ours = existing.filter(({ url }) => isDaemonUrl(url))
  const active = ours.filter(({ isActive }) => isActive)
  const [url, other] = new Set((active.length === 0 ? ours : active).map((one) => one.url))
  if (url === undefined) throw new Misused(`seller ${sellerId} has no subscription to a daemon yet: name its address with --url`)
  if (other !== undefined)
    throw new Misused(`seller ${sellerId} has subscriptions to several addresses: name the correct one with --url`)
  return buildNotificationUrl(url, sellerId)
}

const planSeller = async (
  context: CliContext,
  connected: ConnectedSeller,
  { url: givenUrl, mode: givenMode }: ChangeOptions,
  plan: typeof planSubscribe,
): Promise<SellerPlan> => {
  const { subscriptions, seller } = connected
  const existing = await callWithinLimit(context, () => subscriptions.list({ signal: context.signal }))
  const offered = await callWithinLimit(context, () => subscriptions.listEventTypes({ signal: context.signal }))
  const url = findUrl(connected, givenUrl, existing)
  const mode = givenMode ?? existing.find((one) => one.url === url && one.mode !== null)?.mode ?? defaultMode
  // A wrong secret is reported before anything is changed.
  buildProof(seller, mode, url)
  const need = { offered, existing, url, mode }
  const changes = plan(need)
  return { ...connected, url, mode, changes, uncorrected: listUncorrected(need, changes) }
}

const findEventType = (change: SubscriptionChange): string =>
  change.kind === 'create' ? change.eventType.eventType : change.subscription.eventType

const viewChange = ({ seller, url, mode }: SellerPlan, change: SubscriptionChange) => ({
  sellerId: seller.sellerId,
  change: change.kind,
  eventType: findEventType(change),
  ...(change.kind === 'remove' ? { url: change.subscription.url, mode: change.subscription.mode } : { url, mode }),
  why: change.why,
})

const applyChange = ({ signal }: CliContext, plan: SellerPlan, change: SubscriptionChange): Promise<unknown> => {
  const { subscriptions, seller, url, mode } = plan
  const options = { signal }
  const destination = { url, proof: buildProof(seller, mode, url) }
  switch (change.kind) {
    case 'create':
      return subscriptions.create([change.eventType], destination, options)
    case 'update':
      return subscriptions.update(change.subscription.id, destination, options)
    case 'remove':
      return subscriptions.remove(change.subscription.id, options)
  }
}

/** Makes the changes of a seller, until one fails. The failure as text; null: all were made. */
const applyPlan = async (context: CliContext, plan: SellerPlan): Promise<string | null> => {
  for (const change of plan.changes) {
    try {
      await callWithinLimit(context, () => applyChange(context, plan, change))
    } catch (error) {
      if (!(error instanceof MarketplaceFailure)) throw error
      return `seller ${plan.seller.sellerId}, ${change.kind} ${findEventType(change)}: ${describeFailure(error)}`
    }
    const { terminal } = context
    const done = { create: 'created', update: 'updated', remove: 'removed' } as const
    if (!terminal.json) print(terminal, `seller ${plan.seller.sellerId}: ${findEventType(change)} ${done[change.kind]}`)
  }
  return null
}

/** Names the subscriptions that exist at the address, are not as requested, and stay so. */
const printUncorrected = ({ terminal }: CliContext, plans: readonly SellerPlan[]): void => {
  for (const { seller, mode, uncorrected } of plans)
    for (const { eventType, why } of uncorrected)
      printMessage(
        terminal,
        `seller ${seller.sellerId}: ${eventType} stays as it is (${why}); \`tallyman notifications repair --mode ${mode}\` corrects it`,
      )
}

/** Shows the changes, asks for confirmation, and makes them. @throws Failed when one fails */
const changeSubscriptions = (
  context: CliContext,
  options: ChangeOptions,
  plan: typeof planSubscribe,
  readLine: () => Promise<string>,
): Promise<void> => {
  const { terminal } = context
  const { yes, dryRun } = options
  if (terminal.json && !dryRun && !yes) throw new Misused('with --json no confirmation is possible: use --yes or --dry-run')
  return withSellers(context, options.sellerId, async (sellers) => {
    const plans: SellerPlan[] = []
    for (const connected of sellers) plans.push(await planSeller(context, connected, options, plan))
    const changes = plans.flatMap((one) => one.changes.map((change) => viewChange(one, change)))
    if (!terminal.json)
      printTable(
        terminal,
        [
          { heading: 'change' },
          { heading: 'event' },
          { heading: 'mode' },
          { heading: 'url' },
          { heading: 'why' },
          { heading: 'seller' },
        ],
        changes.map(({ change, eventType, mode, url, why, sellerId }) => [
          change,
          eventType,
          mode ?? 'unknown',
          url,
          why,
          sellerId,
        ]),
      )
    if (!terminal.json) printUncorrected(context, plans)
    const isDone = dryRun || changes.length === 0
    if (isDone && terminal.json) return printJson(terminal, { changes, made: false })
    if (isDone) return printMessage(terminal, changes.length === 0 ? 'nothing has to be changed' : 'nothing was changed')
    if (!yes) {
      printMessage(terminal, 'Make these changes at the marketplace? Type yes:')
      if ((await readLine()).trim().toLowerCase() !== 'yes') throw new Failed('nothing was changed; --yes skips the confirmation')
    }
    const failures: string[] = []
    for (const one of plans) failures.push(...[await applyPlan(context, one)].filter((failure) => failure !== null))
    if (failures.length > 0)
      throw new Failed('not all changes were made', [
        ...failures,
        '`tallyman notifications list` shows the current state; repeat the command',
      ])
    if (terminal.json) printJson(terminal, { changes, made: true })
    else printMessage(terminal, 'send a sample with `tallyman notifications test`')
  })
}

/** `tallyman notifications subscribe`. @throws Misused, Failed */
export const subscribeNotifications = (
  context: CliContext,
  options: ChangeOptions,
  readLine: () => Promise<string>,
): Promise<void> => changeSubscriptions(context, options, planSubscribe, readLine)

/** `tallyman notifications repair`. @throws Misused, Failed */
export const repairNotifications = (
  context: CliContext,
  options: ChangeOptions & { readonly renewSecret: boolean },
  readLine: () => Promise<string>,
): Promise<void> => changeSubscriptions(context, options, (need) => planRepair(need, options), readLine)

/** `tallyman notifications list`. `url`: public address of this daemon; null: any address of a daemon counts. */
export const listNotifications = (
  context: CliContext,
  { sellerId, url }: { readonly sellerId: string | null; readonly url: string | null },
): Promise<void> =>
  withSellers(context, sellerId, async (sellers) => {
    const { terminal, signal } = context
    const items = []
    for (const { seller, subscriptions } of sellers) {
      const expected = url === null ? null : buildNotificationUrl(url, seller.sellerId)
      for (const one of await callWithinLimit(context, () => subscriptions.list({ signal })))
        items.push({ sellerId: seller.sellerId, ...one, ...describeState(one, expected) })
    }
    if (terminal.json) return printJson(terminal, { items: items.map(({ isGood: _isGood, ...item }) => item) })
    if (items.length === 0)
      return printMessage(terminal, 'there is no subscription; `tallyman notifications subscribe --url https://…` creates them')
    printTable(
      terminal,
      [
        { heading: 'event' },
        { heading: 'state' },
        { heading: 'mode' },
        { heading: 'url' },
        { heading: 'id' },
        { heading: 'seller' },
      ],
      items.map(({ eventType, state, isGood, mode, url: to, id, sellerId: owner }) => [
        eventType,
        { text: state, tone: isGood ? 'good' : 'warning' },
        mode ?? 'unknown',
        to,
        id,
        owner,
      ]),
    )
  })

/** What a test has shown of one seller. */
interface TestResult {
  readonly sellerId: string
  readonly eventType: string
  readonly url: string
  /** Whether the marketplace reports that the sample was accepted. */
  readonly accepted: boolean
  /** What the marketplace answered. */
  readonly answer: string
  /** Whether the daemon at `TALLYMAN_URL` has counted a notification, or one with a wrong proof; null: it does not show its counts. */
  readonly seen: 'received' | 'refused' | 'nothing' | null
}

/** Sends one sample, and waits until the daemon has counted a notification, for at most `waitMs`. */
const testSeller = async (
  context: CliContext,
  { seller, subscriptions }: ConnectedSeller,
  waitMs: number,
): Promise<TestResult> => {
  const { signal } = context
  const { sellerId } = seller
  const existing = await callWithinLimit(context, () => subscriptions.list({ signal }))
  const ours = existing.filter((one) => describeState(one, null).isGood)
  const offered = await callWithinLimit(context, () => subscriptions.listEventTypes({ signal }))
  const eventType = chooseTestType(offered.filter((type) => ours.some((one) => one.eventType === type.eventType)))
  const subscription = ours.find((one) => one.eventType === eventType?.eventType)
  if (eventType === null || subscription === undefined)
    throw new Failed(`seller ${sellerId} has no active subscription to a daemon`, [
      '`tallyman notifications subscribe --url https://…` makes it',
    ])
  const { url, mode } = subscription
  const destination = { url, proof: buildProof(seller, mode ?? defaultMode, url) }
  const before = await readReceived(context)
  const result = await callWithinLimit(context, () => subscriptions.test(eventType, destination, { signal })).then(
    (answer) => ({ accepted: true, answer }),
    (error: unknown) => {
      if (error instanceof MarketplaceFailure && error.kind !== 'throttled')
        return { accepted: false, answer: describeFailure(error) }
      throw error
    },
  )
  const common = { sellerId, eventType: eventType.eventType, url, ...result }
  if (before === null) return { ...common, seen: null }
  const deadline = performance.now() + waitMs
  for (;;) {
    const after = await readReceived(context)
    if (after === null) return { ...common, seen: null }
    if (after.total > before.total) return { ...common, seen: after.refused > before.refused ? 'refused' : 'received' }
    if (performance.now() >= deadline) return { ...common, seen: 'nothing' }
    await pause(pollMs, signal)
  }
}

const describeSeen = ({ seen }: TestResult, { daemon }: CliContext, waitMs: number): string => {
  switch (seen) {
    case 'received':
      return `the daemon at ${daemon.url} has received it`
    case 'refused':
      return `the daemon at ${daemon.url} has refused it: its secret differs; \`tallyman notifications repair --renew-secret\` sends the current one`
    case 'nothing':
      return `the daemon at ${daemon.url} has not received it within ${duration(waitMs)}; another process of it may have, or the address leads to another program`
    case null:
      return `whether the daemon has received it is not known: ${daemon.url}/metrics does not answer`
  }
}

/** `tallyman notifications test`. @throws Failed when a sample was not accepted */
export const testNotifications = (
  context: CliContext,
  { sellerId, waitMs }: { readonly sellerId: string | null; readonly waitMs: number },
): Promise<void> =>
  withSellers(context, sellerId, async (sellers) => {
    const { terminal } = context
    const items: TestResult[] = []
    for (const connected of sellers) {
      const result = await testSeller(context, connected, waitMs)
      items.push(result)
      if (terminal.json) continue
      const verdict = result.accepted ? 'was accepted' : 'was not accepted'
      print(
        terminal,
        `seller ${result.sellerId}: the sample of ${result.eventType} ${verdict} by ${result.url} (${result.answer})`,
      )
      print(terminal, `  ${describeSeen(result, context, waitMs)}`)
    }
    if (terminal.json) printJson(terminal, { items })
    const refused = items.filter(({ accepted }) => !accepted)
    if (refused.length === 0) return
    throw new Failed(`the marketplace reports ${count(refused.length, 'sample')} as not accepted`, [
      'check that the address can be reached from the internet, and that NOTIFICATIONS_SECRET is that of the daemon',
    ])
  })
