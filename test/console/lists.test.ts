import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { readBrokenValues } from './page-checks.ts'
import { addRecords, sku } from './records.ts'
import { addTrouble, knowOrders, type Scene, setScene } from './scene.ts'
import { type ConsoleStage, hasBrowser, sellerId, startConsole } from './support.ts'

const longSku = 'STAND-MIXER-5QT-EMPIRE-RED'
/** Longer than any pause before what is typed is applied. */
const longPressMs = 700

/** Resolves when the page has been drawn for so long: a press is as long as a hand makes it. */
const holdFor = (page: Page, ms: number): Promise<unknown> =>
  page.evaluate(`new Promise((resolve) => {
    const from = performance.now()
    const step = (now) => (now - from > ${ms} ? resolve() : requestAnimationFrame(step))
    requestAnimationFrame(step)
  })`)

const readLinks = (page: Page): Promise<readonly string[]> =>
  page.locator('table.rows tbody td[data-head="Order"] a').allInnerTexts()

describe.runIf(hasBrowser)('lists in a browser', () => {
  let stage: ConsoleStage
  let scene: Scene

  beforeAll(async () => {
    stage = await startConsole()
    scene = await setScene(stage)
    await addTrouble(stage, scene)
    await addRecords(stage)
    const dear = await stage.sandbox.place({
      lines: [
        { sku: longSku, unitPrice: '21684.95', quantity: 12 },
        { sku: 'DOUGH-HOOK-5QT-STEEL', unitPrice: '216.84', quantity: 1 },
      ],
    })
    await knowOrders(stage, [dear])
  })
  afterAll(() => stage?.stop())

  /** Opens a list once it shows an order. */
  const openList = async (path: string, order: string) => {
    const opened = await stage.open(path)
    await opened.page.getByRole('link', { name: order, exact: true }).first().waitFor()
    return opened
  }

  /** Holds back what the daemon answers to questions with this text. */
  const holdBack = async (page: Page, text: string): Promise<{ readonly asked: Promise<void>; readonly release: () => void }> => {
    const { promise: released, resolve: release } = Promise.withResolvers<void>()
    const { promise: asked, resolve: ask } = Promise.withResolvers<void>()
    await page.route(
      (url) => url.pathname.startsWith('/v1/') && url.search.includes(text),
      async (route) => {
        ask()
        await released
        await route.continue()
      },
    )
    return { asked, release }
  }

  test.each([
    ['orders', '/console/orders', 'SKU', 'sku'],
    ['commands', '/console/commands', 'SKU', 'sku'],
    ['to do today', '/console/today', 'Search', 'q'],
  ])('%s: a filter applies while it is typed, and keeps the cursor', async (_, path, label, name) => {
    const { page, context, faults } = await openList(path, scene.heldOrder)
    const steps = await page.evaluate<number>('history.length')
    const field = page.getByLabel(label, { exact: true })
    await field.pressSequentially('KTTLE')
    await expect.poll(() => page.locator('.empty').count()).toBe(1)
    expect(new URL(page.url()).searchParams.get(name)).toBe('KTTLE')
    // Where the cursor was put, it stays.
    await page.keyboard.press('Home')
    await page.keyboard.press('ArrowRight')
    await page.keyboard.type('E')
    await expect.poll(() => readLinks(page)).toEqual([scene.shippedOrder])
    await page.keyboard.press('Delete')
    await page.keyboard.type('T ')
    expect(await field.inputValue()).toBe('KET TLE')
    await page.keyboard.press('Backspace')
    await expect.poll(() => readLinks(page)).toEqual([scene.shippedOrder])
    expect(new URL(page.url()).searchParams.get(name)).toBe('KETTLE')
    expect(await page.evaluate<number>('history.length')).toBe(steps)
    expect(await page.evaluate<string>('document.activeElement?.labels?.[0]?.textContent')).toBe(label)
    expect(faults).toEqual([])
    await context.close()
  })

  test.each(['/console/orders', '/console/today', '/console/commands'])(
    '%s: a click on an order opens it, however far a filter is',
    async (path) => {
      const { page, context } = await openList(path, scene.heldOrder)
      const order = page.getByRole('link', { name: scene.heldOrder, exact: true }).first()
      const field = page.getByLabel('SKU', { exact: true })
      const isOpen = async (): Promise<void> => {
        await page.getByRole('heading', { level: 1, name: `Order ${scene.heldOrder}` }).waitFor()
        // The way back leads to what was typed.
        await page.goBack()
        await expect.poll(() => field.inputValue()).toBe('NOTHING')
        expect(new URL(page.url()).searchParams.get('sku')).toBe('NOTHING')
        await field.fill('')
        await order.waitFor()
      }
      // Not asked for yet, or on its way.
      const first = await holdBack(page, 'sku=N')
      await field.pressSequentially('NOTHING')
      await order.click()
      first.release()
      await isOpen()
      // To be applied within the press, with an answer that the console remembers.
      await order.hover()
      await page.mouse.down()
      await field.fill('NOTHING')
      await holdFor(page, longPressMs)
      await page.mouse.up()
      await isOpen()
      // Answered within the press.
      const second = await holdBack(page, 'sku=NOWHERE')
      await field.fill('NOWHERE')
      await second.asked
      await order.hover()
      await page.mouse.down()
      const answered = page.waitForResponse((response) => response.url().includes('sku=NOWHERE'))
      second.release()
      await (await answered).finished()
      await page.mouse.up()
      await page.getByRole('heading', { level: 1, name: `Order ${scene.heldOrder}` }).waitFor()
      await context.close()
    },
  )

  test('an older answer does not replace a newer one', async () => {
    const { page, context } = await openList('/console/orders', scene.heldOrder)
    const held = await holdBack(page, 'sku=TOASTER')
    const field = page.getByLabel('SKU', { exact: true })
    await field.fill('TOASTER')
    await held.asked
    await field.fill('KETTLE')
    await expect.poll(() => readLinks(page)).toEqual([scene.shippedOrder])
    const answered = page.waitForResponse((response) => response.url().includes('sku=TOASTER'))
    held.release()
    await (await answered).finished()
    // What is asked for later is answered later.
    await page.getByLabel('Outcome').selectOption('refunded')
    await page.locator('.empty').waitFor()
    await page.goBack()
    await expect.poll(() => readLinks(page)).toEqual([scene.shippedOrder])
    expect(await field.inputValue()).toBe('KETTLE')
    await context.close()
  })

  test('a row opens its record, a filter that is set is removed by its chip, and the only seller is no column', async () => {
    const { page, context, faults } = await openList('/console/orders?sku=TOASTER&open=true', scene.heldOrder)
    expect(await page.getByRole('columnheader').allInnerTexts()).not.toContain('Seller')
    expect(await page.getByRole('list', { name: 'Filters that are set' }).innerText()).toMatch(/SKU: TOASTER[\s\S]*State: Open/)
    await page.getByRole('button', { name: 'Remove the filter SKU' }).click()
    await expect.poll(() => page.url()).not.toContain('sku')
    await page.getByRole('row', { name: scene.shippedOrder }).getByText('KETTLE').click()
    await page.getByRole('heading', { level: 1, name: `Order ${scene.shippedOrder}` }).waitFor()
    expect(faults).toEqual([])
    await context.close()
  })

  test('the orders to ship are in groups by day, and their units on a pick list that can be printed', async () => {
    const { page, context } = await openList('/console/today', scene.heldOrder)
    expect(await page.getByRole('table', { name: 'Open orders by deadline' }).innerText()).toMatch(/\n(?:Tomorrow|Later)\s/)
    await page.getByRole('link', { name: 'Pick list by SKU, to print' }).click()
    await page.getByRole('link', { name: 'Show what can be shipped later' }).click()
    // Both toasters are in a shipment that is held; one of the kettles was shipped.
    await page.getByRole('row', { name: /KETTLE Product KETTLE 1 1/ }).waitFor()
    expect(await page.getByRole('table', { name: 'Pick list' }).innerText()).not.toContain('TOASTER')
    await page.emulateMedia({ media: 'print' })
    expect([await page.locator('nav.sidebar').isVisible(), await page.getByRole('link', { name: 'KETTLE' }).isVisible()]).toEqual(
      [false, true],
    )
    await context.close()
  })

  test('on a phone there is one field, and the others on demand', async () => {
    const { page, context } = await stage.open('/console/orders', { viewport: { width: 390, height: 800 } })
    await page.getByLabel('Search', { exact: true }).waitFor()
    expect(await page.getByLabel('Tracking number', { exact: true }).isVisible()).toBe(false)
    await page.getByRole('button', { name: 'More filters' }).click()
    await page.getByLabel('Tracking number', { exact: true }).fill('nothing')
    await page.locator('.empty').waitFor()
    await context.close()
  })

  test('a part of a month is not asked for', async () => {
    const { page, context, faults } = await stage.open('/console/inventory')
    await page.getByRole('link', { name: sku, exact: true }).waitFor()
    const month = page.getByLabel('Month', { exact: true })
    await month.pressSequentially('2026-0', { delay: 20 })
    await page.getByLabel('SKU', { exact: true }).pressSequentially(sku)
    await expect.poll(() => new URL(page.url()).searchParams.get('sku')).toBe(sku)
    expect(new URL(page.url()).searchParams.get('month')).toBe(null)
    await month.fill('2026-02')
    await page.locator('.empty').waitFor()
    await month.fill('2026-03')
    await page.getByRole('link', { name: sku, exact: true }).waitFor()
    expect(faults).toEqual([])
    await context.close()
  })

  test.each<readonly [string, (scene: Scene) => string]>([
    ['orders', () => '/console/orders'],
    ['commands', () => '/console/commands'],
    ['to do today', () => '/console/today'],
    ['an order', ({ shippedOrder }) => `/console/orders/${sellerId}/${shippedOrder}`],
    ['alarms', () => '/console/alarms'],
    ['inventory', () => '/console/inventory'],
    ['claims', () => '/console/inventory?show=claims&month=2026-03'],
    ['stock', () => '/console/inventory?show=stock'],
    ['stock on hand', () => '/console/inventory?show=on-hand'],
    ['drift', () => '/console/drift'],
    ['stock differences', () => '/console/inventory?show=on-hand-differences'],
  ])('%s: no id, time, amount of money or count is broken at any width', async (_, addressIn) => {
    const { page, context } = await stage.open(addressIn(scene))
    await page.locator('main :is(table.rows td, dl.facts dd)').first().waitFor()
    await expect.poll(() => page.locator('.loading').count()).toBe(0)
    for (const width of [360, 768, 1_280, 1_920]) {
      await page.setViewportSize({ width, height: 900 })
      expect([width, await readBrokenValues(page)]).toEqual([width, []])
      expect(await page.evaluate<number>('document.documentElement.scrollWidth')).toBe(width)
    }
    await context.close()
  })
})
