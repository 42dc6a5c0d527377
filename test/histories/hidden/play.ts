import { randomUUID } from 'node:crypto'
import { pino } from 'pino'
import { z } from 'zod'
import type { MarketplaceClient } from '../../../src/clients/http/client.ts'
import { Refused } from '../../../src/clients/http/errors.ts'
import type { Operation } from '../../../src/clients/http/operation.ts'
import { createMarketplaceClient } from '../../../src/clients/marketplace/marketplace.ts'
import { ordersEndpoint, orderWrites } from '../../../src/clients/marketplace/orders/orders.ts'
import { specification } from '../../../src/clients/marketplace/profiles/index.ts'
import type { RateBudget } from '../../../src/clients/rate-limit/budget.ts'
import { createInProcessBudget } from '../../../src/clients/rate-limit/shared-budget.ts'
import { readStreams, runSync } from '../../../src/jobs/sync/engine/syncs.ts'
import { namedStream, nameOrders } from '../../../src/store/orders/named-orders.ts'
import { limitsOfAll } from '../../clients/operations.ts'
import { startTestSandbox, type TestSandbox } from '../../support/sandbox.ts'
import { setClock } from '../clock.ts'
import type { Slot, Theatre } from '../theatre.ts'
import { type HiddenOrder, type HidingPlan, type Naming, openHidingWorld, sellerId } from './world.ts'

/** What came of it. */
export interface HidingPlayed {
  /** In words; empty: all that was to be had was there in time, nothing was invented, and no limit was passed. */
  readonly violations: readonly string[]
  /** For people. */
  readonly figures: readonly string[]
}

const minuteMs = 60_000
const hourMs = 60 * minuteMs
const dayMs = 24 * hourMs
/** A stream waits until others have had their turn, and requests take their time. */
const slackMs = 5 * minuteMs
/** How often what else is polled, as by default. */
const pollMs = { returns: 15 * minuteMs, 'inventory-log': hourMs } as const
/** A named order is requested within this time. */
const namedCycleMs = minuteMs
const lagMs = 2 * minuteMs
/** From when something names an order until it must be stored: what reads the source, and then the order by its id. */
const cycleMs: Readonly<Record<Naming, number>> = {
  event: namedCycleMs,
  return: pollMs.returns + lagMs + namedCycleMs,
  'inventory log': pollMs['inventory-log'] + lagMs + namedCycleMs,
}
/** The relay derives due jobs this often. */
const relayMs = 5_000
const plenty = { tokens: 1_000_000, perMs: 1_000 }

interface Stream {
  readonly resource: string
  readonly name: string
  readonly everyMs: number
  atMs: number
}

/** Requests that were let through, by operation, in virtual time. */
type Grants = Map<Operation, number[]>

const counting = (budget: RateBudget, grants: Grants, nowMs: () => number): RateBudget => ({
  learn: budget.learn,
  snapshot: budget.snapshot,
  take: async (seller, operation, scope, lane) => {
    const answer = await budget.take(seller, operation, scope, lane)
    if (answer.granted) {
      const times = grants.get(operation) ?? []
      grants.set(operation, times)
      times.push(nowMs())
    }
    return answer
  },
})

/** The most requests in any stretch of so many milliseconds. */
const busiest = (times: readonly number[], perMs: number): number => {
  let from = 0
  let most = 0
  for (const [index, atMs] of times.entries()) {
    while ((times[from] ?? atMs) <= atMs - perMs) from += 1
    most = Math.max(most, index - from + 1)
  }
  return most
}

/** From when on an order must be there; null: nothing shows it, so nobody can know of it. */
const dueMs = ({ hidden, cameMs, namings }: HiddenOrder, { pollOrdersMs, whileMs }: HidingPlan): number | null => {
  const byList = { shown: cameMs + lagMs + pollOrdersMs, 'for a while': cameMs + 2 * whileMs, 'for ever': null }[hidden]
  const times = [...namings.map(({ by, atMs }) => atMs + cycleMs[by]), ...(byList === null ? [] : [byList])]
  return times.length === 0 ? null : Math.min(...times) + slackMs
}

