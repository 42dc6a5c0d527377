import { type Scope, scopes } from '../../domain/values/keys.ts'
import type { ActiveKey } from '../../store/keys/api-keys.ts'
import type { Actor } from '../../store/keys/audit.ts'
import type { SellerFilter } from '../../store/sellers/seller-filter.ts'
import { Problem } from '../problems.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** The caller; set by the guard before anything else runs. */
    caller: Caller
  }
}

/** The sender of a request, and its rights. */
export interface Caller {
  /** Name of the key; null: the request names the actor. */
  readonly name: string | null
  /** Id of the key, or `API_KEY`; null: no key was needed. */
  readonly keyId: string | null
  readonly scopes: readonly Scope[]
  /** Sellers that the key is bound to; null: all. */
  readonly sellers: readonly string[] | null
  /** Whether the body must be signed. */
  readonly mustSign: boolean
  /** Signed in at the console, or a program that can propose events: buyers' data is masked until it is requested, and the request is audited. */
  readonly session: boolean
  /** Whether the key is still accepted; for long responses. */
  isStillAccepted(): Promise<boolean>
}

/** The actor of a request without a named key that names no actor. */
export const defaultActor = 'operator'

/** `keyId` of `API_KEY`. */
export const apiKeyId = 'API_KEY'

/** The caller with `API_KEY`, or, if none is set, any caller on this machine: all scopes, all sellers. */
export const operatorCaller = (keyId: typeof apiKeyId | null): Caller => ({
  name: null,
  keyId,
  scopes,
  sellers: null,
  mustSign: false,
  session: false,
  isStillAccepted: async () => true,
})

/** The caller with a named key. */
export const buildKeyCaller = (
  { id, name, scopes: granted, sellerIds }: ActiveKey,
  isStillAccepted: Caller['isStillAccepted'],
): Caller => ({
  name,
  keyId: id,
  scopes: granted,
  sellers: sellerIds,
  mustSign: false,
  session: granted.includes('propose'),
  isStillAccepted,
})

/** Any caller of an open route. */
export const anonymousCaller: Caller = { ...operatorCaller(null), scopes: [], sellers: [] }

/** A caller without a key that must sign its events. */
export const signingCaller: Caller = { ...operatorCaller(null), scopes: ['events:write'], mustSign: true }

/**
 * The actor for the audit. With a named key: the name of the key, on behalf of the actor that the request names. Otherwise: the actor that the request
 * names.
 */
export const resolveActor = ({ name, keyId }: Caller, named: string | null | undefined): Actor => {
  if (name === null) return { actor: named ?? defaultActor, keyId }
  return { actor: name, keyId, onBehalfOf: named === undefined || named === null || named === name ? null : named }
}

/** Whether the caller may read a seller's data. `sellerId` null: an unknown seller. */
export const mayAccessSeller = ({ sellers }: Caller, sellerId: string | null): boolean =>
  sellers === null || (sellerId !== null && sellers.includes(sellerId))

const buildSellerProblem = ({ name, sellers }: Caller, reason: string): Problem =>
  new Problem('seller-refused', { detail: `The key ${name ?? ''} is bound to ${(sellers ?? []).join(', ')}: ${reason}.` })

/** @throws Problem when the caller may not act for the seller */
export const requireSeller = (caller: Caller, sellerId: string): void => {
  if (!mayAccessSeller(caller, sellerId)) throw buildSellerProblem(caller, `it may not act for seller ${sellerId}`)
}

/** @throws Problem when the caller is bound to sellers */
export const requireAllSellers = (caller: Caller): void => {
  if (caller.sellers !== null) throw buildSellerProblem(caller, 'this concerns all sellers')
}

/** The sellers of a list: the requested one, or all that the caller may access. @throws Problem when the caller may not access the requested one */
export const resolveSellerFilter = (caller: Caller, named: string | null | undefined): SellerFilter => {
  if (named === undefined || named === null) return caller.sellers
  requireSeller(caller, named)
  return named
}

/** The sellers that the caller may access, in the given order. */
export const filterAccessible = (caller: Caller, sellerIds: readonly string[]): readonly string[] =>
  sellerIds.filter((sellerId) => mayAccessSeller(caller, sellerId))
