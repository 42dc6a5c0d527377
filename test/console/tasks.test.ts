import { readFile } from 'node:fs/promises'
import type { Locator, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { eventually } from '../support/eventually.ts'
import { addTrouble, type Scene, setScene, trackingNumber } from './scene.ts'
import { type ConsoleStage, hasBrowser, sellerId, startConsole } from './support.ts'

const maxClicks = 4

/** A person's hand: does one thing after the other from the first view, and remembers what. */
class Hand {
  readonly page: Page
  readonly trail: string[] = []
  clicks = 0

  constructor(page: Page) {
    this.page = page
  }

  /** Clicks on what a person would call `name`. */
  async click(what: Locator, name: string): Promise<void> {
    await what.click()
    this.clicks += 1
    this.trail.push(name)
  }

  /** Follows a word of the navigation. */
  menu(word: string): Promise<void> {
    return this.click(this.page.getByRole('navigation').getByRole('link', { name: word, exact: true }), word)
  }

  /** Chooses a value of a filter. */
  async choose(label: string, option: string): Promise<void> {
    await this.page.getByLabel(label, { exact: true }).selectOption({ label: option })
    this.clicks += 1
    this.trail.push(`*${label}*: ${option}`)
  }

  /** Types into a field, which costs no click where the cursor can be brought by Tab. */
  async type(label: string, text: string, name: string): Promise<void> {
    const field = this.page.getByLabel(label, { exact: true })
    await field.fill(text)
    await field.press('Enter')
    this.trail.push(`type ${name}`)
  }
}

interface Task {
  readonly what: string
  readonly does: (hand: Hand, stage: ConsoleStage, scene: Scene) => Promise<void>
}

const tableText = (page: Page, name: string): Promise<string> => page.getByRole('table', { name }).innerText()

const tasks: readonly Task[] = [
  {
    what: 'Find the parcel with this tracking number',
    does: async (hand, _, { shippedOrder }) => {
      await hand.menu('Orders')
      await hand.type('Search', trackingNumber, 'the tracking number')
      await hand.click(hand.page.getByRole('link', { name: shippedOrder }), 'the order')
      await hand.page.getByText(`tracking number ${trackingNumber}`, { exact: false }).first().waitFor()
    },
  },
  {
    what: 'Find the order whose last digits the buyer quotes',
    does: async (hand, _, { shippedOrder }) => {
      await hand.type('Find anything', shippedOrder.slice(-6), 'the last digits')
      await hand.page.getByRole('heading', { level: 1, name: `Order ${shippedOrder}` }).waitFor()
    },
  },
  {
    what: 'Which orders must leave today?',
    does: async (hand, _, { shippedOrder }) => {
      await hand.click(hand.page.getByRole('link', { name: /to ship within 24 hours/ }), 'to ship within 24 hours')
      await expect.poll(() => tableText(hand.page, 'Open orders by deadline')).toContain(shippedOrder)
    },
  },
  {
    what: 'Why was this refund not paid?',
    does: async (hand, _, { shippedOrder }) => {
      await hand.menu('Orders')
      await hand.type('Search', shippedOrder, 'the order')
      await hand.click(hand.page.getByRole('link', { name: shippedOrder }), 'the order')
      await hand.click(hand.page.locator('ol.timeline').getByRole('link', { name: /credit-too-much/ }), 'the event of the refund')
      await expect.poll(() => hand.page.locator('main').innerText()).toMatch(/rejected[\s\S]*999/)
    },
  },
  {
    what: 'Is this seller healthy?',
    does: async (hand) => {
      await hand.menu('Sellers')
      await expect.poll(() => tableText(hand.page, 'Sellers')).toMatch(new RegExp(`${sellerId}\\s+active`))
    },
  },
  {
    what: 'What needs a person now?',
    does: async (hand) => {
      await hand.click(hand.page.getByRole('link', { name: /open alarms?/ }), 'open alarms')
      await expect.poll(() => tableText(hand.page, 'Alarms')).toContain('event-rejected')
    },
  },
  {
    what: 'Decide on a command that is held',
    does: async (hand, stage, { heldCommand }) => {
      await hand.click(hand.page.getByRole('link', { name: /held: a person must decide/ }), 'held: a person must decide')
      await hand.click(hand.page.getByRole('link', { name: 'Ship 2 units' }), 'the command')
      await hand.click(hand.page.getByRole('button', { name: 'Give it up' }), 'Give it up')
      const dialog = hand.page.getByRole('dialog')
      await dialog.getByLabel('Who decides').fill('kim')
      await dialog.getByLabel('Why').fill('the parcels never left')
      hand.trail.push('type a reason')
      await hand.click(dialog.getByRole('button', { name: 'Give it up' }), 'Give it up')
      await eventually(async () => {
        expect(await (await stage.call('GET', `/v1/commands/${heldCommand}`)).json()).toMatchObject({ state: 'rejected' })
      })
    },
  },
  {
    what: 'Read the orders again now',
    does: async (hand) => {
      await hand.menu('Syncs')
      await hand.click(hand.page.getByRole('button', { name: `Run now: orders of ${sellerId}` }).first(), 'Run now')
      await hand.page.getByText(`orders of ${sellerId} runs now.`).waitFor()
    },
  },
  {
    what: 'Which events of the ERP came to nothing, and why?',
    does: async (hand) => {
      await hand.menu('Events')
      await hand.choose('State', 'rejected')
      await expect.poll(() => tableText(hand.page, 'Events')).toContain('credit-too-much')
    },
  },
  {
    what: 'Put a record right that was not understood',
    does: async (hand) => {
      await hand.menu('Quarantine')
      await hand.click(hand.page.getByRole('button', { name: 'Replay returns R-7' }), 'Replay')
      await hand.page.getByRole('status').getByText('returns R-7:', { exact: false }).waitFor()
    },
  },
  {
    what: 'Give the open orders of a SKU to a colleague as a table',
    does: async (hand) => {
      await hand.menu('Today')
      await hand.type('SKU', 'KETTLE', 'the SKU')
      await expect.poll(() => tableText(hand.page, 'Open orders by deadline')).not.toContain('TOASTER')
      const download = hand.page.waitForEvent('download')
      await hand.click(hand.page.getByRole('button', { name: 'Save as CSV' }), 'Save as CSV')
      expect(await readFile(await (await download).path(), 'utf8')).toContain('KETTLE')
    },
  },
]

describe.runIf(hasBrowser)('tasks of every day', () => {
  let stage: ConsoleStage
  let scene: Scene
  let written = ''

  beforeAll(async () => {
    written = await readFile('docs/console.md', 'utf8')
    stage = await startConsole()
    scene = await setScene(stage)
    await addTrouble(stage, scene)
    await stage.client.query(
      `UPDATE warehouse.orders SET estimated_ship_date = now() + interval '6 hours' WHERE purchase_order_id = $1`,
      [scene.shippedOrder],
    )
  })
  afterAll(() => stage?.stop())

  test.each(tasks)('$what', async ({ what, does }) => {
    const { page, context } = await stage.open('/')
    await page.getByRole('heading', { level: 1 }).waitFor()
    const hand = new Hand(page)
    await does(hand, stage, scene)
    expect(hand.clicks).toBeLessThanOrEqual(maxClicks)
    expect(written).toContain(`| ${what} | ${hand.trail.join(', ')} | ${hand.clicks} |`)
    await context.close()
  })

  test('all of them are written down', () => {
    const rows =
      /## Tasks of every day\n[\s\S]*?\n\| --- \| --- \| --- \|\n((?:\|.*\n)+)/.exec(written)?.[1]?.trim().split('\n') ?? []
    expect(rows.map((row) => row.split(' | ')[0]?.slice(2))).toEqual(tasks.map(({ what }) => what))
  })
})
