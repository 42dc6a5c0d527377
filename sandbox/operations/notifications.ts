import type { Operation } from '../calls/operation.ts'
import { perMinute } from '../faults/limits.ts'
import {
  changeSubscription,
  createSubscriptions,
  deleteSubscription,
  listEventTypes,
  listSubscriptions,
  testSubscription,
} from '../notifications/subscriptions.ts'

const common = {
  admission: 'marketplace',
  errorShape: 'nested',
  faults: [],
} as const satisfies Partial<Operation>

const subscriptions = '/v3/webhooks/subscriptions'
const subscription = `${subscriptions}/:subscriptionId`

/** Notifications and their subscriptions (public facts, sections 5.1, 9.1 and 15). */
export const operations: readonly Operation[] = [
  {
    ...common,
    name: 'notifications.event-types',
    limit: perMinute(5),
    method: 'GET',
    urls: ['/v3/webhooks/eventTypes'],
    body: 'none',
    writes: false,
    perform: (world, _call, _plan, now) => listEventTypes(world, now),
  },
  {
    ...common,
    name: 'notifications.list',
    limit: perMinute(50),
    method: 'GET',
    urls: [subscriptions],
    body: 'none',
    writes: false,
    perform: (world, call) => listSubscriptions(world, call),
  },
  {
    ...common,
    name: 'notifications.subscribe',
    limit: perMinute(200),
    method: 'POST',
    urls: [subscriptions],
    body: 'json',
    writes: true,
    perform: (world, call, _plan, now) => createSubscriptions(world, call, now),
  },
  {
    ...common,
    name: 'notifications.change',
    limit: perMinute(5),
    method: 'PATCH',
    urls: [subscription],
    body: 'json',
    writes: true,
    perform: (world, call) => changeSubscription(world, call),
  },
  {
    ...common,
    name: 'notifications.unsubscribe',
    limit: perMinute(10),
    method: 'DELETE',
    urls: [subscription],
    body: 'none',
    writes: true,
    perform: (world, call) => deleteSubscription(world, call),
  },
  {
    ...common,
    name: 'notifications.test',
    limit: perMinute(10),
    method: 'POST',
    urls: ['/v3/webhooks/test'],
    body: 'json',
    writes: false,
    perform: (world, call, _plan, now) => testSubscription(world, call, now),
  },
]
