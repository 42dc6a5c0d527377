import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { eventually } from '../support/eventually.ts'
import { readFlaws } from './page-checks.ts'
import { setScene } from './scene.ts'
import { type ConsoleStage, hasBrowser, startConsole } from './support.ts'

const sellers = 60
const backfill = 'backfill:20260101T000000Z-20260201T000000Z'

describe.runIf(hasBrowser)('the overview in a browser, of many sellers', () => {
  let stage: ConsoleStage

  beforeAll(async () => {
    stage = await startConsole({ POLL_TAXONOMIES: '1d', POLL_RETURNS: '1m' })
    await setScene(stage)
    await stage.client.query(
      `INSERT INTO tallyman.sellers (seller_id, state, served_at)
       SELECT 'fleet-' || lpad(n::text, 3, '0'), 'active', now() + interval '1 day' FROM generate_series(1, $1::int) AS n`,
      [sellers],
    )
    await stage.client.query(
      `INSERT INTO tallyman.sync_states (seller_id, resource, stream, last_success_at)
       SELECT seller_id, resource, stream, now() - interval '3 hours' FROM tallyman.sellers CROSS JOIN (
         SELECT 'taxonomies' AS resource, 'all' AS stream
         UNION ALL SELECT 'returns', 'changed'
         UNION ALL SELECT 'kind-' || k, 'all' FROM generate_series(1, 14) AS k) r
       WHERE seller_id LIKE 'fleet-%'`,
    )
    await stage.client.query(
      `UPDATE tallyman.sync_states SET last_success_at = now() WHERE resource = 'returns' AND seller_id LIKE 'fleet-%' AND seller_id <> 'fleet-007'`,
    )
    await stage.client.query(
      `INSERT INTO tallyman.sync_states (seller_id, resource, stream) VALUES ('fleet-001', 'kind-1', $1)`,
      [backfill],
    )
  })
  afterAll(() => stage?.stop())

  const opened = async (path: string, width = 360): Promise<Page> => {
    const { page } = await stage.open(path, { viewport: { width, height: 740 } })
    await page.getByRole('heading', { level: 1 }).waitFor()
    await expect.poll(() => page.locator('.loading').count()).toBe(0)
    return page
  }

  test('is short on a phone, however many sellers there are', async () => {
    const page = await opened('/')
    await page.getByRole('list', { name: 'Lag of each sync' }).getByRole('link', { name: 'taxonomies' }).waitFor()
    await page.getByText('per minute', { exact: false }).first().waitFor()
    const height = await page.evaluate<number>('document.documentElement.scrollHeight')
    expect(height).toBeLessThan(6_000)
    await page.context().close()
  })

  test('shows as behind what the alarm calls behind, and leads to just that', async () => {
    const page = await opened('/', 1_280)
    const line = (resource: string) =>
      page.getByRole('list', { name: 'Lag of each sync' }).getByRole('listitem').filter({ hasText: resource })
    // Three hours are nothing for what is read once a day, and a backfill has no lag.
    expect(await line('taxonomies').innerText()).toMatch(/^taxonomies\s+3 h 00 min$/)
    expect(await line('taxonomies').locator('.warn, .bad').count()).toBe(0)
    expect(await line('kind-1').first().innerText()).not.toContain('not read yet')
    expect(await line('returns').innerText()).toMatch(/^returns\s+1 behind\s[\s\S]*3 h 00 min$/)
    await line('returns').getByRole('link', { name: '1 behind' }).click()
    const shown = page.getByRole('table', { name: 'Syncs' })
    // The column of sellers appears as soon as the page knows that there are several.
    await expect.poll(() => shown.locator('tbody tr').allInnerTexts()).toEqual([expect.stringContaining('fleet-007')])
    await page.goBack()
    await line('returns').getByRole('link', { name: '3 h 00 min' }).click()
    await page.getByRole('heading', { level: 1, name: 'Sync of returns' }).waitFor()
    expect(new URL(page.url()).search).toBe('?sellerId=fleet-007&stream=changed')
    await page.context().close()
  })

  test('each of its numbers leads to its rows', async () => {
    const page = await opened('/', 1_280)
    const bare = await page.evaluate<string[]>(`(() => {
      const main = document.querySelector('main')
      const walk = document.createTreeWalker(main, NodeFilter.SHOW_TEXT)
      const found = []
      while (walk.nextNode()) {
        const { parentElement: at, textContent: text } = walk.currentNode
        if (!/^\\d[\\d.,]*( \\w+)?$/.test(text.trim()) || at.closest('a, .axis, table.visually-hidden, h2') !== null) continue
        found.push(text)
      }
      return found
    })()`)
    expect(bare).toEqual([])
    const numbers = await page.evaluate<{ href: string; count: number; name: string }[]>(`[
      ...[...document.querySelectorAll('.tile a')].map((one) => ({ link: one, text: one.querySelector('strong').textContent })),
      ...[...document.querySelectorAll('figure.parts a')].map((one) => ({ link: one, text: one.textContent.match(/\\d[\\d,]*/)[0] })),
      ...[...document.querySelectorAll('figure.columns a')].map((one) => ({ link: one, text: one.textContent.match(/\\d[\\d,]*(?!.*:)/)[0] })),
    ].map(({ link, text }) => ({ href: link.getAttribute('href'), count: Number(text.replaceAll(',', '')), name: link.textContent.trim() }))`)
    expect(numbers.map(({ name }) => name.replace(/^[\d,]+ /, ''))).toEqual(
      expect.arrayContaining([
        'ordered',
        'still open',
        'commands held: a person must decide',
        'confirmed in 24 hours',
        'to acknowledge 1',
      ]),
    )
    expect(numbers.length).toBeGreaterThan(9)
    for (const { href, count, name } of numbers) {
      if (count > 40 || /confirmed.*rejected/.test(name)) continue
      await page.goto(href)
      await page.getByRole('heading', { level: 1 }).waitFor()
      await expect.poll(() => page.locator('table.rows > tbody > tr:not(.group)').count(), { message: name }).toBe(count)
    }
    await page.context().close()
  })

  test('a rate limit leads to the sellers behind it', async () => {
    // A process shows the limits that it uses: this one has not read orders for some time.
    expect((await stage.call('POST', '/v1/syncs/orders/run')).status).toBe(202)
    await eventually(async () => expect(await (await stage.call('GET', '/v1/budget')).text()).toContain('orders.list'))
    const page = await opened('/', 1_280)
    await page.getByRole('link', { name: 'orders.list', exact: true }).click()
    await expect
      .poll(() => page.getByRole('table', { name: 'Rate limits of orders.list' }).innerText())
      .toContain('sandbox-seller')
    await page.getByRole('link', { name: 'Close' }).click()
    await expect.poll(() => page.getByRole('table', { name: 'Rate limits of orders.list' }).count()).toBe(0)
    await page.context().close()
  })

  test('by keyboard, in light and dark, on a phone', async () => {
    const opened = await stage.signIn()
    expect(await readFlaws(opened, '/?limits=orders.list')).toEqual([])
    await opened.context.close()
  })
})
