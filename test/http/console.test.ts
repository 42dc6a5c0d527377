import { randomUUID } from 'node:crypto'
import { existsSync } from 'node:fs'
import pg from 'pg'
import { type Browser, chromium, type Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { startTestDaemon, type TestDaemon } from '../support/daemon.ts'
import { startTestPostgres, type TestPostgres } from '../support/postgres.ts'
import { startTestSandbox, type TestSandbox } from '../support/sandbox.ts'

const executablePath = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'].find((file) =>
  existsSync(file),
)
if (executablePath === undefined && process.env['CI'] === 'true') throw new Error('no Chromium on this machine')
if (executablePath === undefined) process.stderr.write('\n*** no Chromium on this machine: the console is not tested ***\n\n')

const apiKey = 'a-key-for-the-console-test'

describe.runIf(executablePath !== undefined)('the console in a browser', () => {
  let postgres: TestPostgres
  let sandbox: TestSandbox
  let daemon: TestDaemon
  let browser: Browser
  let page: Page
  let databaseUrl: string
  const faults: string[] = []

  beforeAll(async () => {
    ;[postgres, sandbox] = await Promise.all([startTestPostgres(), startTestSandbox()])
    databaseUrl = await postgres.database()
    daemon = await startTestDaemon({
      DATABASE_URL: databaseUrl,
      MARKETPLACE_URL: sandbox.url,
      SELLER_ID: 'sandbox-seller',
      CLIENT_ID: 'sandbox-client',
      CLIENT_SECRET: 'sandbox-secret',
      API_KEY: apiKey,
      POLL_ORDERS: 'off',
      POLL_RETURNS: 'off',
      POLL_ORDER_SWEEP: 'off',
    })
    browser = await chromium.launch({
      ...(executablePath === undefined ? {} : { executablePath }),
      args: [
        '--no-sandbox',
        '--disable-gpu',
        '--disable-quic',
        '--disable-background-networking',
        '--disable-component-update',
        '--disable-sync',
      ],
    })
  })
  // A page has a session of its own: no test finds the key that another has entered.
  beforeEach(async () => {
    faults.splice(0)
    page = await browser.newPage()
    page.on('pageerror', (error) => faults.push(error.message))
    page.on('console', (message) => {
      // The first look is made without a key, and a browser reports every 401.
      if (message.type() === 'error' && !message.text().includes('401')) faults.push(message.text())
    })
  })
  afterEach(() => page.close())
  afterAll(async () => {
    await browser?.close()
    await daemon?.program.stop()
    await Promise.all([postgres?.stop(), sandbox?.stop()])
  })

  const enter = async (key: string): Promise<void> => {
    await page.getByLabel('API key').fill(key)
    await page.getByRole('button', { name: 'Open' }).click()
  }
  const open = async (): Promise<void> => {
    await page.goto(`${daemon.url}/`)
    await enter(apiKey)
  }

  test('asks for the key, shows a held command with its evidence, and takes a decision', async () => {
    const purchaseOrderId = await sandbox.place({ lines: [{ sku: 'KETTLE', quantity: 2 }] })
    const commandId = randomUUID()
    const client = new pg.Client({ connectionString: databaseUrl })
    await client.connect()
    await client.query(
      `INSERT INTO tallyman.commands (id, seller_id, purchase_order_id, kind, state, payload, reason)
       VALUES ($3, 'sandbox-seller', $1, 'cancel', 'held', $2, 'the order read back does not tell whether it was applied')`,
      [purchaseOrderId, { lines: [{ lineNumber: '1', quantity: 1, reason: 'SELLER_CANCEL_OUT_OF_STOCK' }] }, commandId],
    )

    await page.goto(`${daemon.url}/`)
    await enter('a-wrong-key-for-the-test')
    await expect.poll(() => page.getByRole('alert').first().innerText()).not.toBe('')
    await enter(apiKey)

    const held = page.locator('#held')
    await held.getByText(purchaseOrderId).first().waitFor()
    expect(await held.innerText()).toContain('does not tell whether it was applied')
    await held
      .locator('tr')
      .filter({ hasText: purchaseOrderId })
      .getByRole('button', { name: /confirm/i })
      .click()
    await page.getByLabel('Who decides').fill('kim')
    await page.getByLabel('Why').fill('seen at the marketplace')
    await page.locator('#decision-submit').click()
    await expect.poll(() => held.innerText()).not.toContain(purchaseOrderId)

    const { rows } = await client.query('SELECT actor, decision, reason FROM tallyman.command_decisions WHERE command_id = $1', [
      commandId,
    ])
    await client.end()
    expect(rows).toEqual([{ actor: 'kim', decision: 'confirm', reason: 'seen at the marketplace' }])
    expect(await page.locator('#ready').innerText()).toMatch(/ready/i)
  })

  test('keeps the key out of the address and of lasting storage, and loads nothing from elsewhere', async () => {
    await open()
    await expect.poll(() => page.locator('#ready').innerText()).toMatch(/ready/i)
    expect(page.url()).not.toContain(apiKey)
    expect(await page.evaluate('JSON.stringify(localStorage) + document.cookie')).not.toContain(apiKey)
    const loaded = await page.evaluate<string[]>('performance.getEntriesByType("resource").map((entry) => entry.name)')
    expect(loaded.filter((address) => !address.startsWith(daemon.url) && !address.startsWith('data:'))).toEqual([])
    expect(faults).toEqual([])
  })

  test('shows where the inventory does not fit, and the campaigns that are watched', async () => {
    const client = new pg.Client({ connectionString: databaseUrl })
    await client.connect()
    await client.query(
      `INSERT INTO warehouse.inventory_discrepancies (seller_id, sku, month, kind, report_units, expected_units, log_verdict, log_certainty,
         log_entry_ids, log_entries, earliest_day, value, currency)
       VALUES ('sandbox-seller', 'KETTLE', '2026-09-01', 'lost', 6, 4, 'missing', 'unknown', '{}', 0, '2026-09-01', 25.5, 'USD')
       ON CONFLICT DO NOTHING`,
    )
    await client.query(
      `INSERT INTO tallyman.watched_campaigns (seller_id, campaign_id) VALUES ('sandbox-seller', 'SEM-77') ON CONFLICT DO NOTHING`,
    )
    await client.end()
    await open()
    const rowOf = (region: string, text: string) =>
      page.getByRole('region', { name: region }).locator('tbody tr').filter({ hasText: text })
    await expect
      .poll(() => rowOf('Inventory differences', 'KETTLE').allInnerTexts())
      .toEqual([expect.stringMatching(/KETTLE\s+sandbox-seller\s+2026-09\s+lost\s+6\s+4\s+25\.50? USD\s+missing in the log/)])
    await expect.poll(() => rowOf('Campaigns', 'SEM-77').allInnerTexts()).toEqual([expect.stringContaining('SEM-77')])
  })

  test('the API page and the queues open in a browser', async () => {
    const context = await browser.newContext({ httpCredentials: { username: 'any', password: apiKey } })
    const other = await context.newPage()
    await other.goto(`${daemon.url}/docs`)
    await other.getByText('/v1/events', { exact: false }).first().waitFor()
    await other.goto(`${daemon.url}/queues`)
    await other.getByText('commands', { exact: false }).first().waitFor()
    await context.close()
  })
})
