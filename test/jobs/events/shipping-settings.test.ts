import { beforeEach, describe, expect, test } from 'vitest'
import { parseShippingSettings } from '../../../src/clients/marketplace/shipping-settings-record.ts'
import { acceptEvents } from '../../../src/jobs/events/accept.ts'
import { processReceivedEvent } from '../../../src/jobs/events/process.ts'
import { storeShippingSettings } from '../../../src/store/campaigns/shipping-settings.ts'
import { listEventCommands } from '../../../src/store/commands/command-queries.ts'
import type { IncomingEvent } from '../../../src/store/events/events.ts'
import { settings } from '../../domain/support/shipping-settings.ts'
import { withDatabase } from '../../support/database.ts'
import { orderLine, purchaseOrder } from '../../support/orders.ts'
import { seedOrder } from '../../support/store.ts'
import { marketplace, parts } from './support.ts'

const stage = withDatabase({ each: 'test', connections: 6 })
let shop: ReturnType<typeof marketplace>
const { signal } = new AbortController()

beforeEach(async () => {
  shop = marketplace()
})

const defined = (id: string, data: object = { simplifiedShippingSettings: settings() }): IncomingEvent => ({
  source: 'urn:erp',
  id,
  type: 'erp.shipping-settings.defined',
  data,
})
const exist = (sellerId = 's-1') => {
  const record = parseShippingSettings(JSON.stringify(settings()))
  if (!record.ok) throw new Error(record.fault)
  return stage.database.transaction((tx) => storeShippingSettings(tx, sellerId, new Date('2026-03-01T10:00:00Z'), record))
}
const insertRow = (event: IncomingEvent) =>
  stage.database.execute(
    'INSERT INTO tallyman.erp_event (source, id, type, data) VALUES ($1, $2, $3, $4::jsonb)',
    event.source,
    event.id,
    event.type,
    JSON.stringify(event.data),
  )
const eventRow = async (id: string) =>
  (
    await stage.database.query<{ status: string; problem: { errors: { path: string }[] } | null }>(
      'SELECT status, problem FROM tallyman.erp_event WHERE id = $1',
      id,
    )
  )[0]

describe('an event that defines shipping settings', () => {
  test('becomes one command without an order, asks for none, and twice the same is a duplicate', async () => {
    const events = parts(stage.database, shop)
    const first = await acceptEvents(events, [defined('e-1')], signal)
    expect(first).toMatchObject({ ok: true, receipts: [{ status: 'accepted', state: 'accepted' }] })
    expect(await acceptEvents(events, [defined('e-1')], signal)).toMatchObject({ ok: true, receipts: [{ status: 'duplicate' }] })
    expect(await listEventCommands(stage.database, 'urn:erp', 'e-1')).toMatchObject([
      {
        id: events.woken[0],
        sellerId: 's-1',
        purchaseOrderId: null,
        kind: 'create-shipping-settings',
        state: 'pending',
        lines: [],
        payload: { simplifiedShippingSettings: { accountConfigs: { shippingPriority: 'FASTEST' } } },
      },
    ])
    expect(shop.state.asked).toBe(0)
    expect(events.woken).toHaveLength(1)
  })

  test('gets every fault by its path and leaves no trace', async () => {
    const [ups, usps] = settings().accountConfigs.carrierConfigs
    const wrong = settings({
      shippingPriority: '',
      carrierConfigs: [
        ups,
        { ...usps, carriers: [{ carrierName: 'USPS', carrierService: 'UPS_GROUND' }], configurations: [{ shippingCharge: {} }] },
      ],
    })
    const root = 'data.simplifiedShippingSettings.accountConfigs'
    const verdict = await acceptEvents(
      parts(stage.database, shop),
      [defined('e-1', { simplifiedShippingSettings: wrong })],
      signal,
    )
    if (verdict.ok || verdict.reason !== 'invalid') throw new Error('was not found wrong')
    expect(new Set(verdict.faults.map((fault) => fault.path))).toEqual(
      new Set([
        `${root}.shippingPriority`,
        `${root}.carrierConfigs[1].carriers[0].carrierService`,
        `${root}.carrierConfigs[1].configurations[0].regions`,
        `${root}.carrierConfigs[1].configurations[0].addressTypes`,
        `${root}.carrierConfigs[1].configurations[0].shippingCharge`,
      ]),
    )
    expect(await eventRow('e-1')).toBeUndefined()
  })

  test('is wrong for settings that exist, of its own seller only', async () => {
    await exist('s-1')
    const events = parts(stage.database, shop, ['s-1', 's-2'])
    const of = (sellerId: string) => ({ sellerId, simplifiedShippingSettings: settings() })
    expect(await acceptEvents(events, [defined('e-1', of('s-1'))], signal)).toMatchObject({
      ok: false,
      faults: [{ path: 'data.simplifiedShippingSettings' }],
    })
    expect(await acceptEvents(events, [defined('e-2', of('s-2'))], signal)).toMatchObject({ ok: true })
    expect(await acceptEvents(events, [defined('e-3')], signal)).toMatchObject({ ok: false, faults: [{ path: 'data.sellerId' }] })
    expect(await acceptEvents(events, [defined('e-4', of('s-3'))], signal)).toMatchObject({
      ok: false,
      faults: [{ path: 'data.sellerId' }],
    })
  })

  test('comes in a batch with events of orders', async () => {
    await seedOrder(stage.database, 's-1', purchaseOrder('1', [orderLine('1', 'A', 3)]))
    const events = parts(stage.database, shop)
    const accepted = { source: 'urn:erp', id: 'o-1', type: 'erp.order.accepted', data: { purchaseOrderId: '1' } }
    const verdict = await acceptEvents(events, [accepted, defined('e-1')], signal)
    expect(verdict).toMatchObject({ ok: true, receipts: [{ id: 'o-1' }, { id: 'e-1' }] })
    expect(events.woken).toHaveLength(2)
  })

  test('comes as a row of the SQL inbox, decided in the order of the rows and before later posts', async () => {
    const events = parts(stage.database, shop)
    await insertRow(defined('r-1'))
    await insertRow(defined('r-2', { simplifiedShippingSettings: {} }))
    expect(await processReceivedEvent(events, { source: 'urn:erp', id: 'r-2' }, signal)).toBe('settled')
    expect(await eventRow('r-1')).toMatchObject({ status: 'accepted' })
    expect(await eventRow('r-2')).toMatchObject({ status: 'rejected' })
    expect((await eventRow('r-2'))?.problem?.errors.map((fault) => fault.path)).toEqual([
      'data.simplifiedShippingSettings.accountConfigs',
    ])
    await insertRow(defined('r-3'))
    await acceptEvents(events, [defined('p-1')], signal)
    const sequence = await stage.database.query('SELECT event_id FROM tallyman.commands ORDER BY sequence')
    expect(sequence).toEqual([{ event_id: 'r-1' }, { event_id: 'r-3' }, { event_id: 'p-1' }])
    expect(await stage.database.query(`SELECT subject FROM tallyman.alarms WHERE kind = 'event-rejected'`)).toEqual([
      { subject: 'urn:erp r-2' },
    ])
  })
})
