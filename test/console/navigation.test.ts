import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { readFindings } from './page-checks.ts'
import { type Scene, setScene, trackingNumber } from './scene.ts'
import { type ConsoleStage, hasBrowser, sellerId, startConsole, type TestPage } from './support.ts'

type Page = TestPage['page']

/** What has the focus: the text of a heading, or else the name of the element. */
const focused = (page: Page): Promise<string> =>
  page.evaluate<string>(`(({ tagName, textContent }) => tagName === 'H1' ? textContent : tagName)(document.activeElement)`)

describe.runIf(hasBrowser)('going from view to view', () => {
  let stage: ConsoleStage
  let scene: Scene

  beforeAll(async () => {
    stage = await startConsole()
    scene = await setScene(stage)
  })
  afterAll(() => stage?.stop())

  const ways: readonly (readonly [string, string, (scene: Scene) => { link: string; address: string; heading: string }])[] = [
    [
      'an order',
      '/console/orders',
      ({ shippedOrder }) => ({
        link: shippedOrder,
        address: `/console/orders/${sellerId}/${shippedOrder}`,
        heading: `Order ${shippedOrder}`,
      }),
    ],
    [
      'a command',
      '/console/commands?state=held',
      ({ heldCommand }) => ({
        link: 'Ship 2 units',
        address: `/console/commands/${heldCommand}`,
        heading: 'Ship 2 units: held',
      }),
    ],
    [
      'an event',
      '/console/events?state=all',
      () => ({
        link: `ship-${trackingNumber}`,
        address: `/console/events/urn%3Aerp/ship-${trackingNumber}`,
        heading: `Event ship-${trackingNumber}`,
      }),
    ],
  ]

  test.each(ways)('%s: its heading has the focus, and the title names it', async (_, list, wayIn) => {
    const { link, address, heading } = wayIn(scene)
    const { page, context } = await stage.open(list)
    await page.getByRole('link', { name: link, exact: true }).focus()
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { level: 1, name: heading }).waitFor()
    await expect.poll(() => focused(page)).toBe(heading)
    await expect.poll(() => page.title()).toBe(`${heading} · Tallyman`)
    await page.goto(address)
    await expect.poll(() => page.title()).toBe(`${heading} · Tallyman`)
    await context.close()
  })

  test('what is typed anywhere is found as it is typed, and Enter opens it', async () => {
    const { page, context, faults } = await stage.open('/console/alarms')
    const field = page.getByRole('combobox', { name: 'Find anything' })
    await page.getByRole('heading', { level: 1 }).waitFor()
    await page.keyboard.press('/')
    await page.keyboard.type(trackingNumber.toLowerCase().slice(0, 8))
    await page.getByRole('option', { name: `Tracking number ${trackingNumber}` }).waitFor()
    expect(await readFindings(page)).toEqual([])
    await page.keyboard.press('Escape')
    await page.keyboard.press('Control+k')
    await page.keyboard.type(scene.heldCommand.slice(0, 8))
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { level: 1, name: 'Ship 2 units: held' }).waitFor()
    expect(await field.inputValue()).toBe('')
    await field.fill('nothing like it')
    await page.getByText('Nothing begins with nothing like it, and no order ends with it.').waitFor()
    expect(faults).toEqual([])
    await context.close()
  })

  test('a heading that comes late does not take the focus from where the person has gone meanwhile', async () => {
    const { page, context } = await stage.open('/console/orders')
    const link = page.getByRole('link', { name: scene.shippedOrder })
    await link.waitFor()
    const { promise: released, resolve: release } = Promise.withResolvers<void>()
    await page.route(`**/v1/orders/${scene.shippedOrder}?*`, async (route) => {
      await released
      await route.continue()
    })
    await link.focus()
    await page.keyboard.press('Enter')
    await page.locator('.loading').waitFor()
    await page.getByLabel('Colours').focus()
    release()
    await page.getByRole('heading', { level: 1, name: `Order ${scene.shippedOrder}` }).waitFor()
    await expect.poll(() => page.title()).toBe(`Order ${scene.shippedOrder} · Tallyman`)
    expect(await focused(page)).toBe('SELECT')
    await context.close()
  })

  test.each([
    [`/console/orders/${sellerId}/nothing`, 'Order nothing'],
    ['/console/commands/nothing', 'Command nothing'],
    ['/console/events/urn%3Aerp/nothing', 'Event nothing'],
    ['/console/webhooks/nothing', 'Webhook nothing'],
    ['/console/campaigns/nothing', 'Campaign nothing'],
    ['/console/syncs/nothing', 'Sync of nothing'],
  ])('%s: says what is not there, once, under a heading', async (address, heading) => {
    const { page, context } = await stage.open(address)
    const alert = page.getByRole('alert').filter({ hasText: /nothing/ })
    await alert.waitFor()
    await expect.poll(() => page.locator('.loading').count()).toBe(0)
    await expect.poll(() => page.getByRole('heading', { level: 1 }).allInnerTexts()).toEqual([heading])
    await expect.poll(() => page.title()).toBe(`${heading} · Tallyman`)
    const shown = await page.locator('main').innerText()
    expect(shown).not.toContain('It has not run yet')
    // Words of the interface are for programs.
    expect(shown).not.toMatch(/\/v1\/|POST/)
    expect(await alert.count()).toBe(1)
    expect(await readFindings(page)).toEqual([])
    await context.close()
  })

  test.each([
    ['/console/today?due=soon&sku=nothing-like-it', '/console/today'],
    ['/console/commands?state=held&sku=nothing-like-it', '/console/commands'],
    ['/console/events?source=nothing-like-it', '/console/events'],
    ['/console/orders?q=nothing-like-it', '/console/orders'],
    ['/console/quarantine?recordKey=nothing-like-it', '/console/quarantine'],
    ['/console/drift?operation=nothing-like-it', '/console/drift'],
    ['/console/inventory?show=stock&sku=nothing-like-it', '/console/inventory?show=stock'],
  ])('%s: nothing fits the filters, which can be cleared', async (address, cleared) => {
    const { page, context } = await stage.open(address)
    await page.locator('.empty').waitFor()
    expect(await page.locator('.empty').innerText()).toMatch(/matches the filters/)
    await page.getByRole('link', { name: 'Clear the filters' }).click()
    await expect.poll(() => page.url()).toBe(`${stage.daemon.url}${cleared}`)
    await expect.poll(() => page.getByRole('link', { name: 'Clear the filters' }).count()).toBe(0)
    await context.close()
  })

  test('a day of a filter is a day where the viewer is, and its address means the same rows in another time zone', async () => {
    const setDate = 'UPDATE warehouse.orders SET order_date = $2 WHERE purchase_order_id = $1'
    await stage.client.query(setDate, [scene.shippedOrder, '2026-11-18T00:29:00Z'])
    await stage.client.query(setDate, [scene.heldOrder, '2026-11-19T05:00:00Z'])
    const there = await stage.open('/console/orders', { timezoneId: 'America/Los_Angeles' })
    await there.page.getByLabel('Ordered from', { exact: true }).fill('2026-11-18')
    await expect.poll(() => new URL(there.page.url()).searchParams.get('createdFrom')).toBe('2026-11-18T08:00:00.000Z')
    await there.page.getByLabel('Ordered before').fill('2026-11-19')
    await expect.poll(() => new URL(there.page.url()).searchParams.get('createdTo')).toBe('2026-11-19T08:00:00.000Z')
    const listRows = (page: Page): Promise<readonly string[]> =>
      page.getByRole('table', { name: 'Orders' }).locator('tbody tr').allInnerTexts()
    await expect.poll(() => listRows(there.page)).toEqual([expect.stringContaining(scene.heldOrder)])
    expect((await listRows(there.page)).join()).toMatch(/Nov 18/)
    const otherZone = await stage.open(there.page.url(), { timezoneId: 'Asia/Kolkata' })
    await expect.poll(() => listRows(otherZone.page)).toEqual([expect.stringContaining(scene.heldOrder)])
    expect(await otherZone.page.getByLabel('Ordered from', { exact: true }).inputValue()).toBe('2026-11-18')
    expect(await otherZone.page.getByRole('form', { name: 'Filters' }).innerText()).toContain('01:30 PM')
    await otherZone.page.getByLabel('Ordered from', { exact: true }).fill('')
    await expect.poll(() => new URL(otherZone.page.url()).searchParams.get('createdFrom')).toBe(null)
    await there.context.close()
    await otherZone.context.close()
  })
})
