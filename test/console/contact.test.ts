import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Line, openLine } from './line.ts'
import { apiKey, type ConsoleStage, hasBrowser, startConsole, type TestPage } from './support.ts'

describe.runIf(hasBrowser)('a daemon that stops', () => {
  let stage: ConsoleStage
  let line: Line
  beforeAll(async () => {
    stage = await startConsole()
    line = await openLine(stage.daemon.url)
  })
  afterAll(async () => {
    await line?.close()
    await stage?.stop()
  })

  /** A page over the line that asks for nothing again at an interval of ten seconds or more: only the stream tells it. */
  const openOverLine = async (): Promise<TestPage> => {
    const opened = await stage.newPage({ baseURL: line.url })
    await opened.context.addInitScript(`(() => {
      const real = window.setInterval
      window.setInterval = (work, ms, ...rest) => (ms >= 10_000 ? 0 : real(work, ms, ...rest))
      window.unreachableCount = 0
      new MutationObserver(() => {
        if (document.body?.textContent.includes('The daemon does not answer')) window.unreachableCount += 1
      }).observe(document, { subtree: true, childList: true, characterData: true })
    })()`)
    const headers = { origin: line.url }
    const signedIn = await opened.context.request.post('/v1/session', { data: { key: apiKey }, headers })
    expect(signedIn.ok()).toBe(true)
    const before = line.streams()
    await opened.page.goto('/console/commands')
    await opened.page.getByRole('heading', { level: 1, name: 'Commands' }).waitFor()
    await expect.poll(() => line.streams()).toBeGreaterThan(before)
    await expect.poll(() => opened.page.locator('.loading').count()).toBe(0)
    return opened
  }

  test('is detected by the broken stream, and so is the recovery', async () => {
    const { page, context } = await openOverLine()
    const notice = page.getByRole('alert').getByText('The daemon does not answer; its last answer was at', { exact: false })
    await line.cut()
    await notice.waitFor()
    await line.repair()
    await notice.waitFor({ state: 'detached' })
    await page.getByText('There is no command yet', { exact: false }).waitFor()
    await context.close()
  })

  test('is not shown for a stream that ends while the daemon answers', async () => {
    const { page, context } = await openOverLine()
    const before = line.streams()
    line.drop()
    await expect.poll(() => line.streams()).toBeGreaterThan(before)
    expect(await page.evaluate('window.unreachableCount')).toBe(0)
    await context.close()
  })
})
