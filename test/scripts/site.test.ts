import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { cp, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { chromium } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'

const run = promisify(execFile)
const executablePath = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'].find((file) =>
  existsSync(file),
)
if (executablePath === undefined && process.env['CI'] === 'true') throw new Error('no Chromium on this machine')

let folder: string
let site: string

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'tallyman-site-'))
  site = path.join(folder, 'site')
  await run(process.execPath, ['scripts/site.mjs', site])
})
afterAll(async () => {
  await rm(folder, { recursive: true })
})

const countPages = async (): Promise<readonly string[]> =>
  (await readdir(site, { recursive: true })).filter((file) => file.endsWith('.html')).sort()

test('every link within the site leads to a page and to a place on it, and every page is reached from the first', async () => {
  const texts = new Map<string, string>()
  for (const page of await countPages()) texts.set(page, await readFile(path.join(site, page), 'utf8'))
  const files = new Set(await readdir(site, { recursive: true }))
  const faults: string[] = []
  const reached = new Set(['index.html'])
  for (const page of reached) {
    const text = texts.get(page) ?? ''
    for (const [, href = ''] of text.matchAll(/ (?:href|src)="([^"]*)"/g)) {
      if (/^https?:/.test(href)) continue
      const [file = '', anchor] = href.split('#')
      const to = file === '' ? page : path.normalize(path.join(path.dirname(page), file))
      if (!files.has(to) || (anchor !== undefined && !texts.get(to)?.includes(` id="${anchor}"`))) faults.push(`${page}: ${href}`)
      if (texts.has(to)) reached.add(to)
    }
  }
  expect(faults).toEqual([])
  expect([...texts.keys()].filter((page) => !reached.has(page))).toEqual([])
  expect(texts.size).toBeGreaterThan(40)
})

test.skipIf(executablePath === undefined)(
  'a browser shows it without a script, a request elsewhere or sideways scrolling on a phone',
  async () => {
    const browser = await chromium.launch({ ...(executablePath === undefined ? {} : { executablePath }), args: ['--no-sandbox'] })
    try {
      const page = await browser.newPage({ viewport: { width: 360, height: 700 } })
      const asked: string[] = []
      const said: string[] = []
      page.on('request', (request) => void asked.push(request.url()))
      page.on('console', (message) => void said.push(message.text()))
      for (const name of ['index.html', 'docs/data-model.html', 'docs/operations.html', 'docs/decisions/index.html']) {
        await page.goto(pathToFileURL(path.join(site, name)).href)
        expect(await page.locator('h1').count()).toBe(1)
        expect(await page.evaluate<number>('document.documentElement.scrollWidth'), name).toBeLessThanOrEqual(360)
        expect(await page.locator('script').count()).toBe(0)
      }
      expect(await page.locator('nav [aria-current=page]').textContent()).toBe('Decisions')
      expect(asked.filter((url) => !url.startsWith('file:'))).toEqual([])
      expect(said).toEqual([])
    } finally {
      await browser.close()
    }
  },
)

test('a link that leads nowhere, and a folder that holds something else, are refused', async () => {
  const sources = path.join(folder, 'sources')
  for (const name of ['README.md', 'ARCHITECTURE.md', 'CHANGELOG.md', 'CONTRIBUTING.md', 'docs'])
    await cp(name, path.join(sources, name), { recursive: true })
  await writeFile(
    path.join(sources, 'docs/keys.md'),
    '# Keys\n[a](none.md) [b](events.md#nothing) [c](events.md) ![d](none.png) [e](#keys)\n',
  )
  const wrong = run(process.execPath, ['scripts/site.mjs', path.join(folder, 'other'), sources])
  await expect(wrong).rejects.toMatchObject({ code: 1, stderr: expect.stringContaining('docs/keys.md: none.md leads nowhere\n') })
  const { stderr } = await wrong.catch((error: unknown) =>
    error instanceof Error && 'stderr' in error ? { stderr: String(error.stderr) } : { stderr: '' },
  )
  const ofPage = stderr.split('\n').filter((line) => line.startsWith('docs/keys.md: '))
  expect(ofPage.map((line) => line.split(' ')[1])).toEqual(['none.md', 'events.md#nothing', 'none.png'])
  await expect(run(process.execPath, ['scripts/site.mjs', sources])).rejects.toMatchObject({
    code: 1,
    stderr: expect.stringContaining('holds something else'),
  })
})