const totals = z.object({ totals: z.record(z.string(), z.record(z.string(), z.number())) })
const moved = z.object({ offsetMs: z.number() })

/** Hides orders of a sandbox from all lists, and reads on until the last of them must have been found; in virtual time. */
export const playHiding = async (
  theatre: Theatre,
  plan: HidingPlan,
  tell: (line: string) => void = () => undefined,
): Promise<HidingPlayed> =>
  theatre.inSlot(async (slot) => {
    const sandbox = await startTestSandbox()
    try {
      return await playIn(slot, sandbox, plan, tell)
    } finally {
      await sandbox.stop()
    }
  })

const playIn = async (
  slot: Slot,
  sandbox: TestSandbox,
  plan: HidingPlan,
  tell: (line: string) => void,
): Promise<HidingPlayed> => {
  const { signal } = new AbortController()
  const log = pino({ level: 'silent' })
  let offsetMs = 0
  const nowMs = (): number => Date.now() + offsetMs
  let first = true
  const moveTo = async (atMs: number): Promise<void> => {
    const aheadMs = Math.ceil(atMs - nowMs())
    if (aheadMs > 0) ({ offsetMs } = moved.parse(await sandbox.control('POST', '/clock', { advance: `${aheadMs}ms` })))
    await setClock(slot.client, slot.clock, nowMs(), first)
    first = false
  }
  const clientWith = (budget: RateBudget): MarketplaceClient =>
    createMarketplaceClient(
      {
        sellerId,
        clientId: 'sandbox-client',
        clientSecret: 'sandbox-secret',
        profile: specification,
        marketplaceUrl: sandbox.url,
        display: null,
        headerPrefix: specification.headerPrefix,
        quantityField: specification.quantityField,
        serviceName: 'Histories',
        tokenPath: specification.tokenPath,
        requestTimeoutMs: 10_000,
      },
      { budget, log, now: nowMs },
    )
  const grants: Grants = new Map()
  const client = clientWith(counting(createInProcessBudget({ now: nowMs }), grants, nowMs))
  const erp = clientWith(createInProcessBudget({ limits: limitsOfAll(plenty), now: nowMs }))
  try {
    await moveTo(nowMs())
    const beginMs = nowMs()
    const { orders, happenings } = await openHidingWorld({
      plan,
      sandbox,
      nowMs,
      acknowledge: async (id) => {
        const request = erp.of(ordersEndpoint).prepare.acknowledge(id)
        const [answer] = await Promise.allSettled([
          erp.writer(orderWrites).send(request, { signal, correlationId: randomUUID() }),
        ])
        // Its buyer may have cancelled all of it by now.
        if (answer.status === 'rejected' && !(answer.reason instanceof Refused)) throw answer.reason
      },
      nameByEvent: (id) =>
        slot.database.transaction(async (tx) => {
          nameOrders(tx, sellerId, 'events', [{ purchaseOrderId: id, at: new Date(nowMs()) }])
        }),
    })
    const streams = Object.entries({ orders: plan.pollOrdersMs, ...pollMs }).flatMap(([resource, everyMs]) =>
      readStreams(resource, {
        [`POLL_${resource.toUpperCase().replaceAll('-', '_')}`]: everyMs,
        POLL_ORDER_SWEEP: dayMs,
        REREAD_EVERY: plan.whileMs,
      }).map(({ stream, everyMs: ownMs }): Stream => ({ resource, name: stream, everyMs: ownMs, atMs: beginMs })),
    )
    // As the relay does: the stream runs as soon as a named order is due.
    const planNamed = async (): Promise<void> => {
      const { rows } = await slot.client.query<{ due_ms: number | null }>(
        `SELECT extract(epoch FROM min(ask_again_at))::float8 * 1000 AS due_ms FROM tallyman.named_orders
         WHERE seller_id = $1 AND state <> 'stored' AND ask_again_at < 'infinity'`,
        [sellerId],
      )
      const dueMs = rows[0]?.due_ms ?? null
      const named = streams.find(({ name }) => name === namedStream.stream)
      if (named !== undefined && dueMs !== null) named.atMs = Math.min(named.atMs, Math.max(dueMs, nowMs()) + relayMs)
    }
    let runs = 0
    let endMs = beginMs
    let toldMs = beginMs
    for (;;) {
      await planNamed()
      const next = streams.reduce((one, other) => (other.atMs < one.atMs ? other : one))
      const [happening] = happenings
      if (happening !== undefined && happening.atMs <= next.atMs) {
        happenings.shift()
        await moveTo(happening.atMs)
        await happening.happen()
        const lastMs = orders.at(-1)?.cameMs ?? beginMs
        endMs = Math.max(endMs, lastMs + 2 * plan.whileMs + slackMs, nowMs() + 2 * hourMs)
        continue
      }
      if (next.atMs > endMs && happenings.length === 0) break
      await moveTo(next.atMs)
      if (nowMs() - toldMs > 6 * hourMs) {
        toldMs = nowMs()
        tell(`${((toldMs - beginMs) / hourMs).toFixed(0)} h: ${orders.length} orders came, ${runs} runs`)
      }
      runs += 1
      const deps = { database: slot.database, client: () => client, owner: 'process' }
      const outcome = await runSync(deps, { sellerId, resource: next.resource, stream: next.name }, { signal, log })
      if ('done' in outcome) while (next.atMs <= nowMs()) next.atMs += next.everyMs
      else next.atMs = outcome.reason === 'taking turns' ? nowMs() : Math.max(nowMs() + 1_000, outcome.runAgainAt.getTime())
    }
    return await judge({ plan, slot, sandbox, erp, orders, grants, runs, hours: (nowMs() - beginMs) / hourMs })
  } finally {
    await Promise.all([client.close(), erp.close()])
  }
}

