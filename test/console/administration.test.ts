import { readFile } from 'node:fs/promises'
import type { Locator } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { eventually } from '../support/eventually.ts'
import { type Receiver, startReceiver } from '../webhooks/receiver.ts'
import { readFindings, readFlaws } from './page-checks.ts'
import { addRecords, campaignId, sku } from './records.ts'
import { placeOrder } from './scene.ts'
import { apiKey, type ConsoleStage, decideWith, hasBrowser, sellerId, startConsole } from './support.ts'

describe.runIf(hasBrowser)('views of the administration', () => {
  let stage: ConsoleStage
  let receiver: Receiver

  beforeAll(async () => {
    receiver = await startReceiver()
    stage = await startConsole({ WEBHOOK_PRIVATE_ADDRESSES: 'allow', POLL_CAMPAIGNS: 'off', POLL_RECONCILIATION: 'off' })
    await addRecords(stage)
  })
  afterAll(async () => {
    await stage?.stop()
    await receiver?.close()
  })

  test('inventory: from a difference to its entries, the month as a waterfall, and the claim as CSV', async () => {
    const { page, context, faults } = await stage.open('/console/inventory')
    const differences = page.getByRole('table', { name: 'Differences of the inventory' })
    await differences.waitFor()
    expect(await differences.innerText()).toContain('The report counts 6 sold, the log 9.')
    await differences.getByText('1 entry').click()
    await expect.poll(() => differences.innerText()).toMatch(/-3 units.*KY1, shipment SHIP-77/)
    await differences.getByRole('link', { name: sku }).click()
    await page.getByRole('heading', { level: 1, name: sku }).waitFor()
    await page.getByRole('img', { name: 'From beginning to ending of 2026-03' }).waitFor()
    const steps = page.locator('figure', { hasText: 'From beginning to ending' }).locator('.legend')
    expect((await steps.innerText()).replaceAll(/\s+/g, ' ').trim()).toBe(
      'beginning 20 sold -6 returned +1 lost -2 not explained -1 ending 12',
    )
    await page.getByLabel('Month', { exact: true }).selectOption('2026-02')
    await page.getByRole('img', { name: 'From beginning to ending of 2026-02' }).waitFor()
    expect(new URL(page.url()).searchParams.get('month')).toBe('2026-02')
    await page.goto('/console/inventory?show=claims&month=2026-03')
    const claims = page.getByRole('table', { name: 'Claims for 2026-03' })
    await expect.poll(() => claims.innerText()).toContain('2 units, $20.00')
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Save as CSV' }).click(),
    ])
    expect(download.suggestedFilename()).toBe('claims-2026-03.csv')
    expect(await readFile(await download.path(), 'utf8')).toMatch(new RegExp(`\\r\\n${sellerId},2026-03,`))
    await claims.getByRole('link', { name: 'SKUs with losses' }).click()
    await page.getByRole('table', { name: 'Monthly reports' }).getByRole('link', { name: sku }).waitFor()
    expect(faults).toEqual([])
    await context.close()
  })

  test('inventory: from missing units to the file of a claim, and its record, in a few clicks', async () => {
    const { page, context, faults } = await stage.open('/console')
    let clicks = 0
    const click = async (target: Locator): Promise<void> => {
      clicks += 1
      await target.click()
    }
    await click(page.getByRole('link', { name: 'Inventory', exact: true }).first())
    await click(page.getByRole('link', { name: 'To claim', exact: true }))
    await click(page.getByLabel('State', { exact: true }))
    // The daemon's review may have expired the claim of this old month.
    await page.getByLabel('State', { exact: true }).selectOption('all')
    const claims = page.getByRole('table', { name: 'Claims' })
    await expect.poll(() => claims.innerText()).toMatch(new RegExp(`${sku}\\s+2026-03\\s+lost\\s+2\\s+\\$20.00`))
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      click(claims.getByRole('link', { name: /^Evidence of claim \d+, as CSV$/ })),
    ])
    expect(download.suggestedFilename()).toMatch(/^claim-\d+\.csv$/)
    const table = await readFile(await download.path(), 'utf8')
    expect(table).toContain('2 units are stated as lost by the report.')
    expect(table).toContain('E-1')
    expect(clicks).toBeLessThanOrEqual(4)
    const [sheet] = await Promise.all([
      context.waitForEvent('page'),
      claims.getByRole('link', { name: /^Evidence of claim \d+, to print$/ }).click(),
    ])
    await sheet.getByRole('heading', { level: 2, name: `2 lost of ${sku}, 2026-03` }).waitFor()
    await sheet.close()
    await claims.getByRole('button', { name: /^Record the state of claim/ }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('State', { exact: true }).selectOption('filed')
    await dialog.getByLabel('Number of the case').fill('CASE-1')
    if ((await dialog.getByRole('checkbox').count()) > 0) await dialog.getByRole('checkbox').check()
    await dialog.getByLabel('Who decides').fill('kim')
    await dialog.getByLabel('Why').fill('the report states two lost units')
    await dialog.getByRole('button', { name: 'Record' }).click()
    await expect.poll(() => claims.innerText()).toContain('CASE-1')
    expect(faults).toEqual([])
    await context.close()
  })

  test('money: settlement differences with their rows, claims by deadline with the evidence of a month, reimbursements, and inbound shipments', async () => {
    const { page, context, faults } = await stage.open('/console/money')
    const differences = page.getByRole('table', { name: 'Settlement differences' })
    await expect.poll(() => differences.innerText()).toMatch(/4711, line 1\s+PAN-28\s+paid less\s+\$20.00\s+\$18.50\s+-\$1.50/)
    await differences.getByText('1 row', { exact: true }).click()
    await expect.poll(() => differences.innerText()).toContain('Sale, Product Price: $18.50')
    await page.getByLabel('Kind', { exact: true }).selectOption('never paid')
    await page.getByText('No difference matches the filters.').waitFor()
    await page.getByRole('link', { name: 'Claims', exact: true }).click()
    await page.getByLabel('State', { exact: true }).selectOption('all')
    await page.getByLabel('Month', { exact: true }).fill('2026-03')
    await expect.poll(() => page.getByRole('table', { name: 'Claims' }).innerText()).toMatch(/PAN-28\s+2026-03\s+(\S+\s+)?lost/)
    await page.setViewportSize({ width: 1_300, height: 900 })
    const claims = page.getByRole('table', { name: 'Claims' })
    const hiddenWidth = () =>
      claims.evaluate(({ parentElement: box }) => (box === null ? Number.NaN : box.scrollWidth - box.clientWidth))
    await expect.poll(hiddenWidth).toBe(0)
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('link', { name: 'Evidence of 2026-03, as CSV' }).click(),
    ])
    expect(await readFile(await download.path(), 'utf8')).toContain('2 units are stated as lost by the report.')
    await page.getByRole('link', { name: 'Reimbursements', exact: true }).click()
    await expect.poll(() => page.getByRole('table', { name: 'Reimbursements' }).innerText()).toContain('several claims fit')
    await page.getByRole('link', { name: 'Inbound shipments', exact: true }).click()
    await expect.poll(() => page.getByRole('table', { name: 'Inbound shipments' }).innerText()).toContain('SKU not known')
    expect(faults).toEqual([])
    await context.close()
  })

  test('inventory: the stock on hand, and where it differs from the log', async () => {
    const { page, context, faults } = await stage.open('/console/inventory?show=on-hand')
    const stock = page.getByRole('table', { name: 'Stock on hand' })
    await expect.poll(() => stock.innerText()).toMatch(new RegExp(`${sku}\\s+Frying pan\\s+10\\s+2\\s+12\\s`))
    await page.getByRole('link', { name: 'Stock and log' }).click()
    const differences = page.getByRole('table', { name: 'Differences between stock and log' })
    await expect.poll(() => differences.innerText()).toMatch(new RegExp(`${sku}\\s+12\\s+15\\s+-3\\s+\\$30.00`))
    await page.getByLabel('State').selectOption('resolved')
    await page.getByText('No difference matches the filters.', { exact: false }).waitFor()
    expect(faults).toEqual([])
    await context.close()
  })

  test('campaigns: the status over time, the budget against time, and one more is watched', async () => {
    const { page, context, faults } = await stage.open('/console/campaigns')
    await page.getByRole('link', { name: 'Spring pans' }).click()
    await page.getByRole('heading', { level: 1, name: 'Spring pans' }).waitFor()
    await page.getByRole('img', { name: 'Time, 30 days: elapsed days 30 of 30' }).waitFor()
    await page.getByRole('img', { name: 'Budget, 2,000.00 in total: usable so far at the daily budget 2,000 of 2,000' }).waitFor()
    expect(await page.locator('ol.timeline').innerText()).toMatch(
      /budget exhausted[\s\S]*before: running[\s\S]*running[\s\S]*first seen/,
    )
    await page.getByRole('link', { name: 'Campaigns', exact: true }).click()
    await page.getByRole('button', { name: 'Watch campaigns' }).click()
    await page.getByLabel('Campaign ids').fill('c-1, c-2')
    await page.getByRole('dialog').getByRole('button', { name: 'Watch', exact: true }).click()
    await page.getByRole('link', { name: 'c-2' }).waitFor()
    const { rows } = await stage.client.query('SELECT campaign_id FROM tallyman.watched_campaigns WHERE source = $1 ORDER BY 1', [
      'operator',
    ])
    expect(rows).toEqual([{ campaign_id: 'c-1' }, { campaign_id: 'c-2' }])
    expect(faults).toEqual([])
    await context.close()
  })

  test('webhooks: added with a secret that is shown once, tested, paused, rotated, removed', async () => {
    const { page, context, faults } = await stage.open('/console/webhooks')
    await page.getByText('There is no endpoint yet', { exact: false }).waitFor()
    await page.getByRole('button', { name: 'Add an endpoint' }).click()
    await page.getByLabel('Address').fill(receiver.url)
    await page.getByLabel('Types of changes').fill('order.*, command.*')
    await page.getByRole('dialog').getByRole('button', { name: 'Add', exact: true }).click()
    const secret = await page.locator('code.secret').innerText()
    expect(secret).toMatch(/^whsec_/)
    await page.getByRole('button', { name: 'I have stored it' }).click()
    expect(await page.content()).not.toContain(secret)
    await page.getByRole('link', { name: receiver.url }).click()
    await page.getByRole('button', { name: 'Send a test message' }).click()
    await page.getByText('The test message was delivered: HTTP', { exact: false }).waitFor()
    const deliveries = page.getByRole('table', { name: 'Deliveries, newest first' })
    await expect.poll(() => deliveries.innerText()).toMatch(/test\s+delivered\s+HTTP 2/)
    await page.getByRole('button', { name: 'Pause' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Pause' }).click()
    await page.getByRole('button', { name: 'Resume' }).waitFor()
    const stored = async () => (await stage.client.query('SELECT state, types FROM tallyman.webhook_endpoints')).rows
    expect(await stored()).toEqual([{ state: 'paused', types: ['order.*', 'command.*'] }])
    await page.getByRole('button', { name: 'Resume' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Resume' }).click()
    await page.getByRole('button', { name: 'Pause' }).waitFor()
    // A delivery of a change, to be sent again.
    await placeOrder(stage, 'KETTLE', 1)
    const again = deliveries.getByRole('button', { name: /^Send again change \d+$/ }).first()
    await expect.poll(() => deliveries.innerText()).toMatch(/change \d+\s+delivered/)
    await again.click()
    await page.getByText('1 message will be sent again.').waitFor()
    await page.getByRole('button', { name: 'Rotate the secret' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Rotate the secret' }).click()
    await expect.poll(() => page.locator('code.secret').innerText()).toMatch(/^whsec_/)
    expect(await page.locator('code.secret').innerText()).not.toBe(secret)
    expect(await readFindings(page)).toEqual([])
    await page.getByRole('button', { name: 'Remove' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click()
    await page.getByRole('heading', { level: 1, name: 'Webhooks' }).waitFor()
    expect(await stored()).toEqual([])
    const audit: unknown = await (await stage.call('GET', '/v1/audit?limit=1000')).json()
    const done = ['webhook.added', 'webhook.test_requested', 'webhook.redelivered', 'webhook.rotated', 'webhook.removed']
    expect(audit).toMatchObject({ items: expect.arrayContaining(done.map((action) => expect.objectContaining({ action }))) })
    expect(faults).toEqual([])
    await context.close()
  })

  test('alarm channels: added without showing the URL, tested, changed, paused, removed', async () => {
    const { page, context, faults } = await stage.open('/console/alarm-channels')
    await page.getByText('There is no channel yet', { exact: false }).waitFor()
    await page.getByRole('button', { name: 'Add a channel' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Name').fill('Warehouse')
    await dialog.getByLabel('URL').fill(`${receiver.url}/alarm-secret`)
    await dialog.getByLabel('warning').uncheck()
    await dialog.getByLabel('warehouse').check()
    await dialog.getByLabel('Hours from').fill('08:00')
    await dialog.getByLabel('Hours to').fill('18:00')
    await dialog.getByLabel('Time zone').fill('Europe/Berlin')
    await dialog.getByLabel('Sun').uncheck()
    expect(await readFindings(page)).toEqual([])
    await dialog.getByRole('button', { name: 'Add', exact: true }).click()
    const table = page.getByRole('table', { name: 'Alarm channels' })
    await expect
      .poll(() => table.innerText())
      .toMatch(
        /Warehouse\s+active\s+Slack\s+127.0.0.1:\d+\s+critical, for warehouse\s+08:00 to 18:00 \(Europe\/Berlin\), Mon .* Sat\s+never/,
      )
    expect(await page.content()).not.toContain('alarm-secret')
    await page.getByRole('button', { name: 'Send a test message to Warehouse' }).click()
    await page.getByText('The test message was delivered: status 20', { exact: false }).waitFor()
    expect(receiver.received.at(-1)?.path).toBe('/hook/alarm-secret')
    await page.getByRole('button', { name: 'Change Warehouse' }).click()
    await expect.poll(() => dialog.getByLabel('Hours from').inputValue()).toBe('08:00')
    await dialog.getByLabel('Hours from').fill('')
    await dialog.getByLabel('Hours to').fill('')
    await dialog.getByLabel('Repeat after hours').fill('6')
    await dialog.getByRole('button', { name: 'Change', exact: true }).click()
    await expect.poll(() => table.innerText()).toMatch(/warehouse\s+always\s+after 6 h/)
    await page.getByRole('button', { name: 'Pause Warehouse' }).click()
    await page.getByRole('button', { name: 'Resume Warehouse' }).waitFor()
    const stored = async () =>
      (await stage.client.query('SELECT state, address, severities, hours, repeat_hours FROM tallyman.alarm_channels')).rows
    const address = `${receiver.url}/alarm-secret`
    expect(await stored()).toEqual([{ state: 'paused', address, severities: ['critical'], hours: null, repeat_hours: 6 }])
    expect(await readFindings(page)).toEqual([])
    await page.getByRole('button', { name: 'Remove Warehouse' }).click()
    await dialog.getByRole('button', { name: 'Remove', exact: true }).click()
    await page.getByText('There is no channel yet', { exact: false }).waitFor()
    expect(await stored()).toEqual([])
    expect(faults).toEqual([])
    await context.close()
  })

  test('proposals: counted in the navigation, shown with their effect, approved and rejected with a reason', async () => {
    const order = await placeOrder(stage, 'KETTLE', 3)
    const propose = (data: object) =>
      stage.call('POST', '/v1/proposals', { type: 'erp.order.accepted', data, reason: 'three kettles are in stock' })
    expect((await propose({ purchaseOrderId: order })).status).toBe(201)
    expect((await propose({ purchaseOrderId: order })).status).toBe(201)
    const { page, context, faults } = await stage.open('/console/proposals')
    await expect.poll(() => page.locator('nav a[href="/console/proposals"] [data-count="2"]').count()).toBe(1)
    const table = page.getByRole('table', { name: 'Proposals' })
    await expect.poll(() => table.innerText()).toContain('three kettles are in stock')
    await page
      .getByRole('button', { name: /^Approve proposal/ })
      .first()
      .click()
    await page.getByRole('list', { name: 'What it sends to the marketplace' }).waitFor()
    expect(await readFindings(page)).toEqual([])
    await decideWith(page, 'Approve', 'they are')
    await page.getByText('The event is posted.').waitFor()
    const reject = page.getByRole('button', { name: /^Reject proposal/ })
    await expect.poll(() => reject.count()).toBe(1)
    await reject.click()
    await decideWith(page, 'Reject', 'once is enough')
    await page.getByText('No proposal waits for a decision.').waitFor()
    await page.getByLabel('State').selectOption({ label: 'All' })
    await expect
      .poll(() => table.innerText())
      .toMatch(/approved[\s\S]*by kim: they are[\s\S]*rejected[\s\S]*by kim: once is enough/)
    const commands = await stage.client.query('SELECT kind FROM tallyman.commands WHERE purchase_order_id = $1', [order])
    expect(commands.rows).toEqual([{ kind: 'acknowledge' }])
    expect(faults).toEqual([])
    await context.close()
  })

  test('keys: added, used, rotated and revoked with a reason, which the audit shows', async () => {
    const { page, context, faults } = await stage.open('/console/keys')
    await page.getByRole('button', { name: 'Add a key' }).click()
    await page.getByLabel('Name').fill('the ERP')
    await page.getByLabel('Post events').check()
    expect(await readFindings(page)).toEqual([])
    await decideWith(page, 'Add', 'the integration moves')
    const key = await page.locator('code.secret').innerText()
    const status = async (text: string): Promise<number> =>
      (await fetch(`${stage.daemon.url}/v1/overview`, { headers: { authorization: `Bearer ${text}` } })).status
    expect(await status(key)).toBe(200)
    await page.getByRole('button', { name: 'I have stored it' }).click()
    const row = page.getByRole('table', { name: 'Keys' }).getByRole('row', { name: /the ERP/ })
    expect(await row.innerText()).toMatch(/read, events:write\s+all/)
    await page.getByRole('button', { name: 'Rotate the ERP' }).click()
    await page.getByLabel('Overlap in hours').fill('0')
    await decideWith(page, 'Rotate', 'the integration moves')
    const rotated = await page.locator('code.secret').innerText()
    await eventually(async () => expect([await status(key), await status(rotated)]).toEqual([401, 200]))
    await page.getByRole('button', { name: 'Revoke the ERP' }).click()
    await decideWith(page, 'Revoke', 'the integration moves')
    await page.getByText('There is no key besides API_KEY', { exact: false }).waitFor()
    expect(await status(rotated)).toBe(401)
    await page.getByLabel('State').selectOption('all')
    await row.getByText('revoked').waitFor()
    await row.getByRole('link', { name: 'the ERP' }).click()
    await page.getByRole('link', { name: 'Audit', exact: true }).click()
    await page.getByLabel('Action', { exact: true }).selectOption('key.revoked')
    const acts = page.getByRole('table', { name: 'Actions' })
    await expect.poll(() => acts.locator('tbody tr').count()).toBe(1)
    expect(await acts.innerText()).toMatch(/kim\s+revoked a key[\s\S]*the integration moves/)
    expect(faults).toEqual([])
    await context.close()
  })

  test('settings: what holds and where it comes from; no secret leaves the daemon', async () => {
    const { page, context, faults } = await stage.open('/console/settings')
    const table = page.getByRole('table', { name: 'Settings' })
    const row = (name: string) => table.getByRole('row', { name: new RegExp(`^${name}\\b`) })
    await row('API_KEY').waitFor()
    const answered = page.waitForResponse((response) => response.url().endsWith('/v1/settings'))
    await page.reload()
    const answer = await (await answered).text()
    await row('API_KEY').waitFor()
    expect(await row('API_KEY').innerText()).toMatch(/••••••\s+environment/)
    expect(await row('EVENTS_SECRET').innerText()).toMatch(/not set\s+default/)
    expect(await row('POLL_CAMPAIGNS').innerText()).toMatch(/off\s+environment/)
    expect(await row('SETTLE_TIME').innerText()).toMatch(/\d+(m|s|ms)/)
    expect(answer).toContain('POLL_CAMPAIGNS')
    for (const secret of [apiKey, 'sandbox-secret', 'postgres://', 'postgresql://']) expect(answer).not.toContain(secret)
    await page.getByLabel('Name').fill('client_')
    await page.getByLabel('Name').press('Enter')
    await expect.poll(() => table.locator('tbody tr').count()).toBe(2)
    expect(faults).toEqual([])
    await context.close()
  })

  test('targets: found by name, with their reach', async () => {
    const { page, context, faults } = await stage.open('/console/targets')
    const table = page.getByRole('table', { name: 'Targets' })
    await expect.poll(() => table.locator('tbody tr').count()).toBe(2)
    await page.getByLabel('Name or path').fill('kitchen')
    await page.getByLabel('Name or path').press('Enter')
    await expect.poll(() => table.locator('tbody tr').count()).toBe(1)
    expect(await table.innerText()).toMatch(/Pans\s+node\s+Home › Kitchen › Pans\s+high\s+tier 6/)
    await page.getByLabel('Usable').selectOption('false')
    await page.getByText('No target matches', { exact: false }).waitFor()
    expect(faults).toEqual([])
    await context.close()
  })

  const addresses = [
    '/console/inventory',
    '/console/inventory?show=claims&month=2026-03',
    '/console/inventory?show=to-claim&state=all&month=2026-03',
    '/console/inventory?show=stock',
    '/console/inventory?show=on-hand',
    '/console/inventory?show=on-hand-differences',
    `/console/inventory/${sellerId}/${sku}`,
    '/console/money',
    '/console/money?show=claims&state=all',
    '/console/money?show=reimbursements',
    '/console/money?show=inbound',
    '/console/campaigns',
    `/console/campaigns/${campaignId}?sellerId=${sellerId}`,
    '/console/targets',
    '/console/webhooks',
    '/console/alarm-channels',
    '/console/proposals',
    '/console/keys',
    '/console/audit',
    '/console/settings',
  ]

  test.each(addresses)('%s: by keyboard, in light and dark, on a phone', async (address) => {
    const opened = await stage.signIn()
    expect(await readFlaws(opened, address)).toEqual([])
    await opened.context.close()
  })

  test('a failure is shown with a button to try again', async () => {
    const { page, context } = await stage.open('/console/inventory?month=March')
    await page.getByRole('alert').getByText('must be a month such as 2026-03', { exact: false }).waitFor()
    await page.getByRole('button', { name: 'Try again' }).waitFor()
    await page.goto('/console/campaigns/nothing')
    await page.getByRole('alert').getByText('There is no campaign nothing', { exact: false }).waitFor()
    await context.close()
  })
})
