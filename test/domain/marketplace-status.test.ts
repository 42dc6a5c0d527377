import { expect, test } from 'vitest'
import { addOutage, type ReportedStatus } from '../../src/domain/alarms/marketplace-status.ts'
import { commandKinds } from '../../src/domain/commands/command.ts'
import { syncResources } from '../../src/jobs/sync/engine/syncs.ts'

const since = new Date('2026-11-27T10:00:00Z')
const report = (apiGroup: string, status = 'SERVICE_OUTAGE'): ReportedStatus => ({ apiGroup, status, since })
const sentence = 'The marketplace reports SERVICE_OUTAGE for'

test.each([
  ['orders', 'Orders'],
  ['returns', 'Returns'],
  ['inventory', 'Inventory'],
  ['inventory-log', 'Inventory'],
  ['ship', 'Orders'],
  ['correct-shipment', 'Orders'],
  ['refund', 'Refunds'],
  ['refund-return', 'Returns'],
])('an outage that stops %s is that of %s', (work, group) => {
  expect(addOutage('it waits', work, [report('Price'), report(group)])).toBe(
    `it waits. ${sentence} ${group} since 2026-11-27T10:00:00.000Z.`,
  )
})

test.each([
  ['of another group', 'orders', report('Returns')],
  ['of an unknown group', 'orders', report('Teleportation')],
  ['that is none', 'orders', report('Orders', 'OPERATIONAL')],
  ['with an unknown word', 'orders', report('Orders', 'UNKNOWN')],
  ['of work that is not known', 'constructor', report('Orders')],
])('a status %s adds nothing', (_what, work, reported) => {
  expect(addOutage('it waits', work, [reported])).toBe('it waits')
})

test('several outages are one sentence, and groups may be spelt in another way', () => {
  expect(addOutage('it waits.', 'refund', [report('REFUNDS', 'SERVICE_DEGRADATION'), report('orders')])).toBe(
    `it waits. ${sentence} Orders since 2026-11-27T10:00:00.000Z, and SERVICE_DEGRADATION for Refunds since 2026-11-27T10:00:00.000Z.`,
  )
})

test('each resource and each command needs tokens, except display advertising, which is another host', () => {
  const untouched = [...syncResources, ...commandKinds].filter((work) => addOutage('', work, [report('Authentication')]) === '')
  expect(untouched.sort()).toEqual(['behavioral-audiences', 'contextual-targets', 'taxonomies'])
})
