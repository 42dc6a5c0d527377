import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { components } from '../../types/index.d.ts'
import { buildDispatch, cloudEvent, reportedParcel } from '../support/events.ts'
import { eventually } from '../support/eventually.ts'
import { readFlaws } from './page-checks.ts'
import { dispatchUnit, placeOrder } from './scene.ts'
import { type ConsoleStage, decideWith, hasBrowser, sellerId, startConsole } from './support.ts'

describe.runIf(hasBrowser)('operating the daemon in a browser', () => {
  let stage: ConsoleStage
  beforeAll(async () => {
    stage = await startConsole()
  })
  afterAll(() => stage?.stop())

  test('runs a sync, reads its past again, and shows how far that is', async () => {
    const { page, context, faults } = await stage.open('/console/syncs')
    await page.getByRole('link', { name: 'orders', exact: true }).click()
    await page.getByRole('heading', { level: 1, name: 'Sync of orders' }).waitFor()
    await page.getByLabel('Read again from').fill('2026-01-01T00:00')
    await page.getByLabel('up to (empty: now)').fill('2025-01-01T00:00')
    await page.getByRole('button', { name: 'Start the backfill' }).click()
    await page.getByText('to must be later than from', { exact: false }).waitFor()
    // The browser reports each refusal.
    faults.splice(0)
    const dayMs = 86_400_000
    const local = (at: number): string => new Date(at - new Date().getTimezoneOffset() * 60_000).toISOString().slice(0, 16)
    await page.getByLabel('Read again from').fill(local(Date.now() - 40 * dayMs))
    await page.getByLabel('up to (empty: now)').fill(local(Date.now() - dayMs))
    await page.getByRole('button', { name: 'Start the backfill' }).click()
    await page.getByText('is read again', { exact: false }).waitFor()
    const streams = page.getByRole('table', { name: 'Streams' })
    await expect.poll(() => streams.innerText(), { timeout: 60_000 }).toMatch(/backfill:.*\n?.*done/)
    const { rows } = await stage.client.query<{ runs: number }>(
      `SELECT count(*)::int AS runs FROM tallyman.sync_runs WHERE resource = 'orders' AND stream LIKE 'backfill:%'`,
    )
    expect(rows[0]?.runs).toBeGreaterThan(0)
    await expect.poll(() => page.getByRole('table', { name: 'Runs' }).innerText()).toContain('backfill:')
    const audit = await (await stage.call('GET', '/v1/audit?action=sync.run_requested')).json()
    expect(audit).toMatchObject({ items: [{ subject: 'orders', sellerId, details: { from: expect.any(String) } }] })

    await page.getByRole('button', { name: 'Run now' }).click()
    await page.getByText('of its streams', { exact: false }).waitFor()
    await eventually(async () => {
      const { rows: read } = await stage.client.query(
        `SELECT 1 FROM tallyman.sync_states WHERE resource = 'orders' AND stream NOT LIKE 'backfill:%' AND last_success_at IS NOT NULL`,
      )
      expect(read.length).toBeGreaterThan(0)
    })
    await page.getByRole('link', { name: 'All syncs' }).click()
    await page.getByLabel('Sync', { exact: true }).selectOption('orders')
    await expect.poll(() => page.getByRole('table', { name: 'Syncs' }).innerText()).toContain('changes since')
    expect(faults).toEqual([])
    await context.close()
  })

  test('shows the orders that other records name: which are missing, and why others are not stored', async () => {
    await stage.client.query(
      `INSERT INTO tallyman.erp_event (source, id, type, data, seller_id, status)
       SELECT '/erp/named', po, 'erp.order.accepted', jsonb_build_object('purchaseOrderId', po), $1, 'rejected' FROM unnest($2::text[]) AS po`,
      [sellerId, ['999000000001', '999000000002']],
    )
    await stage.client.query(
      `INSERT INTO tallyman.named_orders (seller_id, purchase_order_id, source, state, answer, asks, ask_again_at)
       VALUES ($1, '999000000002', 'events', 'explained', 'the marketplace does not know this order', 5, 'infinity')`,
      [sellerId],
    )
    const { page, context, faults } = await stage.open('/console/syncs')
    await page.getByRole('link', { name: 'Orders that other records name' }).click()
    await page.getByLabel('Named by').selectOption('events')
    const row = page.getByRole('table', { name: 'Named orders' }).getByRole('row').last()
    await row.locator('summary').first().click()
    await row.locator('summary').last().click()
    await expect.poll(() => row.innerText()).toMatch(/999000000001[\s\S]*999000000002: the marketplace does not know this order/)
    await page.getByRole('button', { name: 'Remove the filter Named by' }).click()
    await expect.poll(() => page.getByRole('button', { name: 'Remove the filter' }).count()).toBe(0)
    expect(faults).toEqual([])
    await context.close()
  })

  test('shows a record in quarantine without its buyer until asked, replays it, and dismisses it with a reason', async () => {
    const raw = {
      purchaseOrderId: 'Q-1',
      orderDate: 'soon',
      shippingInfo: { postalAddress: { name: 'Jane Hidden', city: 'Oslo' } },
    }
    const { rows } = await stage.client.query<{ id: string }>(
      `INSERT INTO tallyman.quarantined_records (seller_id, resource, record_key, raw_hash, raw_text, fault, observed_at)
       VALUES ($1, 'orders', 'Q-1', '\\x01', $2, 'orderDate: must be a time', now()),
         ($1, 'returns', 'R-1', '\\x02', 'no JSON of Jane Hidden', 'it is not JSON', now()) RETURNING id`,
      [sellerId, JSON.stringify(raw)],
    )
    const { page, context, faults } = await stage.open('/console/quarantine')
    const table = page.getByRole('table', { name: 'Quarantine' })
    await expect.poll(() => table.innerText()).toContain('R-1')
    await page.getByLabel('Sync', { exact: true }).selectOption('orders')
    await expect.poll(() => table.innerText()).not.toContain('R-1')
    expect(await table.innerText()).toContain('orderDate: must be a time')
    await page.getByText('As received', { exact: true }).click()
    await expect.poll(() => table.innerText()).toContain('Oslo')
    for (const listed of [await page.content(), await (await context.request.get('/v1/quarantine')).text()])
      expect(listed).not.toContain('Jane Hidden')
    await page.getByRole('button', { name: 'Show hidden texts' }).click()
    await expect.poll(() => table.innerText()).toContain('Jane Hidden')
    const audit = await (await stage.call('GET', '/v1/audit?action=record.shown')).json()
    expect(audit).toMatchObject({ items: [{ subject: rows[0]?.id, sellerId, keyId: 'API_KEY' }] })
    // A key is not somebody at a screen.
    expect(await (await stage.call('GET', '/v1/quarantine')).text()).toContain('Jane Hidden')

    await page.getByRole('button', { name: 'Replay orders Q-1' }).click()
    await page.getByRole('status').getByText('orders Q-1:', { exact: false }).waitFor()
    faults.splice(0)
    await page.getByRole('button', { name: 'Dismiss orders Q-1' }).click()
    await decideWith(page, 'Dismiss', 'a test order of theirs')
    await page.getByText('No open record matches', { exact: false }).waitFor()
    const { rows: settled } = await stage.client.query(
      `SELECT state, dismissed_by, dismissed_reason FROM tallyman.quarantined_records WHERE id = $1`,
      [rows[0]?.id],
    )
    expect(settled).toEqual([{ state: 'dismissed', dismissed_by: 'kim', dismissed_reason: 'a test order of theirs' }])
    expect(faults).toEqual([])
    await context.close()
  })

  test('pauses a seller with a reason, and resumes it; says of a stopped one why and what to do', async () => {
    const sellers = async (): Promise<unknown> => (await stage.call('GET', '/v1/sellers')).json()
    const { page, context, faults } = await stage.open('/console/sellers')
    await page.getByRole('button', { name: `Pause ${sellerId}` }).click()
    await decideWith(page, 'Pause', 'stocktaking')
    const table = page.getByRole('table', { name: 'Sellers' })
    await expect.poll(() => table.innerText()).toMatch(/paused[\s\S]*by kim: stocktaking/)
    expect(await sellers()).toMatchObject({ items: [{ state: 'paused', pausedBy: 'kim', reason: 'stocktaking' }] })
    await page.getByRole('button', { name: `Resume ${sellerId}` }).click()
    await decideWith(page, 'Resume', 'counted')
    await page.getByRole('button', { name: `Pause ${sellerId}` }).waitFor()
    expect(await sellers()).toMatchObject({ items: [{ state: 'active' }] })
    await expect.poll(() => table.innerText()).toMatch(/records? in quarantine/)
    await page.getByRole('button', { name: 'Reload the settings' }).click()
    await page.getByText('1 seller in the settings.', { exact: false }).waitFor()
    const others = [{ process: 'p-2', roles: ['worker'], sellers: [], state: 'faulty', faults: ['line 3: it is wrong'] }]
    await page.route('**/v1/sellers/reload', (route) =>
      route.fulfill({ json: { sellers: [sellerId], added: [], removed: [], others } }),
    )
    await page.getByRole('button', { name: 'Reload the settings' }).click()
    await page.getByRole('alert').getByText('p-2 is unchanged: line 3: it is wrong.', { exact: false }).waitFor()
    await page.unroute('**/v1/sellers/reload')
    const stopped = {
      sellerId: 'refused-seller',
      state: 'stopped',
      reason: 'the marketplace refuses the client id',
      since: new Date().toISOString(),
      pausedBy: null,
      nextProbeAt: null,
      served: true,
      removedAt: null,
      removedBy: null,
      mode: 'live',
      modeSince: new Date().toISOString(),
      modeBy: null,
      servedBy: [],
      openOrders: 0,
      lateOrders: 0,
      openCommands: 0,
      heldCommands: 0,
      waitingEvents: 0,
      quarantined: 0,
      openAlarms: 0,
      failingStreams: 0,
      ordersLagSeconds: null,
      furthestBehind: null,
      waitingOperations: [],
    } satisfies components['schemas']['ListedSeller']
    const servedByOther = { ...stopped, sellerId: 'other-seller', state: 'active', served: false, servedBy: ['p-2'] }
    await page.route('**/v1/sellers?**', (route) =>
      route.fulfill({ json: { items: [stopped, servedByOther], nextCursor: null } }),
    )
    await page.reload()
    await page.getByText('1 stopped: refused-seller', { exact: false }).waitFor()
    expect(await table.innerText()).toContain('the marketplace refuses the client id')
    expect(await table.innerText()).toContain('Correct the credentials in the settings')
    expect(await table.innerText()).toContain('p-2 serves it')
    expect(await table.innerText()).not.toContain('nothing runs for it')
    expect(faults).toEqual([])
    await context.close()
  })

  test('shows predictions beside what the other system did, and goes live in spite of a difference only when forced', async () => {
    expect((await stage.call('POST', `/v1/sellers/${sellerId}/go-shadow`, { reason: 'for the test' })).status).toBe(200)
    const same = await placeOrder(stage, 'WHISK', 1)
    const other = await placeOrder(stage, 'WHISK', 1)
    for (const order of [same, other]) {
      await dispatchUnit(stage, order, 'WHISK', `1Z${order}`)
      await eventually(async () => {
        const answer = await (await stage.call('GET', `/v1/commands?state=predicted&kind=ship&purchaseOrderId=${order}`)).json()
        expect(answer).toMatchObject({ items: [{ state: 'predicted' }] })
      })
      // As a read of the order stores what the other system has done.
      await stage.client.query(
        `UPDATE warehouse.order_lines SET acknowledged = 1, shipped = 1, status_date = now() WHERE seller_id = $1 AND purchase_order_id = $2`,
        [sellerId, order],
      )
      await stage.client.query(
        `INSERT INTO warehouse.shipments (seller_id, purchase_order_id, line_number, position, carrier, tracking_number, shipped_at, quantity,
           shown_quantity, first_seen_at, changed_at) VALUES ($1, $2, '1', 0, 'UPS', $3, now(), 1, 1, now(), now())`,
        [sellerId, order, order === same ? `1Z${order}` : '9X-OTHER'],
      )
    }
    const opened = await stage.open('/')
    const { page, context, faults } = opened
    await page.getByRole('link', { name: 'Shadow', exact: true }).click()
    const sellers = page.getByRole('table', { name: 'Sellers in shadow mode' })
    await expect.poll(() => sellers.innerText()).toMatch(/1 order differs[\s\S]*1 order agrees/)
    const orders = page.getByRole('table', { name: 'Compared orders' })
    await expect.poll(() => orders.innerText()).toContain(same)
    await sellers.getByRole('link', { name: '1 order' }).first().click()
    await expect.poll(() => orders.innerText()).not.toContain(same)
    expect(await orders.innerText()).toMatch(
      new RegExp(
        `${other}[\\s\\S]*Ship differs[\\s\\S]*line 1: 1 of 1 unit[\\s\\S]*another tracking number: predicted 1Z${other}, shown 9X-OTHER`,
      ),
    )
    await page.getByLabel('Difference').selectOption('money')
    await page.getByText('No order matches the filters.').waitFor()
    await page.getByLabel('Difference').selectOption('tracking')
    await page.getByLabel('Command').selectOption('ship')
    await page.getByRole('link', { name: other }).waitFor()
    expect(await readFlaws(opened, '/console/shadow')).toEqual([])

    await page.getByRole('button', { name: `Go live ${sellerId}` }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Who decides').fill('kim')
    await dialog.getByLabel('Why').fill('compared for a week')
    await dialog.getByRole('button', { name: 'Go live', exact: true }).click()
    await dialog.getByRole('alert').getByText('processed in another way: 1,', { exact: false }).waitFor()
    // The browser reports the refusal.
    faults.splice(0)
    await dialog.getByLabel('Although orders differ from what was predicted').check()
    await dialog.getByRole('button', { name: 'Go live', exact: true }).click()
    await page.getByText('No seller is in shadow mode.', { exact: false }).waitFor()
    const audit = await (await stage.call('GET', '/v1/audit?action=seller.went_live')).json()
    expect(audit).toMatchObject({
      items: [{ actor: 'kim', reason: 'compared for a week', details: { differences: 1, forced: true } }],
    })
    expect(faults).toEqual([])
    await context.close()
  })

  test('removes a seller that no process serves, and lists those with a past when asked', async () => {
    await stage.client.query(
      `INSERT INTO tallyman.sellers (seller_id, state) VALUES ('mistyped', 'active'), ('long-gone', 'active')`,
    )
    await stage.client.query(
      `INSERT INTO tallyman.erased_records (seller_id, kind, record_id) VALUES ('long-gone', 'return', '1')`,
    )
    const { page, context, faults } = await stage.open('/console/sellers')
    const table = page.getByRole('table', { name: 'Sellers' })
    await page.getByRole('button', { name: 'Remove mistyped' }).click()
    await decideWith(page, 'Remove', 'a slip')
    await page.getByText('mistyped is deleted.').waitFor()
    await page.getByRole('button', { name: 'Remove long-gone' }).click()
    await decideWith(page, 'Remove', 'closed')
    await page.getByText('long-gone is removed; its records stay readable.').waitFor()
    await expect.poll(() => page.getByRole('button', { name: /^Remove / }).count()).toBe(0)
    expect(await table.innerText()).toContain(sellerId)
    await page.getByLabel('Removed').selectOption('true')
    await expect.poll(() => table.innerText()).toMatch(/long-gone[\s\S]*removed [\s\S]* by kim/)
    expect(await table.innerText()).not.toContain(sellerId)
    expect(faults).toEqual([])
    await context.close()
    await stage.client.query(`DELETE FROM tallyman.sellers WHERE seller_id = 'long-gone'`)
  })

  test('shows of each seller of a large fleet what is open and how far behind it is, with one question', async () => {
    await stage.client.query(
      `INSERT INTO tallyman.sellers (seller_id, state, credentials_fingerprint)
       SELECT 'fleet-' || lpad(n::text, 4, '0'), 'active', 'f' FROM generate_series(1, 1000) AS n`,
    )
    await stage.client.query(
      `INSERT INTO tallyman.sync_states (seller_id, resource, stream, last_success_at)
       SELECT 'fleet-' || lpad(n::text, 4, '0'), 'orders', stream, now() - interval '1 minute'
       FROM generate_series(1, 1000) AS n CROSS JOIN unnest(ARRAY['released', 'sweep']) AS stream`,
    )
    await stage.client.query(
      `UPDATE tallyman.sellers SET state = 'paused', stopped_reason = 'stocktaking', stopped_at = now(), paused_by = 'kim' WHERE seller_id = 'fleet-1000'`,
    )
    await stage.client.query(
      `UPDATE tallyman.sync_states SET last_success_at = now() - interval '3 hours', failures = 2 WHERE seller_id = 'fleet-1000' AND stream = 'sweep'`,
    )
    await stage.client.query(
      `INSERT INTO tallyman.commands (id, seller_id, purchase_order_id, kind, state, payload) VALUES ('of-a-fleet', 'fleet-1000', '1', 'ship', 'held', '{}')`,
    )
    const { page, context, faults } = await stage.open('/console/overview')
    await page.getByRole('heading', { level: 1 }).waitFor()
    const asked: string[] = []
    page.on('request', (request) => asked.push(`${new URL(request.url()).pathname}${new URL(request.url()).search}`))
    await page.getByRole('link', { name: 'Sellers', exact: true }).click()
    await page.getByLabel('State').selectOption('paused')
    const table = page.getByRole('table', { name: 'Sellers' })
    await expect.poll(() => table.innerText()).toMatch(/^fleet-1000/m)
    await expect.poll(() => table.innerText()).toMatch(/\d (min|s) ago[\s\S]*1 sync failing[\s\S]*1 held command/)
    expect(asked.filter((path) => path.startsWith('/v1/overview') || path.startsWith('/v1/syncs'))).toEqual([])
    for (const sql of [
      `DELETE FROM tallyman.commands WHERE id = 'of-a-fleet'`,
      `DELETE FROM tallyman.sync_states WHERE seller_id LIKE 'fleet-%'`,
      `DELETE FROM tallyman.sellers WHERE seller_id LIKE 'fleet-%'`,
    ])
      await stage.client.query(sql)
    expect(faults).toEqual([])
    await context.close()
  })

  test('lists events that wait and that were rejected, and rejects one with a reason', async () => {
    // Of a seller that is paused nothing is decided.
    expect((await stage.call('POST', `/v1/sellers/${sellerId}/pause`, { reason: 'for the test' })).status).toBe(200)
    const parcel = reportedParcel('1ZWAITS', { lineNumber: '1', quantity: 1 })
    const event = cloudEvent(buildDispatch({ sellerId, purchaseOrderId: '404404' }, 'waits-1', parcel), '/erp/north')
    expect(await (await stage.call('POST', '/v1/events', event)).json()).toMatchObject({ items: [{ state: 'received' }] })
    const { page, context, faults } = await stage.open('/console/events')
    await page.getByRole('link', { name: 'waits-1' }).click()
    await page.getByRole('heading', { level: 1, name: 'Event waits-1' }).waitFor()
    await page.getByText('Data of the event').click()
    await expect.poll(() => page.locator('main').innerText()).toContain('"trackingNumber": "1ZWAITS"')
    await page.getByRole('button', { name: 'Reject waits-1 of /erp/north' }).click()
    await decideWith(page, 'Reject', 'the order is of another shop')
    await expect.poll(() => page.getByRole('region', { name: 'Facts' }).innerText()).toContain('the order is of another shop')
    await page.getByRole('link', { name: 'Events', exact: true }).last().click()
    await page.getByText('No event waits', { exact: false }).waitFor()
    await page.getByLabel('State').selectOption('rejected')
    await expect.poll(() => page.getByRole('table', { name: 'Events' }).innerText()).toContain('the order is of another shop')
    const { rows } = await stage.client.query(`SELECT status FROM tallyman.erp_event WHERE id = 'waits-1'`)
    expect(rows).toEqual([{ status: 'rejected' }])
    expect((await stage.call('POST', `/v1/sellers/${sellerId}/resume`)).status).toBe(200)
    expect(faults).toEqual([])
    await context.close()
  })

  test('silences an alarm for a while, lets it speak again, and resolves it with a reason', async () => {
    const { rows: raised } = await stage.client.query<{ id: string }>(
      `INSERT INTO tallyman.alarms (seller_id, kind, subject, message)
       VALUES ($1, 'campaign-anomaly', 'c-1', 'campaign c-1 went from ENDED to LIVE') RETURNING id`,
      [sellerId],
    )
    const alarm = async (): Promise<unknown> => {
      const { rows } = await stage.client.query(
        `SELECT silenced_until > now() + interval '23 hours' AS silent, silenced_by, silenced_reason, resolved_at IS NOT NULL AS resolved
         FROM tallyman.alarms WHERE id = $1`,
        [raised[0]?.id],
      )
      return rows[0]
    }
    const { page, context, faults } = await stage.open('/')
    await page.getByRole('link', { name: /open alarms?/ }).click()
    const table = page.getByRole('table', { name: 'Alarms' })
    const row = table.locator('tbody tr').filter({ hasText: 'campaign c-1 went from ENDED to LIVE' })
    await expect.poll(() => row.innerText()).toContain('Check the campaign at the marketplace, then resolve the alarm.')
    expect(await row.innerText()).toContain('notice')
    await row.getByRole('button', { name: 'Silence' }).click()
    await page.getByLabel('For how long').selectOption('a day')
    await decideWith(page, 'Silence', 'they look at it tomorrow')
    await expect.poll(() => row.innerText()).toMatch(/silenced[\s\S]*by kim: they look at it tomorrow/)
    expect(await alarm()).toEqual({
      silent: true,
      silenced_by: 'kim',
      silenced_reason: 'they look at it tomorrow',
      resolved: false,
    })
    await row.getByRole('button', { name: 'End the silence' }).click()
    await decideWith(page, 'End the silence', 'they have looked')
    await row.getByRole('button', { name: 'Silence' }).waitFor()
    expect(await alarm()).toMatchObject({ silent: false })
    await row.getByRole('button', { name: 'Resolve' }).click()
    await decideWith(page, 'Resolve', 'it was extended on purpose')
    await row.waitFor({ state: 'detached' })
    await page.getByLabel('State').selectOption('all')
    await expect.poll(() => row.innerText()).toMatch(/resolved[\s\S]*by kim: it was extended on purpose/)
    expect(await alarm()).toMatchObject({ resolved: true })
    expect(faults).toEqual([])
    await context.close()
  })

  const addresses = [
    '/console/alarms?state=all',
    '/console/syncs',
    '/console/completeness',
    '/console/syncs/orders',
    '/console/quarantine',
    '/console/drift',
    '/console/sellers',
    '/console/events?state=rejected',
    '/console/events/%2Ferp%2Fnorth/waits-1',
  ]

  test.each(addresses)('%s: by keyboard, in light and dark, on a phone', async (address) => {
    const opened = await stage.signIn()
    expect(await readFlaws(opened, address)).toEqual([])
    await opened.context.close()
  })
})
