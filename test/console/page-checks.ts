import axe from 'axe-core'
import type { Page } from 'playwright-core'
import { expect } from 'vitest'
import type { TestPage } from './support.ts'

/** The rules of axe whose verdict depends on colours. */
const colorRules = ['color-contrast', 'link-in-text-block']

/** What axe finds on a page: by all of its rules, or only by these. */
export const readFindings = async (page: Page, rules?: readonly string[]): Promise<readonly string[]> => {
  if (!(await page.evaluate<boolean>('"axe" in window'))) await page.evaluate(axe.source)
  // What passes is not described: that takes longer than finding it.
  const options = { resultTypes: ['violations'], ...(rules === undefined ? {} : { runOnly: { type: 'rule', values: rules } }) }
  return page.evaluate<string[]>(
    `axe.run(${JSON.stringify(options)}).then(({ violations }) =>
      violations.map(({ id, nodes }) => id + ': ' + nodes.map(({ html }) => html).join(' | ')))`,
  )
}

/** What reaches beyond the sides of a page. */
const readOverflow = (page: Page): Promise<readonly string[]> =>
  page.evaluate<string[]>(`[...document.querySelectorAll('button, a, input, select, td, h1, p, figure')].filter((one) => {
    const box = one.getBoundingClientRect()
    return box.width > 1 && !one.closest('.visually-hidden, .skip, thead') && (box.right > innerWidth + 1 || box.left < -1)
  }).map((one) => one.outerHTML.slice(0, 120))`)

/** What of a view Tab does not lead to, or leads to without showing where the focus is. */
const unreachedBy = async (page: Page): Promise<readonly string[]> => {
  const focusable = await page.evaluate<number>(`(() => {
    const all = [...document.querySelectorAll('main :is(a[href], button, input, select, textarea, summary)')]
    const usable = all.filter((one) => !one.disabled && one.checkVisibility({ visibilityProperty: true }))
    usable.forEach((one) => { one.dataset.walk = 'not reached' })
    document.querySelector('main').focus()
    return usable.length
  })()`)
  // A date takes a press for each of its parts.
  let isInside = focusable > 0
  for (let presses = 0; isInside && presses < focusable * 5; presses += 1) {
    await page.keyboard.press('Tab')
    isInside = await page.evaluate<boolean>(`(() => {
      const { activeElement: one } = document
      if (one.closest('main') === null) return false
      if (one.dataset.walk !== 'not reached') return true
      const { outlineStyle, outlineWidth } = getComputedStyle(one)
      one.dataset.walk = outlineStyle === 'none' || outlineWidth === '0px' ? 'no sign of the focus' : 'reached'
      return true
    })()`)
  }
  return page.evaluate<string[]>(`[...document.querySelectorAll('main [data-walk]')]
    .filter((one) => one.dataset.walk !== 'reached').map((one) => one.dataset.walk + ': ' + one.outerHTML.slice(0, 120))`)
}

const phone = { width: 360, height: 740 }
const screen = { width: 1_280, height: 800 }

/**
 * Opens a view and looks at it when its data are there; all that is wrong with it: errors of scripts, what axe finds in light and in dark, what
 * Tab does not lead to, and what must be scrolled sideways on a phone.
 */
export const readFlaws = async (
  { page, faults }: Pick<TestPage, 'page' | 'faults'>,
  address: string,
): Promise<readonly string[]> => {
  await page.setViewportSize(screen)
  await page.goto(address)
  await expect.poll(async () => [await page.getByRole('heading', { level: 1 }).count(), faults]).toEqual([1, []])
  await expect.poll(() => page.locator('.loading').count()).toBe(0)
  const flaws: string[] = []
  await page.emulateMedia({ colorScheme: 'light' })
  flaws.push(...(await readFindings(page)).map((finding) => `light: ${finding}`))
  await page.emulateMedia({ colorScheme: 'dark' })
  flaws.push(...(await readFindings(page, colorRules)).map((finding) => `dark: ${finding}`))
  flaws.push(...(await unreachedBy(page)))
  await page.setViewportSize(phone)
  flaws.push(...(await readOverflow(page)).map((what) => `too wide: ${what}`))
  const width = await page.evaluate<number>('document.documentElement.scrollWidth')
  if (width !== phone.width) flaws.push(`the page is ${width} pixels wide`)
  return [...flaws, ...faults]
}

/** Columns of sentences, in which a word may end a line as in any text, and columns of several values. */
const textColumns = ['Why', 'Alarm', 'Difference', 'Field', 'Before', 'After']
const listColumns = ['Units', 'State', 'Entries', 'Command', 'Act', 'Evidence']

/**
 * Ids, times, amounts of money and counts of a view that take more than one line: each word with a digit, each time, each amount with its
 * currency, and each cell of a table that holds one value.
 */
export const readBrokenValues = (page: Page): Promise<readonly string[]> =>
  page.evaluate<string[]>(`(() => {
    const linesOf = (range) => {
      const boxes = [...range.getClientRects()].filter(({ width }) => width > 0).sort((one, other) => one.top - other.top)
      let lines = 0
      let bottom = -Infinity
      for (const box of boxes) {
        if (box.top >= bottom - 1) lines += 1
        bottom = Math.max(bottom, box.bottom)
      }
      return lines
    }
    const rangeOf = (node, from, to) => {
      const range = document.createRange()
      range.setStart(node, from)
      range.setEnd(node, to)
      return range
    }
    const broken = []
    const isText = (cell) => cell.matches('td') && ${JSON.stringify(textColumns)}.includes(cell.dataset.head)
    for (const cell of document.querySelectorAll('main table.rows > tbody > tr > td, main dl.facts > dd, main li strong')) {
      if (!cell.checkVisibility()) continue
      for (const time of cell.querySelectorAll('time')) {
        if (linesOf(rangeOf(time, 0, time.childNodes.length)) > 1) broken.push(time.textContent)
      }
      if (isText(cell)) continue
      const walk = document.createTreeWalker(cell, NodeFilter.SHOW_TEXT)
      while (walk.nextNode()) {
        const { currentNode: node } = walk
        for (const { 0: word, index } of node.data.matchAll(/[$€£]?\\s?[\\w.,:-]*\\d[\\w.,:-]*/g)) {
          if (linesOf(rangeOf(node, index, index + word.length)) > 1) broken.push(word)
        }
      }
      const holdsOne = cell.matches('td') && !${JSON.stringify(listColumns)}.includes(cell.dataset.head)
      if (holdsOne && linesOf(rangeOf(cell, 0, cell.childNodes.length)) > 1) broken.push(cell.dataset.head + ': ' + cell.textContent)
    }
    return broken
  })()`)
