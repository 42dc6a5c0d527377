import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { apiKey, type ConsoleStage, hasBrowser, startConsole } from './support.ts'

describe.runIf(hasBrowser)('signing in', () => {
  let stage: ConsoleStage
  beforeAll(async () => {
    stage = await startConsole()
  })
  afterAll(() => stage?.stop())

  test('takes a key for a cookie that no script reads, and ends with the sign-out', async () => {
    const { page, context, faults } = await stage.newPage()
    await page.goto('/console/orders?sku=KETTLE')
    await page.getByLabel('Key').fill('a-wrong-key-for-the-test')
    await page.getByRole('button', { name: 'Sign in' }).click()
    await expect.poll(() => page.getByRole('alert').allInnerTexts()).toContain('The API key is wrong.')
    // The browser reports each answer of 401.
    faults.splice(0)
    await page.getByLabel('Key').fill(apiKey)
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.getByRole('navigation', { name: 'Views' }).waitFor()
    expect(page.url()).toBe(`${stage.daemon.url}/console/orders?sku=KETTLE`)
    const [cookie] = await context.cookies()
    expect(cookie).toMatchObject({ name: 'tallyman_session', httpOnly: true, sameSite: 'Strict', secure: false })
    expect(await page.evaluate('JSON.stringify(localStorage) + JSON.stringify(sessionStorage) + document.cookie')).not.toContain(
      apiKey,
    )
    const loaded = await page.evaluate<string[]>('performance.getEntriesByType("resource").map((entry) => entry.name)')
    expect(loaded.filter((address) => !address.startsWith(stage.daemon.url) && !address.startsWith('data:'))).toEqual([])
    expect(faults).toEqual([])
    await page.getByRole('button', { name: 'Sign out' }).click()
    await page.getByRole('heading', { name: 'Sign in' }).waitFor()
    expect((await context.request.get('/v1/orders')).status()).toBe(401)
    await context.close()
  })

  test.each(['/docs', '/queues'])('leads to %s, which is behind it', async (address) => {
    const { page, context } = await stage.newPage()
    await page.goto(address)
    expect(new URL(page.url()).pathname).toBe('/console/sign-in')
    await page.getByLabel('Key').fill(apiKey)
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.waitForURL((url) => url.pathname.startsWith(address))
    await page
      .getByText(address === '/docs' ? '/v1/events' : 'commands', { exact: false })
      .first()
      .waitFor()
    await context.close()
  })
})
