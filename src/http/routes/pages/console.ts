import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { extname } from 'node:path'
import { brotliCompressSync, constants } from 'node:zlib'
import type { Logger } from '../../../observability/log.ts'
import type { App } from '../../app.ts'
import { consolePolicy } from '../../content-policies.ts'
import { Problem } from '../../problems.ts'

/** The build of the folder `console` by `scripts/setup.mjs`. */
const built = new URL('../../../../console/dist/', import.meta.url)

const types: Readonly<Record<string, string>> = {
  '.css': 'text/css; charset=utf-8',
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.woff2': 'font/woff2',
}

interface ServedFile {
  readonly type: string
  readonly plain: Buffer
  /** Compressed when it is first asked for: to compress all files took a second of each start. */
  readonly brotli: () => Buffer
}

const read = (url: URL): ServedFile => {
  const plain = readFileSync(url)
  let compressed: Buffer | undefined
  const brotli = (): Buffer => {
    compressed ??= brotliCompressSync(plain, { params: { [constants.BROTLI_PARAM_QUALITY]: 9 } })
    return compressed
  }
  return { type: types[extname(url.pathname)] ?? 'application/octet-stream', plain, brotli }
}

/** The console: a public page without data, which loads its data from the API. Its files are cached in memory. */
export const consoleRoutes = (app: App, log: Pick<Logger, 'warn'>): void => {
  const index = new URL('index.html', built)
  const isBuilt = existsSync(index)
  if (!isBuilt) log.warn('the console is not built: run node scripts/setup.mjs with the development packages')
  const page = isBuilt ? read(index) : null
  const assets = new Map(
    isBuilt
      ? readdirSync(new URL('assets/', built)).map((name): [string, ServedFile] => [name, read(new URL(`assets/${name}`, built))])
      : [],
  )

  const send = (
    file: ServedFile,
    request: { readonly headers: { readonly 'accept-encoding'?: string | string[] | undefined } },
    reply: { headers(headers: Readonly<Record<string, string>>): { send(body: Buffer): unknown } },
    cacheControl: string,
  ) => {
    const compressed = String(request.headers['accept-encoding'] ?? '').includes('br')
    return reply
      .headers({
        'content-type': file.type,
        'content-security-policy': consolePolicy,
        'cache-control': cacheControl,
        vary: 'accept-encoding',
        ...(compressed ? { 'content-encoding': 'br' } : {}),
      })
      .send(compressed ? file.brotli() : file.plain)
  }

  // Each view of the console has its own address, which the page interprets.
  for (const url of ['/', '/console', '/console/*']) {
    app.route({
      method: 'GET',
      url,
      config: { access: 'open' },
      schema: { hide: true },
      handler: (request, reply) => {
        if (page === null) throw new Problem('unavailable', { detail: 'The console is not built: run node scripts/setup.mjs.' })
        return send(page, request, reply, 'no-cache')
      },
    })
  }

  app.route<{ Params: { name: string } }>({
    method: 'GET',
    url: '/console/assets/:name',
    config: { access: 'open' },
    schema: { hide: true },
    handler: (request, reply) => {
      const file = assets.get(request.params.name)
      if (file === undefined) throw new Problem('not-found', { detail: 'The console has no such file; load the page again.' })
      // The file's name contains the hash of its content.
      return send(file, request, reply, 'public, max-age=31536000, immutable')
    },
  })
}
