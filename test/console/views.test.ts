import { readFile } from 'node:fs/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { eventually } from '../support/eventually.ts'
import { readFindings, readFlaws } from './page-checks.ts'
import { dispatchUnit, holdShipment, placeOrder, type Scene, setScene, trackingNumber } from './scene.ts'
import { type ConsoleStage, hasBrowser, sellerId, startConsole } from './support.ts'

describe.runIf(hasBrowser)('the console in a browser', () => {
  let stage: ConsoleStage
  let scene: Scene

  beforeAll(async () => {
    stage = await startConsole()
    scene = await setScene(stage)
  })
  afterAll(() => stage?.stop())

  test('finds an order by its tracking number, and shows the buyer only when asked, which the audit records', async () => {
    const { page, context, faults } = await stage.open('/')
    await page.getByRole('link', { name: 'Orders', exact: true }).click()
    await page.getByLabel('Search').fill(trackingNumber)
    await page.getByLabel('Search').press('Enter')
    await page.getByRole('link', { name: scene.shippedOrder }).click()
    await page.getByRole('heading', { level: 1, name: `Order ${scene.shippedOrder}` }).waitFor()
    expect(new URL(page.url()).pathname).toBe(`/console/orders/${sellerId}/${scene.shippedOrder}`)
    await page.getByText(`tracking number ${trackingNumber}`, { exact: false }).first().waitFor()
    const units = page.getByRole('img', { name: 'Line 1, 2 units ordered: shipped 1 of 2' })
    await units.waitFor()
    const timeline = page.locator('ol.timeline')
    // What programs have written is shown when somebody asks for it.
    expect(await timeline.innerText()).not.toContain('order_line.changed')
    await page.getByLabel('Changes', { exact: true }).check()
    for (const what of ['erp.shipment.dispatched', 'Ship 1 unit', 'order_line.changed', 'Ordered'])
      await expect.poll(() => timeline.innerText()).toContain(what)
    // Nothing of the buyer has come to the browser yet.
    const buyer = page.getByRole('region', { name: 'Buyer' })
    expect(await buyer.innerText()).toContain('•••')
    const { rows } = await stage.client.query<{ customer_name: string }>(
      'SELECT customer_name FROM warehouse.orders WHERE purchase_order_id = $1',
      [scene.shippedOrder],
    )
    const name = rows[0]?.customer_name ?? ''
    expect(name).not.toBe('')
    expect(await page.content()).not.toContain(name)
    await buyer.getByRole('button', { name: "Show the buyer's data" }).click()
    await expect.poll(() => buyer.innerText()).toContain(name)
    const audit = await (await stage.call('GET', '/v1/audit?action=buyer.shown')).json()
    expect(audit).toMatchObject({ items: [{ subject: scene.shippedOrder, actor: 'operator', keyId: 'API_KEY' }] })
    expect(faults).toEqual([])
    await context.close()
  })

  test('steps over the versions of an order by keyboard, says that it shows the past, and leads back to now', async () => {
    const { page, context, faults } = await stage.open(`/console/orders/${sellerId}/${scene.shippedOrder}`)
    const slider = page.getByRole('slider', { name: 'Version' })
    await page.getByText(/^\d+ versions of the order$/).click()
    const units = (shown: string) => page.getByRole('img', { name: `Line 1, 2 units ordered: ${shown}`, exact: true })
    await units('shipped 1 of 2').waitFor()
    const versions = Number(await slider.getAttribute('max')) + 1
    expect(versions).toBeGreaterThan(1)
    expect(await slider.getAttribute('aria-valuetext')).toMatch(
      new RegExp(`^Version ${versions} of ${versions}, the current one, of .+: \\d+ fields? changed: `),
    )
    const notice = page.getByRole('status').filter({ hasText: 'You are looking at the past' })
    expect(await notice.count()).toBe(0)
    await slider.press('Home')
    await notice.waitFor()
    await units('none of 2').waitFor()
    expect(await slider.getAttribute('aria-valuetext')).toMatch(new RegExp(`^Version 1 of ${versions}, of `))
    const { searchParams } = new URL(page.url())
    expect(Date.parse(searchParams.get('at') ?? '')).toBeLessThan(Date.now())
    // Nothing is decided about the past: neither a command nor the buyer's data.
    expect(await page.locator('main').getByRole('link', { name: 'Ship 1 unit' }).count()).toBe(0)
    expect(await page.getByRole('button', { name: "Show the buyer's data" }).count()).toBe(0)
    expect(await readFindings(page)).toEqual([])
    await slider.press('End')
    await units('shipped 1 of 2').waitFor()
    expect(await notice.count()).toBe(0)
    await page.getByText('All versions').click()
    await page.getByRole('region', { name: 'Versions' }).getByRole('link').first().click()
    await notice.getByRole('link', { name: 'Back to now' }).click()
    await page.locator('main').getByRole('link', { name: 'Ship 1 unit' }).waitFor()
    expect(await notice.count()).toBe(0)
    await page.goto(`/console/orders/${sellerId}/${scene.shippedOrder}?at=2000-01-01T00:00:00Z`)
    await page.getByText('was not known at 2000-01-01', { exact: false }).waitFor()
    expect(await slider.getAttribute('aria-valuetext')).toBe('Before the oldest version that is listed.')
    // The browser reports the refusal.
    faults.splice(0)
    await page.getByRole('link', { name: 'Show the oldest version that is listed' }).click()
    await units('none of 2').waitFor()
    expect(faults).toEqual([])
    await context.close()
  })

  test('tells what a held command waits for, and takes a decision in part', async () => {
    const { page, context, faults } = await stage.open('/')
    await page.getByRole('link', { name: /held: a person must decide/ }).click()
    await page.getByRole('link', { name: 'Ship 2 units' }).click()
    await page.getByRole('heading', { level: 1, name: 'Ship 2 units: held' }).waitFor()
    await expect
      .poll(() => page.locator('.notice').first().innerText())
      .toMatch(/^1 of 2 units appeared under tracking number 1ZHELD/)
    const compared = page.getByRole('table', { name: /before the request, requested, and now/ })
    await expect.poll(() => compared.locator('tbody tr').first().innerText()).toMatch(/1\s+TOASTER\s+0\s+2\s+0/)
    const decide = page.getByRole('button', { name: 'Decide by line' })
    expect(await decide.isDisabled()).toBe(true)
    expect(await page.getByRole('listitem').filter({ hasText: 'Send again' }).innerText()).toContain('sends 2 units more')
    await page.getByRole('button', { name: 'Enter the rest as to send again' }).click()
    await page.getByText('Sends 2 units more, counts 0 as done, gives up 0.').waitFor()
    await page.getByLabel('Send again: units of line 1 1ZHELD').fill('0')
    await page.getByLabel('Applied: units of line 1 1ZHELD', { exact: true }).fill('1')
    await page.getByLabel('Not applied, give up: units of line 1 1ZHELD').fill('1')
    await page.getByText('Sends 0 units more, counts 1 as done, gives up 1.').waitFor()
    await decide.click()
    await page.getByLabel('Who decides').fill('kim')
    await page.getByLabel('Why').fill('one parcel was seen at the carrier')
    await page.getByRole('button', { name: 'Decide', exact: true }).click()
    await expect.poll(() => page.getByRole('heading', { level: 1 }).innerText()).not.toContain('held')
    const { rows } = await stage.client.query(
      'SELECT actor, decision, reason FROM tallyman.command_decisions WHERE command_id = $1',
      [scene.heldCommand],
    )
    expect(rows).toEqual([expect.objectContaining({ actor: 'kim', reason: 'one parcel was seen at the carrier' })])
    expect(faults).toEqual([])
    await context.close()
  })

  test('tells of a command that was decided in part what its units were before, all that was asked, and what became of it', async () => {
    const order = await placeOrder(stage, 'WOK', 2)
    await dispatchUnit(stage, order, 'WOK', '1ZWOK')
    await dispatchUnit(stage, order, 'WOK', '1ZWOK-TOO')
    for (const parcel of ['1ZWOK', '1ZWOK-TOO'])
      await expect.poll(async () => (await stage.call('GET', `/v1/orders?trackingNumber=${parcel}`)).text()).toContain(order)
    const command = await holdShipment(stage, order, '1ZWOK')
    // As the engine leaves it: the first request shipped one unit, the second one the other.
    const sent = { carrier: 'UPS', trackingNumber: '1ZWOK', trackingUrl: null, method: null, shippedAt: '2026-11-20T10:00:00Z' }
    const one = { parcels: [{ ...sent, lines: [{ lineNumber: '1', quantity: 1 }] }] }
    const units = { acknowledged: 1, shipped: 1, cancelled: 0, refunded: 0 }
    const line = { lineNumber: '1', ordered: 2, units, statuses: [], refundedAmount: '0', refundReasons: [] }
    const explanation = '1 unit appeared under our tracking numbers'
    await stage.client.query(
      `UPDATE tallyman.commands SET state = 'confirmed', settled_at = now(), reason = NULL, parts = $2, evidence = $3 WHERE id = $1`,
      [
        command,
        { applied: [{ payload: one, baseline: null }], open: one },
        { verdict: 'applied', lines: [{ lineNumber: '1', finding: 'applied', explanation }] },
      ],
    )
    await stage.client.query(
      `INSERT INTO tallyman.command_attempts (command_id, attempt, correlation_id, request, baseline, finished_at, outcome, http_status)
       VALUES ($1, 2, 'corr-2', '{}', $2, now(), 'accepted', 200)`,
      [command, { purchaseOrderId: order, lines: [line] }],
    )
    const { page, context } = await stage.open(`/console/commands/${command}`)
    const said = page.locator('.notice p').first()
    await expect
      .poll(() => said.innerText())
      .toBe('A person decided that 1 unit had been applied before. 1 unit appeared under our tracking numbers.')
    const compared = page.getByRole('table', { name: /before the request, requested, and now/ })
    await expect.poll(() => compared.locator('tbody tr').first().innerText()).toMatch(/1\s+WOK\s+0\s+2\s+2/)
    await context.close()
  })

  test('shows what happens while it is open, without being asked', async () => {
    const { page, context } = await stage.open('/console/commands?kind=ship')
    const order = await placeOrder(stage, 'LAMP', 1)
    await expect.poll(() => page.getByRole('table', { name: 'Commands' }).innerText()).not.toContain(order)
    // The change feed triggers the reload: without it the page would reload after half a minute.
    await dispatchUnit(stage, order, 'LAMP', '1ZLAMP')
    await expect.poll(() => page.getByRole('table', { name: 'Commands' }).innerText(), { timeout: 25_000 }).toContain(order)
    await context.close()
  })

  test('shows figures by day as charts and as tables, whose days lead to their rows', async () => {
    await eventually(async () => {
      const answer = await (await stage.call('GET', '/v1/trends?days=7')).text()
      expect(answer).toMatch(/"figure":"orders"[^}]*"values":\[[^\]]*"[1-9]/)
    }, 90_000)
    const { page, context, faults } = await stage.open('/console/trends?days=7')
    const orders = page.getByRole('region', { name: 'Orders', exact: true })
    await orders.locator('canvas').waitFor()
    await orders.getByText('As a table').click()
    await expect.poll(() => orders.getByRole('row').count()).toBe(8)
    await orders.getByRole('row').last().getByRole('link').click()
    await page.getByRole('table', { name: 'Orders' }).getByText(scene.shippedOrder).waitFor()
    expect(faults).toEqual([])
    await context.close()
  })

  test('an order that must be acknowledged within an hour is above those to ship', async () => {
    const order = await placeOrder(stage, 'MUG', 1)
    await stage.client.query(
      `UPDATE warehouse.orders SET order_date = now() - interval '3 hours 30 minutes', estimated_ship_date = now() + interval '3 days'
       WHERE purchase_order_id = $1`,
      [order],
    )
    const { page, context } = await stage.open('/console/today')
    const section = page.getByRole('region', { name: 'To acknowledge within an hour' })
    await expect.poll(() => section.getByRole('table').innerText()).toMatch(new RegExp(`${order}[\\s\\S]*in (29|30) min`))
    expect(await readFindings(page)).toEqual([])
    await context.close()
  })

  test('saves a list as CSV, with its filters', async () => {
    const { page, context } = await stage.open('/console/orders?sku=KETTLE')
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Save as CSV' }).click(),
    ])
    expect(download.suggestedFilename()).toBe('orders.csv')
    const lines = (await readFile(await download.path(), 'utf8')).trim().split('\r\n')
    expect(lines[0]).toMatch(/^sellerId,purchaseOrderId,/)
    expect(lines.slice(1)).toEqual([expect.stringContaining(scene.shippedOrder)])
    await context.close()
  })

  test.each<readonly [string, (scene: Scene) => string]>([
    ['the overview', () => '/'],
    ['trends', () => '/console/trends'],
    ['the pick list', () => '/console/pick-list?until=all'],
    ['to do today', () => '/console/today'],
    ['orders', () => '/console/orders'],
    ['an order', ({ shippedOrder }) => `/console/orders/${sellerId}/${shippedOrder}`],
    ['commands', () => '/console/commands'],
    ['a command', ({ heldCommand }) => `/console/commands/${heldCommand}`],
  ])('%s: by keyboard, in light and dark, on a phone', async (_, addressIn) => {
    const opened = await stage.signIn()
    expect(await readFlaws(opened, addressIn(scene))).toEqual([])
    await opened.context.close()
  })

  test('the theme can be chosen, and stays', async () => {
    const { page, context } = await stage.open('/', { colorScheme: 'light' })
    const back = (): Promise<string> => page.evaluate('getComputedStyle(document.body).backgroundColor')
    const light = await back()
    await page.emulateMedia({ colorScheme: 'dark' })
    expect(await back()).toBe('rgb(18, 21, 26)')
    await page.emulateMedia({ colorScheme: 'light' })
    expect(await back()).toBe(light)
    await page.getByLabel('Colours').selectOption('dark')
    await page.reload()
    await page.getByRole('heading', { level: 1 }).waitFor()
    expect(await page.evaluate<string>('document.documentElement.dataset.theme')).toBe('dark')
    expect(await back()).toBe('rgb(18, 21, 26)')
    await context.close()
  })

  test('on a phone the views are behind a button', async () => {
    const { page, context } = await stage.open('/', { viewport: { width: 360, height: 740 } })
    await page.getByRole('button', { name: 'Menu' }).click()
    await page.getByRole('link', { name: 'Today' }).click()
    await page.getByRole('heading', { level: 1, name: 'Today' }).waitFor()
    await page.goto('/console/syncs/orders')
    await page.getByLabel('up to (empty: now)').waitFor()
    await context.close()
  })

  test('can be used by keyboard alone', async () => {
    const { page, context } = await stage.open('/')
    await page.getByRole('heading', { level: 1 }).waitFor()
    const focused = (): Promise<string> => page.evaluate('document.activeElement?.textContent ?? ""')
    const tabTo = async (text: string): Promise<void> => {
      for (let presses = 0; presses < 60; presses += 1) {
        await page.keyboard.press('Tab')
        if ((await focused()).trim() === text) return
      }
      throw new Error(`no Tab leads to ${text}`)
    }
    await page.keyboard.press('Tab')
    expect(await focused()).toBe('Skip to content')
    await tabTo('Orders')
    await page.keyboard.press('Enter')
    // The link has the text of the heading.
    await expect.poll(() => page.evaluate('document.activeElement?.tagName')).toBe('H1')
    expect(await focused()).toBe('Orders')
    await page.keyboard.press('Tab')
    expect(await page.evaluate('document.activeElement?.labels?.[0]?.textContent')).toBe('Search')
    await page.keyboard.type(trackingNumber)
    await page.keyboard.press('Enter')
    await expect.poll(() => page.url()).toContain(`q=${trackingNumber}`)
    await page.getByRole('link', { name: scene.shippedOrder }).waitFor()
    await tabTo(scene.shippedOrder)
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { level: 1, name: `Order ${scene.shippedOrder}` }).waitFor()
    await context.close()
  })

  test('says when the daemon was last seen while it does not answer, and goes on when it does', async () => {
    const { page, context } = await stage.open('/console/orders')
    await page.getByRole('link', { name: scene.shippedOrder }).waitFor()
    await context.setOffline(true)
    await page.getByRole('link', { name: 'Commands', exact: true }).click()
    await expect
      .poll(() => page.getByRole('alert').first().innerText())
      .toMatch(/^The daemon does not answer; its last answer was at \d{2}:\d{2}/)
    await context.setOffline(false)
    // Sooner than the reload that every page makes each half a minute.
    const timeout = 20_000
    await expect.poll(() => page.getByText('The daemon does not answer', { exact: false }).count(), { timeout }).toBe(0)
    await page.getByRole('table', { name: 'Commands' }).waitFor({ timeout })
    await context.close()
  })

  test('the first view takes less than 300 kB over the wire', async () => {
    const { page, context } = await stage.open('/console/sign-in')
    const session = await context.newCDPSession(page)
    await session.send('Network.enable')
    await session.send('Network.setCacheDisabled', { cacheDisabled: true })
    let bytes = 0
    session.on('Network.loadingFinished', ({ encodedDataLength }) => {
      bytes += encodedDataLength
    })
    await page.goto('/')
    await page.getByRole('link', { name: 'open', exact: false }).first().waitFor()
    await expect.poll(() => page.locator('.loading').count()).toBe(0)
    expect(bytes).toBeGreaterThan(5_000)
    expect(bytes).toBeLessThan(300_000)
    await context.close()
  })
})
