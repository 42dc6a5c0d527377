import { type Schemas, session } from './api.ts'
import { useShared } from './state.ts'

/** What a key may be used for. */
export type Scope = Schemas['Session']['scopes'][number]

/** What something needs of a key: a scope, and, where it concerns the daemon as a whole, that it is bound to no seller. */
export type Needs = readonly [scope: Scope, concerns?: 'all']

const words: Readonly<Record<Scope, string>> = { read: 'read', 'events:write': 'post events', operate: 'operate' }

/** The scopes in words, as `read and operate`. */
const wordsOf = (scopes: readonly Scope[]): string => scopes.map((scope) => words[scope]).join(' and ')

/**
 * What the session lacks for something, as a sentence; null: nothing. The daemon decides for itself: this is for what is not to be offered in
 * vain.
 */
export const lackOf = ({ scopes, sellers }: Pick<Schemas['Session'], 'scopes' | 'sellers'>, [scope, concerns]: Needs) => {
  if (!scopes.includes(scope))
    return `This needs the right to ${words[scope]}, which your key does not have: it may ${wordsOf(scopes)}.`
  return concerns === 'all' && sellers !== null ? 'This needs a key that is not bound to sellers.' : null
}

/** Whether whoever is signed in may do something; what they may not do is not shown. */
export const useMay = (): ((...needs: Needs) => boolean) => {
  const known = useShared(session)
  return (...needs) => known !== null && lackOf(known, needs) === null
}
