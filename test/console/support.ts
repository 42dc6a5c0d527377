import pg from 'pg'
import type { Browser, BrowserContext, Page } from 'playwright-core'
import { launchBrowser } from '../support/browser.ts'
import { startTestDaemon, type TestDaemon } from '../support/daemon.ts'
import { startTestPostgres } from '../support/postgres.ts'
import { startTestSandbox, type TestSandbox } from '../support/sandbox.ts'

export { hasBrowser } from '../support/browser.ts'

/** API_KEY of the daemon. */
export const apiKey = 'a-key-for-the-console-test'

/** The seller of the daemon. */
export const sellerId = 'sandbox-seller'

/** A page with a session of its own, and what went wrong in it. */
export interface TestPage {
  readonly page: Page
  readonly context: BrowserContext
  /** Errors of scripts and of the console, of the policy too. */
  readonly faults: string[]
}

/** A daemon with its parts, and a browser. */
export interface ConsoleStage {
  readonly sandbox: TestSandbox
  readonly daemon: TestDaemon
  readonly browser: Browser
  /** A connection to the daemon's database. */
  readonly client: pg.Client
  /** Calls the interface with API_KEY. */
  call(method: 'GET' | 'POST', path: string, body?: unknown): Promise<Response>
  /** Opens a page that is not signed in. */
  newPage(options?: Parameters<Browser['newContext']>[0]): Promise<TestPage>
  /** Opens a page, signed in, at no address yet. */
  signIn(options?: Parameters<Browser['newContext']>[0]): Promise<TestPage>
  /** Opens a page, signed in, at an address of the console. */
  open(path: string, options?: Parameters<Browser['newContext']>[0]): Promise<TestPage>
  stop(): Promise<void>
}

/** Starts Postgres, the sandbox, a daemon and Chromium. */
export const startConsole = async (env: Readonly<Record<string, string>> = {}): Promise<ConsoleStage> => {
  const [postgres, sandbox] = await Promise.all([startTestPostgres(), startTestSandbox()])
  const databaseUrl = await postgres.database()
  const daemon = await startTestDaemon({
    DATABASE_URL: databaseUrl,
    MARKETPLACE_URL: sandbox.url,
    SELLER_ID: sellerId,
    CLIENT_ID: 'sandbox-client',
    CLIENT_SECRET: 'sandbox-secret',
    API_KEY: apiKey,
    POLL_ORDERS: 'off',
    POLL_RETURNS: 'off',
    POLL_ORDER_SWEEP: 'off',
    ...env,
  })
  const client = new pg.Client({ connectionString: databaseUrl })
  await client.connect()
  const browser = await launchBrowser()
  const newPage: ConsoleStage['newPage'] = async (options = {}) => {
    const context = await browser.newContext({ baseURL: daemon.url, locale: 'en-US', ...options })
    const page = await context.newPage()
    const faults: string[] = []
    page.on('pageerror', (error) => faults.push(error.message))
    page.on('console', (message) => {
      if (message.type() === 'error') faults.push(message.text())
    })
    return { page, context, faults }
  }
  const signIn: ConsoleStage['signIn'] = async (options) => {
    const opened = await newPage(options)
    const signedIn = await opened.context.request.post(`${daemon.url}/v1/session`, {
      data: { key: apiKey },
      headers: { origin: daemon.url },
    })
    if (!signedIn.ok()) throw new Error(`the sign-in failed: ${signedIn.status()} ${await signedIn.text()}`)
    return opened
  }
  const call: ConsoleStage['call'] = (method, path, body) =>
    fetch(`${daemon.url}${path}`, {
      method,
      headers: {
        authorization: `Bearer ${apiKey}`,
        ...(body === undefined
          ? {}
          : { 'content-type': path === '/v1/events' ? 'application/cloudevents+json' : 'application/json' }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
  return {
    sandbox,
    daemon,
    browser,
    client,
    call,
    newPage,
    signIn,
    open: async (path, options) => {
      const opened = await signIn(options)
      await opened.page.goto(path)
      return opened
    },
    stop: async () => {
      await browser.close()
      await client.end()
      await daemon.program.stop()
      await Promise.all([postgres.stop(), sandbox.stop()])
    },
  }
}

/** Fills in the dialog that asks who decides, and why, and confirms it. */
export const decideWith = async (page: Page, action: string, reason: string): Promise<void> => {
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Who decides').fill('kim')
  await dialog.getByLabel('Why').fill(reason)
  await dialog.getByRole('button', { name: action, exact: true }).click()
  await dialog.waitFor({ state: 'detached' })
}
