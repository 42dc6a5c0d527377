import type { FastifyRequest } from 'fastify'

const readMethods = new Set(['GET', 'HEAD', 'OPTIONS'])

/** Whether a request changes nothing, by its method. */
export const isRead = ({ method }: FastifyRequest): boolean => readMethods.has(method)

/**
 * Whether a page of another origin made the browser send the request. Such a page must not write with the rights of the browser: no key is
 * needed on the loopback interface, and browsers cache passwords. Programs send neither of these headers.
 */
export const isCrossOrigin = ({ headers }: FastifyRequest): boolean => {
  const { origin, host = '', 'sec-fetch-site': site } = headers
  if (typeof site === 'string' && site !== 'same-origin' && site !== 'none') return true
  if (origin === undefined) return false
  return !URL.canParse(origin) || new URL(origin).host !== host.toLowerCase()
}

/** Whether a browser names the page that sends the request. Every browser does for requests that write. */
export const namesOrigin = ({ headers }: FastifyRequest): boolean =>
  headers.origin !== undefined || headers['sec-fetch-site'] !== undefined

/** Whether a browser reaches us by TLS: its page has an https address, or a proxy reports TLS. */
export const isSecure = ({ headers }: FastifyRequest): boolean =>
  headers.origin?.startsWith('https:') === true || headers['x-forwarded-proto'] === 'https'

/** Whether a browser opens a page, as opposed to a program or a script. */
export const isPageNavigation = ({ method, headers }: FastifyRequest): boolean =>
  (method === 'GET' || method === 'HEAD') && headers.accept?.includes('text/html') === true && headers.authorization === undefined

/** Whether the Host header of a request is a name of the loopback interface. */
export const isLoopbackHost = ({ headers }: FastifyRequest): boolean => {
  const name = (headers.host ?? '').toLowerCase().replace(/:\d*$/, '')
  return name === 'localhost' || name.endsWith('.localhost') || name === '[::1]' || /^127(\.\d{1,3}){3}$/.test(name)
}
