import { isReplaced, isWanted, singleOrderEventsEndOn } from '../../clients/marketplace/notifications/event-types.ts'
import type { ProofMode } from '../../clients/marketplace/notifications/proof-modes.ts'
import type { EventType, Subscription } from '../../clients/marketplace/notifications/subscriptions.ts'
import { isDaemonUrl } from './destination.ts'

/** One request that changes the subscriptions of a seller. */
export type SubscriptionChange =
  | { readonly kind: 'create'; readonly eventType: EventType; readonly why: string }
  | { readonly kind: 'update'; readonly subscription: Subscription; readonly why: string }
  | { readonly kind: 'remove'; readonly subscription: Subscription; readonly why: string }

/** What a seller has and shall have. */
export interface SubscriptionNeed {
  readonly offered: readonly EventType[]
  readonly existing: readonly Subscription[]
  readonly url: string
  readonly mode: ProofMode
}

const listWanted = ({ offered }: Pick<SubscriptionNeed, 'offered'>): readonly EventType[] =>
  offered.filter(({ eventType }) => isWanted(eventType))

const isRight = ({ url, isActive, mode }: Subscription, need: SubscriptionNeed): boolean =>
  url === need.url && isActive && mode === need.mode

/** What `subscribe` does: creates what is missing at this address. What exists is not changed. */
export const planSubscribe = (need: SubscriptionNeed): readonly SubscriptionChange[] =>
  listWanted(need)
    .filter(({ eventType }) => !need.existing.some((one) => one.eventType === eventType && one.url === need.url))
    .map((eventType) => ({ kind: 'create', eventType, why: 'missing' }))

const describeFault = ({ url, isActive, mode }: Subscription, need: SubscriptionNeed): string => {
  if (url !== need.url) return `another address: ${url}`
  if (!isActive) return 'inactive'
  return mode === need.mode ? 'current secret' : `another mode: ${mode ?? 'unknown'}`
}

/**
 * What `repair` does: each wanted type has one active subscription with this address and mode. Subscriptions to addresses that are not those of a daemon belong
 * to other programs and are kept. Removals come last, so that no event is without a subscription.
 */
export const planRepair = (
  need: SubscriptionNeed,
  { renewSecret }: { readonly renewSecret: boolean },
): readonly SubscriptionChange[] => {
  const ours = need.existing.filter(({ url }) => isDaemonUrl(url))
  const [changes, removals]: [SubscriptionChange[], SubscriptionChange[]] = [[], []]
  for (const eventType of listWanted(need)) {
    const [first, ...others] = ours
      .filter((one) => one.eventType === eventType.eventType)
      .sort((one, other) => Number(isRight(other, need)) - Number(isRight(one, need)))
    if (first === undefined) changes.push({ kind: 'create', eventType, why: 'missing' })
    else if (renewSecret || !isRight(first, need))
      changes.push({ kind: 'update', subscription: first, why: describeFault(first, need) })
    for (const subscription of others) removals.push({ kind: 'remove', subscription, why: 'a second one for the same event' })
  }
  for (const subscription of ours) {
    if (!isReplaced(subscription.eventType)) continue
    const why = `ends on ${singleOrderEventsEndOn}, replaced by ORDER_UPDATES`
    removals.push({ kind: 'remove', subscription, why })
  }
  return [...changes, ...removals]
}

/** Subscriptions at this address to wanted events that are not as needed and that no change corrects, with the reason. `subscribe` leaves them. */
export const listUncorrected = (
  need: SubscriptionNeed,
  changes: readonly SubscriptionChange[],
): readonly { readonly eventType: string; readonly why: string }[] =>
  need.existing
    .filter((one) => one.url === need.url && isWanted(one.eventType) && !isRight(one, need))
    .filter(({ id }) => !changes.some((change) => change.kind !== 'create' && change.subscription.id === id))
    .map((one) => ({ eventType: one.eventType, why: describeFault(one, need) }))

/** The state of a subscription in `list`. `expectedUrl`: null if it is not known. */
export const describeState = (
  { eventType, url, isActive }: Subscription,
  expectedUrl: string | null,
): { readonly state: string; readonly isGood: boolean } => {
  const pointsHere = expectedUrl === null ? isDaemonUrl(url) : url === expectedUrl
  if (!pointsHere) return { state: isDaemonUrl(url) ? 'another daemon' : 'another program', isGood: false }
  if (isReplaced(eventType)) return { state: `ends on ${singleOrderEventsEndOn}`, isGood: false }
  if (!isActive) return { state: 'inactive', isGood: false }
  return isWanted(eventType) ? { state: 'active', isGood: true } : { state: 'active, ignored by the daemon', isGood: true }
}
