/** Takes the pictures of the documentation, `docs/images`, of the console before a sandbox: `npm run screenshots`. */
import { mkdir } from 'node:fs/promises'
import type { Locator, Page } from 'playwright-core'
import { addRecords, sku } from './records.ts'
import { addTrouble, knowOrders, type Scene, setScene } from './scene.ts'
import { sellerId, startConsole } from './support.ts'

const folder = 'docs/images'
const goods = [
  ['KETTLE-RED', '19.99'],
  ['TOASTER-2', '34.50'],
  ['LAMP-OAK', '58.00'],
  ['MUG-SET-6', '24.00'],
  ['PAN-28', '41.20'],
] as const
const orders = 15

const phone = { width: 360, height: 740 }
const screen = { width: 1_200, height: 900 }

/** A picture: of which view, and what is in it once all of its data are there. */
interface Picture {
  readonly name: string
  readonly address: string
  readonly shows: (page: Page) => Locator
  readonly size?: typeof phone
  readonly colorScheme?: 'light' | 'dark'
}

const buildCell =
  (table: string | RegExp, text: string) =>
  (page: Page): Locator =>
    page.getByRole('table', { name: table }).getByText(text, { exact: false }).first()

const listPictures = ({ shippedOrder, heldOrder, heldCommand }: Scene): readonly Picture[] => {
  const overview = {
    address: '/',
    shows: (page: Page) => page.getByRole('img', { name: 'Commands of the last 24 hours' }),
  }
  const today = { address: '/console/today', shows: buildCell('Open orders by deadline', heldOrder) }
  return [
    { name: 'overview', ...overview },
    { name: 'overview-dark', ...overview, colorScheme: 'dark' },
    { name: 'today', ...today },
    { name: 'today-on-a-phone', ...today, size: phone },
    { name: 'orders', address: '/console/orders', shows: buildCell('Orders', shippedOrder) },
    {
      name: 'order',
      address: `/console/orders/${sellerId}/${shippedOrder}`,
      shows: (page) => page.locator('ol.timeline').getByText('erp.shipment.dispatched'),
    },
    { name: 'commands', address: '/console/commands', shows: buildCell('Commands', heldOrder) },
    {
      name: 'command',
      address: `/console/commands/${heldCommand}`,
      shows: buildCell(/before the request, requested, and now/, 'TOASTER'),
    },
    { name: 'inventory', address: '/console/inventory', shows: buildCell('Differences of the inventory', sku) },
    { name: 'campaigns', address: '/console/campaigns', shows: buildCell('Campaigns', 'Spring pans') },
    { name: 'syncs', address: '/console/syncs', shows: buildCell('Syncs', 'orders') },
    { name: 'alarms', address: '/console/alarms', shows: buildCell('Alarms', 'event-rejected') },
    { name: 'sellers', address: '/console/sellers', shows: buildCell('Sellers', sellerId) },
    { name: 'quarantine', address: '/console/quarantine', shows: buildCell('Quarantine', 'R-7') },
  ]
}

const stage = await startConsole({ POLL_ORDERS: '10m' })
try {
  const scene = await setScene(stage)
  await addTrouble(stage, scene)
  await addRecords(stage)
  const placed: string[] = []
  for (let index = 0; index < orders; index += 1) {
    const [good, unitPrice] = goods[index % goods.length] ?? goods[0]
    placed.push(await stage.sandbox.place({ lines: [{ sku: good, unitPrice, quantity: 1 + (index % 3) }] }))
  }
  await knowOrders(stage, placed)
  await mkdir(folder, { recursive: true })
  const { page } = await stage.open('/', { timezoneId: 'UTC' })
  for (const { name, address, shows, size = screen, colorScheme = 'light' } of listPictures(scene)) {
    await page.setViewportSize(size)
    await page.emulateMedia({ colorScheme })
    await page.goto(address)
    await shows(page).waitFor()
    while ((await page.locator('.loading').count()) > 0) await page.locator('.loading').first().waitFor({ state: 'detached' })
    await page.screenshot({ path: `${folder}/${name}.png` })
    console.log(`${folder}/${name}.png`)
  }
} finally {
  await stage.stop()
}
