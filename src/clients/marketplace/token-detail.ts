import { z } from 'zod'
import type { Call } from '../http/call.ts'
import type { CallOptions } from '../http/call-options.ts'
import type { Operations } from '../http/endpoint.ts'
import { perMinute } from '../http/operation.ts'
import { endpoint, type Host } from './endpoint.ts'

/** The details of the seller's own access token. */
export interface TokenDetailClient {
  /**
   * Scopes of the token that do not have full access, by their names, such as `orders: view_only`. Null: the marketplace lists none.
   *
   * @throws MarketplaceFailure
   */
  findRestrictedScopes(options: CallOptions): Promise<Readonly<Record<string, string>> | null>
}

/** The limit is not published. */
const operations = {
  detail: { name: 'token.detail', limit: perMinute(20), payloadKeys: ['scopes', 'is_valid'] },
} as const satisfies Operations

/** Public facts, section 1.1. */
const wireTokenDetail = z.looseObject({ scopes: z.record(z.string(), z.string()).nullish() })

const createTokenDetailClient = ({ caller, connection }: Host): TokenDetailClient | null => {
  const { tokenDetailPath } = connection.profile
  if (tokenDetailPath === null) return null
  const call: Call = { operation: operations.detail, method: 'GET', target: tokenDetailPath, body: null, recordsAt: [] }
  return {
    async findRestrictedScopes(options) {
      const { envelope } = await caller.call(call, options)
      const scopes = wireTokenDetail.safeParse(envelope).data?.scopes ?? null
      if (scopes === null) return null
      return Object.fromEntries(Object.entries(scopes).filter(([, access]) => access !== 'full_access'))
    },
  }
}

/** Details of an access token; a marketplace whose profile names no path does not have them. They are no record. */
export const tokenDetailEndpoint = endpoint({
  host: 'marketplace',
  operations,
  read: (rawText) => ({ ok: false, key: null, fault: 'details of a token are no record', rawText }),
  create: createTokenDetailClient,
})
