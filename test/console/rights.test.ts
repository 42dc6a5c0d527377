import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { readFlaws } from './page-checks.ts'
import { type Scene, setScene } from './scene.ts'
import { type ConsoleStage, hasBrowser, sellerId, startConsole, type TestPage } from './support.ts'

/** Buttons that only look, or concern the page itself. */
const lookingOnly =
  /^(Save as CSV|Try again|First page|Previous page|Next page|Show the buyer's data|Show hidden texts.*|Hide this|(Ordered|Ship|Acknowledge)( [↑↓↕])?)$/

describe.runIf(hasBrowser)('what a key may do', () => {
  let stage: ConsoleStage
  let scene: Scene
  beforeAll(async () => {
    stage = await startConsole()
    scene = await setScene(stage)
    const { client } = stage
    await client.query(
      `INSERT INTO tallyman.alarms (seller_id, kind, subject, message) VALUES ($1, 'campaign-anomaly', 'c-1', 'it went from ENDED to LIVE')`,
      [sellerId],
    )
    await client.query(
      `INSERT INTO tallyman.quarantined_records (seller_id, resource, record_key, raw_hash, raw_text, fault, observed_at)
       VALUES ($1, 'returns', 'R-1', '\\x02', '{}', 'returnOrderLines: is missing', now())`,
      [sellerId],
    )
    await client.query(
      `INSERT INTO warehouse.campaigns (seller_id, campaign_id, name, start_date, status, raw_hash, raw, observed_at, first_seen_at, changed_at)
       VALUES ($1, 'c-1', 'Spring pans', '2026-01-01', 'RUNNING', '\\x00', '{}', now(), now(), now())`,
      [sellerId],
    )
  })
  afterAll(() => stage?.stop())

  /** A page that is signed in with a key of its own. */
  const openWith = async (scopes: readonly string[], sellerIds: readonly string[] | null, path: string): Promise<TestPage> => {
    const name = `${scopes.join(' and ')} of ${sellerIds?.join() ?? 'all'} at ${path}`
    const made = await stage.call('POST', '/v1/keys', { name, scopes, sellerIds, reason: 'for the test' })
    expect(made.status).toBe(201)
    const { key } = z.object({ key: z.string() }).parse(await made.json())
    const opened = await stage.newPage()
    const signedIn = await opened.context.request.post('/v1/session', { data: { key }, headers: { origin: stage.daemon.url } })
    expect(signedIn.ok()).toBe(true)
    await opened.page.goto(path)
    await opened.page.getByRole('heading', { level: 1 }).waitFor()
    await expect.poll(() => opened.page.locator('.loading').count()).toBe(0)
    return opened
  }

  const readMenu = ({ page }: TestPage): Promise<readonly string[]> =>
    page.getByRole('navigation', { name: 'Views' }).getByRole('link').allInnerTexts()

  const seen: readonly (readonly [address: (scene: Scene) => string, text: string])[] = [
    [() => '/', 'open alarm'],
    [() => '/console/orders', 'KETTLE'],
    [({ shippedOrder }) => `/console/orders/${sellerId}/${shippedOrder}`, 'Timeline'],
    [({ heldCommand }) => `/console/commands/${heldCommand}`, 'TOASTER'],
    [() => '/console/proposals', 'No proposal waits for a decision'],
    [() => '/console/alarms', 'it went from ENDED to LIVE'],
    [() => '/console/syncs', 'orders'],
    [() => '/console/syncs/orders', 'Runs'],
    [() => '/console/quarantine', 'returnOrderLines: is missing'],
    [() => '/console/drift', 'OnHold'],
    [() => '/console/sellers', sellerId],
    [() => '/console/shadow', 'No seller is in shadow mode'],
    [() => '/console/campaigns', 'Spring pans'],
    [() => `/console/campaigns/c-1?sellerId=${sellerId}`, 'Spring pans'],
    [() => '/console/webhooks', 'There is no endpoint yet'],
    [() => '/console/alarm-channels', 'There is no channel yet'],
  ]

  test('with read alone nothing is offered that would be refused', async () => {
    const opened = await openWith(['read'], null, '/')
    const { page, context, faults } = opened
    const menu = await readMenu(opened)
    expect(menu).toEqual(expect.arrayContaining(['Orders', 'Webhooks', 'Settings', 'Queues', 'API docs']))
    for (const name of ['Keys', 'Audit']) expect(menu).not.toContain(name)
    const offered: string[] = []
    for (const [addressIn, text] of seen) {
      const address = addressIn(scene)
      await page.goto(address)
      await expect.poll(() => page.locator('main').innerText()).toContain(text)
      await expect.poll(() => page.locator('.loading').count()).toBe(0)
      const buttons = await page.locator('main').getByRole('button').allInnerTexts()
      offered.push(...buttons.filter((name) => !lookingOnly.test(name.trim())).map((name) => `${address}: ${name}`))
      expect(await page.getByRole('alert').filter({ hasText: /\S/ }).count()).toBe(0)
    }
    expect(offered).toEqual([])
    expect(faults).toEqual([])
    await context.close()
  })

  test('with operate everything of it is offered', async () => {
    const { page, context } = await openWith(['read', 'operate'], null, `/console/commands/${scene.heldCommand}`)
    await page.getByRole('button', { name: 'Give it up' }).waitFor()
    await page.goto('/console/sellers')
    await page.getByRole('button', { name: `Pause ${sellerId}` }).waitFor()
    await page.getByRole('button', { name: 'Reload the settings' }).waitFor()
    await context.close()
  })

  test('a key of one seller sees the views of that seller, and why others are refused', async () => {
    const opened = await openWith(['read', 'operate'], [sellerId], '/console/sellers')
    const { page, context, faults } = opened
    await page.getByRole('button', { name: `Pause ${sellerId}` }).waitFor()
    expect(await page.getByRole('button', { name: 'Reload the settings' }).count()).toBe(0)
    const menu = await readMenu(opened)
    for (const name of ['Queues', 'Webhooks', 'Keys', 'Settings']) expect(menu).not.toContain(name)
    expect(menu).toContain('Audit')
    expect(await readFlaws(opened, '/console/settings')).toEqual([])
    expect(await page.locator('main').innerText()).toContain('This needs a key that is not bound to sellers.')
    expect(faults).toEqual([])
    await context.close()
  })

  test('a key that may only post events reads one sentence', async () => {
    const opened = await openWith(['events:write'], null, '/')
    expect(await opened.page.locator('main').innerText()).toMatch(
      /This needs the right to read, which your key does not have: it may post events\./,
    )
    expect(await opened.page.getByRole('alert').filter({ hasText: /\S/ }).count()).toBe(0)
    expect(await readMenu(opened)).toEqual([])
    expect(opened.faults).toEqual([])
    await opened.context.close()
  })
})
