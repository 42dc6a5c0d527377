import type { IncomingHttpHeaders } from 'node:http'
import { Webhook, WebhookVerificationError } from 'standardwebhooks'
import { Problem } from '../problems.ts'

/**
 * Verifies the signature of a body (Standard Webhooks 1.0): made with any of the secrets, at most five minutes ago or
 * ahead. Comparisons take constant time. Throws when a secret is invalid.
 */
export const createSignatureCheck = (secrets: readonly string[]) => {
  const webhooks = secrets.map((secret) => new Webhook(secret))
  /** @throws Problem */
  return (headers: IncomingHttpHeaders, body: Buffer): void => {
    if (webhooks.length === 0) return
    const values: Record<string, string> = {}
    for (const name of ['webhook-id', 'webhook-timestamp', 'webhook-signature']) {
      const value = headers[name]
      if (typeof value !== 'string' || value === '') throw refuse(`The header ${name} is missing.`)
      values[name] = value
    }
    // The library would parse "12abc" as 12, and verify another text than the one sent.
    if (!/^\d{1,12}$/.test(values['webhook-timestamp'] ?? ''))
      throw refuse('The header webhook-timestamp is not a number of seconds.')
    let reason = ''
    for (const webhook of webhooks) {
      try {
        webhook.verify(body, values, { jsonParse: false })
        return
      } catch (error) {
        if (!(error instanceof WebhookVerificationError)) throw error
        reason = error.message
      }
    }
    throw refuse(`${reason}.`)
  }
}

const refuse = (detail: string): Problem => new Problem('invalid-signature', { detail })
