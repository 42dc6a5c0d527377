import { Misused } from '../../api-client/errors.ts'
import type { ProofMode } from '../../clients/marketplace/notifications/proof-modes.ts'
import type { NotificationProof } from '../../clients/marketplace/notifications/subscriptions.ts'
import type { SellerSettings } from '../../config/config.ts'

/** A path of the daemon that accepts notifications; its group is the encoded seller id. */
const route = /\/v1\/notifications\/([^/]+)$/

/** Whether notifications to this address are about a seller of a daemon, this one or another. */
export const isDaemonUrl = (url: string): boolean => URL.canParse(url) && route.test(new URL(url).pathname)

const isLoopback = (hostname: string): boolean => /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/.test(hostname)

/**
 * The address for notifications of a seller: `--url` is the public address of the daemon, with or without the path.
 * @throws Misused
 */
export const buildNotificationUrl = (given: string, sellerId: string): string => {
  const url = URL.canParse(given) ? new URL(given) : null
  const isAccepted = url !== null && (url.protocol === 'https:' || (url.protocol === 'http:' && isLoopback(url.hostname)))
  if (!isAccepted || url.username !== '' || url.password !== '' || url.search !== '' || url.hash !== '') {
    throw new Misused('--url is not the address of the daemon; accepted: https://…, without user, query and fragment')
  }
  const base = `${url.origin}${url.pathname}`.replace(/\/+$/, '')
  const named = route.exec(new URL(base).pathname)?.[1]
  if (named === undefined) return `${base}/v1/notifications/${encodeURIComponent(sellerId)}`
  if (decodeURIComponent(named) === sellerId) return base
  throw new Misused(`--url names seller ${decodeURIComponent(named)}, not ${sellerId}; omit the path, or use --seller`)
}

/**
 * How the marketplace proves notifications to this address.
 * @throws Misused when the secret of the seller is missing or does not fit the mode
 */
export const buildProof = (seller: SellerSettings, mode: ProofMode, url: string): NotificationProof => {
  const { sellerId, notificationsSecret: secret } = seller
  if (secret === null) {
    throw new Misused(
      `seller ${sellerId} has no secret; set NOTIFICATIONS_SECRET, or notificationsSecret in SELLERS_FILE, as the daemon has it`,
    )
  }
  if (mode === 'hmac') return { mode, secret }
  const colon = secret.indexOf(':')
  if (colon < 1)
    throw new Misused(`--mode ${mode} needs a NOTIFICATIONS_SECRET of the form user:password; seller ${sellerId} has another one`)
  const [user, password] = [secret.slice(0, colon), secret.slice(colon + 1)]
  if (mode === 'basic') return { mode, user, password }
  return { mode, tokenUrl: `${url}/token`, clientId: user, clientSecret: password }
}
