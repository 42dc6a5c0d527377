import { type Schemas, session } from './api.ts'
import { useShared } from './state.ts'

/** A scope of a key. */
export type Scope = Schemas['Session']['scopes'][number]

/** Rights that an action or a view needs: a scope; with `all` also a key that is bound to no seller. */
export type Needs = readonly [scope: Scope, concerns?: 'all']

const labels: Readonly<Record<Scope, string>> = {
  read: 'read',
  'events:write': 'post events',
  propose: 'propose events',
  operate: 'operate',
}

/** The scopes as text, such as `read and operate`. */
const formatScopes = (scopes: readonly Scope[]): string => scopes.map((scope) => labels[scope]).join(' and ')

/**
 * The rights that the session lacks, as a sentence; null: none. The daemon checks rights itself; the console only hides actions that would be
 * refused.
 */
export const findMissingRights = (
  { scopes, sellers }: Pick<Schemas['Session'], 'scopes' | 'sellers'>,
  [scope, concerns]: Needs,
) => {
  if (!scopes.includes(scope))
    return `This needs the right to ${labels[scope]}, which your key does not have: it may ${formatScopes(scopes)}.`
  return concerns === 'all' && sellers !== null ? 'This needs a key that is not bound to sellers.' : null
}

/** A function that tells whether the session has these rights. Actions without rights are hidden. */
export const useMay = (): ((...needs: Needs) => boolean) => {
  const known = useShared(session)
  return (...needs) => known !== null && findMissingRights(known, needs) === null
}
