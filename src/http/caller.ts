import { type Scope, scopes } from '../domain/keys.ts'
import type { Acting } from '../store/audit.ts'
import type { SellerFilter } from '../store/seller-filter.ts'
import { Problem } from './problems.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** Who sends the request; set by the guard before anything else runs. */
    caller: Caller
  }
}

/** Who sends a request, and what they may. */
export interface Caller {
  /** Name of the key; null: the client says itself who acts. */
  readonly name: string | null
  /** Id of the key, or `API_KEY`; null: no key was needed. */
  readonly keyId: string | null
  readonly scopes: readonly Scope[]
  /** Sellers that the key is bound to; null: all. */
  readonly sellers: readonly string[] | null
  /** Only a signature of the body admits it. */
  readonly mustSign: boolean
  /** Signed in at the console: buyers' data is shown only when it is asked for, which is audited. */
  readonly session: boolean
  /** Whether the key is still accepted: for answers that take long. */
  isStillAccepted(): Promise<boolean>
}

const accepted = async (): Promise<boolean> => true

/** Who acts with `API_KEY`, or where no key is needed, when the client does not say it. */
export const anOperator = 'operator'

/** `keyId` of `API_KEY`. */
export const apiKeyId = 'API_KEY'

/** Holder of `API_KEY`, or whoever is on this machine when none is set: everything, of all sellers. */
export const operatorCaller = (keyId: typeof apiKeyId | null): Caller => ({
  name: null,
  keyId,
  scopes,
  sellers: null,
  mustSign: false,
  session: false,
  isStillAccepted: accepted,
})

/** Anybody, at a route that is open. */
export const anybody: Caller = { ...operatorCaller(null), scopes: [], sellers: [] }

/** Somebody who has to sign events. */
export const signer: Caller = { ...operatorCaller(null), scopes: ['events:write'], mustSign: true }

/**
 * Who acts: the one that the key names, on behalf of whom the client names; with `API_KEY` or without a key whom the client names.
 */
export const actingAs = ({ name, keyId }: Caller, said: string | null | undefined): Acting => {
  if (name === null) return { actor: said ?? anOperator, keyId }
  return { actor: name, keyId, onBehalfOf: said === undefined || said === null || said === name ? null : said }
}

/** Whether the caller may know of a seller; null: a seller that is not known. */
export const coversSeller = ({ sellers }: Caller, sellerId: string | null): boolean =>
  sellers === null || (sellerId !== null && sellers.includes(sellerId))

const refusal = ({ name, sellers }: Caller, why: string): Problem =>
  new Problem('seller-refused', { detail: `The key ${name ?? ''} is bound to ${(sellers ?? []).join(', ')}: ${why}.` })

/** @throws Problem when the caller may not act for a seller that the request names */
export const requireSeller = (caller: Caller, sellerId: string): void => {
  if (!coversSeller(caller, sellerId)) throw refusal(caller, `it may not act for seller ${sellerId}`)
}

/** @throws Problem when the caller is bound to sellers */
export const requireAllSellers = (caller: Caller): void => {
  if (caller.sellers !== null) throw refusal(caller, 'this concerns all sellers')
}

/** Whose rows a list shows: those of the named seller, or of all that the caller may know of. @throws Problem */
export const sellersAsked = (caller: Caller, named: string | null | undefined): SellerFilter => {
  if (named === undefined || named === null) return caller.sellers
  requireSeller(caller, named)
  return named
}

/** Those of some sellers that the caller may know of. */
export const coveredOf = (caller: Caller, sellerIds: readonly string[]): readonly string[] =>
  sellerIds.filter((sellerId) => coversSeller(caller, sellerId))
