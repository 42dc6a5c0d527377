import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import type { Page } from 'playwright-core'

const axePath = createRequire(import.meta.url).resolve('axe-core')

/** What axe finds on a page. */
export const findingsOf = async (page: Page): Promise<readonly string[]> => {
  await page.evaluate(await readFile(axePath, 'utf8'))
  return page.evaluate<string[]>(
    `axe.run().then(({ violations }) => violations.map(({ id, nodes }) => id + ': ' + nodes.map(({ html }) => html).join(' | ')))`,
  )
}

/** What reaches beyond the sides of a page. */
export const overflowOf = (page: Page): Promise<readonly string[]> =>
  page.evaluate<string[]>(`[...document.querySelectorAll('button, a, input, select, td, h1, p, figure')].filter((one) => {
    const box = one.getBoundingClientRect()
    return box.width > 1 && !one.closest('.visually-hidden, .skip, thead') && (box.right > innerWidth + 1 || box.left < -1)
  }).map((one) => one.outerHTML.slice(0, 120))`)
