import { existsSync } from 'node:fs'
import { type Browser, chromium } from 'playwright-core'

const executablePath = [
  '/usr/bin/chromium-headless-shell',
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
].find((file) => existsSync(file))
if (executablePath === undefined && process.env['CI'] === 'true') throw new Error('no Chromium on this machine')
if (executablePath === undefined) process.stderr.write('\n*** no Chromium on this machine: the console is not tested ***\n\n')

/** Whether there is a browser to test with. */
export const hasBrowser = executablePath !== undefined

/** Starts Chromium without a window. It asks no host of its own. */
export const launchBrowser = (): Promise<Browser> =>
  chromium.launch({
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
