/** Takes the pictures of the documentation, `docs/images`, of the console before a sandbox: `npm run screenshots`. */
import { mkdir } from 'node:fs/promises'
import { knowOrders, setScene } from './scene.ts'
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

const stage = await startConsole()
try {
  const { shippedOrder, heldCommand } = await setScene(stage)
  const placed: string[] = []
  for (let index = 0; index < orders; index += 1) {
    const [sku, unitPrice] = goods[index % goods.length] ?? goods[0]
    placed.push(await stage.sandbox.place({ lines: [{ sku, unitPrice, quantity: 1 + (index % 3) }] }))
  }
  await knowOrders(stage, placed)
  const pictures = {
    overview: '/',
    today: '/console/today',
    order: `/console/orders/${sellerId}/${shippedOrder}`,
    command: `/console/commands/${heldCommand}`,
  }
  await mkdir(folder, { recursive: true })
  const { page } = await stage.open('/', { viewport: { width: 1_200, height: 900 }, timezoneId: 'UTC', colorScheme: 'light' })
  const shoot = async (name: string): Promise<void> => {
    await page.getByRole('heading', { level: 1 }).waitFor()
    await page.waitForLoadState('load')
    while ((await page.locator('.loading').count()) > 0) await page.locator('.loading').first().waitFor({ state: 'detached' })
    await page.screenshot({ path: `${folder}/${name}.png` })
    console.log(`${folder}/${name}.png`)
  }
  for (const [name, address] of Object.entries(pictures)) {
    await page.goto(address)
    await shoot(name)
  }
  await page.emulateMedia({ colorScheme: 'dark' })
  await page.setViewportSize({ width: 360, height: 740 })
  await page.goto(pictures.today)
  await shoot('today-on-a-phone')
} finally {
  await stage.stop()
}