interface Evidence {
  readonly plan: HidingPlan
  readonly slot: Slot
  readonly sandbox: TestSandbox
  readonly erp: MarketplaceClient
  readonly orders: readonly HiddenOrder[]
  readonly grants: Grants
  readonly runs: number
  readonly hours: number
}

const judge = async ({ plan, slot, sandbox, erp, orders, grants, runs, hours }: Evidence): Promise<HidingPlayed> => {
  const violations: string[] = []
  const { totals: answered } = totals.parse(await sandbox.control('GET', '/requests?limit=1'))
  for (const [operation, byStatus] of Object.entries(answered))
    for (const [status, count] of Object.entries(byStatus))
      if (status === '429') violations.push(`${operation}: ${count} requests were answered with 429`)
  const traffic = [...grants].map(([{ name, limit }, times]) => {
    const { tokens, perMs } = limit
    const most = busiest(times, perMs)
    if (most > tokens) violations.push(`${name}: ${most} requests in ${perMs} ms, ${tokens} are allowed`)
    return `${name}: ${times.length} requests, at most ${most} of ${tokens} in ${perMs / 1_000} s`
  })

  const { rows } = await slot.client.query<{ id: string; first_seen_ms: number }>(
    `SELECT purchase_order_id AS id, extract(epoch FROM first_seen_at)::float8 * 1000 AS first_seen_ms FROM warehouse.orders
     WHERE seller_id = $1`,
    [sellerId],
  )
  const stored = new Map(rows.map((row) => [row.id, row.first_seen_ms]))
  const { rows: returned } = await slot.client.query<{ id: string; at_ms: number }>(
    `SELECT l.purchase_order_id AS id, extract(epoch FROM min(r.first_seen_at))::float8 * 1000 AS at_ms
     FROM warehouse.returns r JOIN warehouse.return_lines l USING (seller_id, return_order_id) WHERE r.seller_id = $1 GROUP BY 1`,
    [sellerId],
  )
  // Buyers return things by themselves too; such a return names its order from when it is stored.
  const byBuyers = new Map(returned.map((row) => [row.id, row.at_ms]))
  const known = new Map(orders.map((order) => [order.id, order]))
  for (const id of stored.keys()) if (!known.has(id)) violations.push(`order ${id} is invented`)

  const { rows: named } = await slot.client.query<{ id: string; source: string; wait_ms: number | null }>(
    `SELECT n.purchase_order_id AS id, n.source, extract(epoch FROM o.first_seen_at - n.named_at)::float8 * 1000 AS wait_ms
     FROM tallyman.named_orders n LEFT JOIN warehouse.orders o USING (seller_id, purchase_order_id) WHERE n.seller_id = $1`,
    [sellerId],
  )
  for (const { id, wait_ms: waitMs } of named)
    if (waitMs === null || waitMs > namedCycleMs) violations.push(`order ${id} was not stored within a minute of its being named`)
  const waits = [...Map.groupBy(named, ({ source }) => source)].map(([source, ofSource]) => {
    const longestMs = Math.max(...ofSource.map(({ wait_ms: waitMs }) => waitMs ?? Number.POSITIVE_INFINITY))
    return `not stored when ${source} named them: ${ofSource.length}, stored after at most ${(longestMs / 1_000).toFixed(0)} s`
  })

  const groups = new Map<string, { count: number; stored: number; longestMs: number }>()
  for (const order of orders) {
    const atMs = stored.get(order.id)
    const buyerMs = byBuyers.get(order.id)
    if (buyerMs !== undefined) order.namings.push({ by: 'return', atMs: buyerMs - pollMs.returns - lagMs })
    const due = dueMs(order, plan)
    const [naming] = [...order.namings].sort((a, b) => a.atMs + cycleMs[a.by] - b.atMs - cycleMs[b.by])
    const name =
      order.hidden === 'shown'
        ? 'shown'
        : `hidden ${order.hidden}, ${naming === undefined ? 'not named' : `named by: ${naming.by}`}`
    const group = groups.get(name) ?? { count: 0, stored: 0, longestMs: 0 }
    groups.set(name, group)
    group.count += 1
    if (atMs === undefined) {
      if (due !== null) violations.push(`order ${order.id} (${name}) is not stored`)
      continue
    }
    group.stored += 1
    const since = order.hidden === 'shown' || naming === undefined ? order.cameMs : naming.atMs
    group.longestMs = Math.max(group.longestMs, atMs - since)
    if (due !== null && atMs > due)
      violations.push(`order ${order.id} (${name}) came ${((atMs - due) / minuteMs).toFixed(1)} min too late`)
  }

  // That the sandbox did hide them is seen by whoever walks through its lists.
  await sandbox.control('PUT', '/limits', { enabled: false })
  const listed = new Set<string>()
  for (const shipNodeType of new Set(orders.map(({ node }) => node))) {
    const query = {
      shipNodeType,
      createdFrom: new Date(Math.min(...orders.map(({ cameMs }) => cameMs)) - 40 * dayMs),
      limit: 200,
    }
    // The lists page through 10,000 orders at most: past ones and new ones are asked for apart.
    for (const range of [{ createdTo: new Date(firstLines(orders)) }, { createdFrom: new Date(firstLines(orders)) }])
      for await (const { records } of erp
        .of(ordersEndpoint)
        .pages({ ...query, ...range }, { signal: new AbortController().signal }))
        for (const record of records) if (record.ok) listed.add(record.key)
  }
  const shown = orders.filter(({ hidden }) => hidden !== 'for ever')
  if (listed.size !== shown.length || shown.some(({ id }) => !listed.has(id)))
    violations.push(`the lists show ${listed.size} orders, ${shown.length} are not hidden`)

  const figures = [
    `${orders.length} orders, ${stored.size} stored, in ${hours.toFixed(0)} virtual hours and ${runs} runs`,
    ...[...groups].map(
      ([name, group]) =>
        `${name}: ${group.stored} of ${group.count} stored, the last after ${(group.longestMs / minuteMs).toFixed(1)} min`,
    ),
    ...waits,
    ...traffic,
  ]
  return { violations, figures }
}

const firstLines = (orders: readonly HiddenOrder[]): number => Math.min(...orders.map(({ cameMs }) => cameMs)) - hourMs
