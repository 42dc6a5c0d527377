import { readFileSync } from 'node:fs'
import type { App } from '../app.ts'

const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ')

const files = {
  '/': { name: 'index.html', type: 'text/html; charset=utf-8' },
  '/console/app.js': { name: 'app.js', type: 'text/javascript; charset=utf-8' },
  '/console/style.css': { name: 'style.css', type: 'text/css; charset=utf-8' },
} as const

/** The console: a public page without data, which loads everything it shows from the API. */
export const consoleRoutes = (app: App): void => {
  for (const [url, { name, type }] of Object.entries(files)) {
    const text = readFileSync(new URL(`../console/${name}`, import.meta.url), 'utf8')
    app.route({
      method: 'GET',
      url,
      config: { access: 'open' },
      schema: { hide: true },
      handler: (_request, reply) => reply.type(type).header('content-security-policy', policy).send(text),
    })
  }
}
