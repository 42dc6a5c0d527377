import { readFile } from 'node:fs/promises'
import axe from 'axe-core'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { dispatchUnit, placeOrder, type Scene, setScene, trackingNumber } from './scene.ts'
import { type ConsoleStage, hasBrowser, sellerId, startConsole, type TestPage } from './support.ts'

/** What axe finds on a page. */
const violations = async (page: Page): Promise<readonly string[]> => {
  await page.evaluate(axe.source)
  return page.evaluate<string[]>(
    `axe.run().then(({ violations }) => violations.map(({ id, nodes }) => id + ': ' + nodes.map(({ html }) => html).join(' | ')))`,
  )
}

/** Every view of the navigation, when its data are there. */
const eachView = async ({ page }: Pick<TestPage, 'page'>, look: (address: string) => Promise<void>): Promise<void> => {
  await page.getByRole('heading', { level: 1 }).waitFor()
  const addresses = await page
    .locator('#navigation a')
    .evaluateAll((links) => links.map((link) => link.getAttribute('href') ?? ''))
  const own = addresses.filter((address) => address === '/' || address.startsWith('/console/'))
  expect(own.length).toBeGreaterThan(3)
  for (const address of own) {
    await page.goto(address)
    await page.getByRole('heading', { level: 1 }).waitFor()
    await expect.poll(() => page.locator('.loading').count()).toBe(0)
    await look(address)
  }
}

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
    for (const what of ['erp.shipment.dispatched', 'Ship 1 unit', 'order_line.changed'])
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

  test('tells what a held command waits for, and takes a decision in part', async () => {
    const { page, context, faults } = await stage.open('/')
    await page.getByRole('link', { name: /held: a person must decide/ }).click()
    await page.getByRole('link', { name: 'Ship 2 units' }).click()
    await page.getByRole('heading', { level: 1, name: 'Ship 2 units: held' }).waitFor()
    await expect
      .poll(() => page.locator('.notice').first().innerText())
      .toMatch(/^1 of 2 units appeared under tracking number 1ZHELD/)
    const compared = page.getByRole('table', { name: /before the request, asked, and now/ })
    await expect.poll(() => compared.locator('tbody tr').first().innerText()).toMatch(/1\s+TOASTER\s+0\s+2\s+0/)
    const decide = page.getByRole('button', { name: 'Decide by line' })
    expect(await decide.isDisabled()).toBe(true)
    await page.getByLabel('Applied: units of line 1 1ZHELD', { exact: true }).fill('1')
    await page.getByLabel('Not applied, give up: units of line 1 1ZHELD').fill('1')
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

  test('shows what happens while it is open, without being asked', async () => {
    const { page, context } = await stage.open('/console/commands?kind=ship')
    const order = await placeOrder(stage, 'LAMP', 1)
    await expect.poll(() => page.getByRole('table', { name: 'Commands' }).innerText()).not.toContain(order)
    // The page is told by the feed: by itself it would ask again after half a minute.
    await dispatchUnit(stage, order, 'LAMP', '1ZLAMP')
    await expect.poll(() => page.getByRole('table', { name: 'Commands' }).innerText(), { timeout: 15_000 }).toContain(order)
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

  test.each(['light', 'dark'] as const)('axe finds nothing in the %s theme', async (colorScheme) => {
    const opened = await stage.open('/', { colorScheme })
    const { page, context, faults } = opened
    await eachView(opened, async (address) => expect([address, await violations(page)]).toEqual([address, []]))
    for (const address of [`/console/orders/${sellerId}/${scene.shippedOrder}`, `/console/commands/${scene.heldCommand}`]) {
      await page.goto(address)
      await page.getByRole('heading', { level: 1 }).waitFor()
      expect([address, await violations(page)]).toEqual([address, []])
    }
    const back = await page.evaluate<string>('getComputedStyle(document.body).backgroundColor')
    const brightness = Number(/\d+/.exec(back)?.[0])
    if (colorScheme === 'dark') expect(brightness).toBeLessThan(60)
    else expect(brightness).toBeGreaterThan(200)
    expect(faults).toEqual([])
    await context.close()
  })

  test('the theme can be chosen, and stays', async () => {
    const { page, context } = await stage.open('/', { colorScheme: 'light' })
    await page.getByLabel('Colours').selectOption('dark')
    await page.reload()
    await page.getByRole('heading', { level: 1 }).waitFor()
    expect(await page.evaluate<string>('document.documentElement.dataset.theme')).toBe('dark')
    expect(await page.evaluate<string>('getComputedStyle(document.body).backgroundColor')).toBe('rgb(20, 23, 27)')
    await context.close()
  })

  test('at 360 pixels nothing has to be scrolled sideways', async () => {
    const opened = await stage.open('/', { viewport: { width: 360, height: 740 } })
    const { page, context } = opened
    const wide = `[...document.querySelectorAll('button, a, input, select, td, h1')].filter((one) => {
      const box = one.getBoundingClientRect()
      return box.width > 1 && !one.closest('.visually-hidden, .skip, thead') && (box.right > innerWidth + 1 || box.left < -1)
    }).map((one) => one.outerHTML.slice(0, 120))`
    const look = async (address: string): Promise<void> => {
      expect([address, await page.evaluate('document.documentElement.scrollWidth')]).toEqual([address, 360])
      expect([address, await page.evaluate(wide)]).toEqual([address, []])
    }
    await eachView(opened, look)
    for (const address of [`/console/orders/${sellerId}/${scene.shippedOrder}`, `/console/commands/${scene.heldCommand}`]) {
      await page.goto(address)
      await page.getByRole('heading', { level: 1 }).waitFor()
      await look(address)
    }
    await page.getByRole('button', { name: 'Menu' }).click()
    await page.getByRole('link', { name: 'To do today' }).click()
    await page.getByRole('heading', { level: 1, name: 'To do today' }).waitFor()
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
    await expect.poll(focused).toBe('Orders')
    expect(await page.evaluate('document.activeElement?.tagName')).toBe('H1')
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
      .toMatch(/^The daemon does not answer; last seen \d{2}:\d{2}/)
    await context.setOffline(false)
    await expect.poll(() => page.getByText('The daemon does not answer', { exact: false }).count()).toBe(0)
    await page.getByRole('table', { name: 'Commands' }).waitFor()
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
