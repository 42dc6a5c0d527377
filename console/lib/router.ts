import { useMemo } from 'preact/hooks'
import { createState, useShared } from './state.ts'

const here = (): string => `${location.pathname}${location.search}`
const address = createState(here())

/** Whether the page itself shows this address, and the browser must not load it. */
const isOurs = (url: URL): boolean =>
  url.origin === location.origin &&
  (url.pathname === '/' || url.pathname.startsWith('/console/')) &&
  !url.pathname.startsWith('/console/assets/')

/** Goes to an address of the console. `state` stays with the entry of the browser's history. */
export const navigate = (to: string, { replace = false, state = null }: { replace?: boolean; state?: unknown } = {}): void => {
  if (replace) history.replaceState(state, '', to)
  else history.pushState(state, '', to)
  address.set(here())
}

/** Makes links work without loading the page. */
export const startRouter = (): void => {
  addEventListener('popstate', () => address.set(here()))
  document.addEventListener('click', (click) => {
    if (click.defaultPrevented || click.button !== 0 || click.metaKey || click.ctrlKey || click.shiftKey || click.altKey) return
    const link = click.target instanceof Element ? click.target.closest('a') : null
    if (link === null || link.target !== '' || link.hasAttribute('download')) return
    const url = new URL(link.href)
    if (!isOurs(url) || link.getAttribute('href')?.startsWith('#') === true) return
    click.preventDefault()
    navigate(`${url.pathname}${url.search}`)
  })
}

/** Where the page is. */
export interface Address {
  readonly path: string
  readonly parameters: URLSearchParams
}

/** The present address; follows every navigation. */
export const useAddress = (): Address => {
  const text = useShared(address)
  return useMemo(() => {
    const url = new URL(text, location.origin)
    return { path: url.pathname, parameters: url.searchParams }
  }, [text])
}

/** An address with some parameters changed; an empty value removes one. */
export const withParameters = ({ path, parameters }: Address, changes: Readonly<Record<string, string>>): string => {
  const next = new URLSearchParams(parameters)
  for (const [name, value] of Object.entries(changes)) {
    if (value === '') next.delete(name)
    else next.set(name, value)
  }
  const query = next.toString()
  return query === '' ? path : `${path}?${query}`
}

/** Those of some parameters that are set. */
export const given = <Name extends string>({ parameters }: Address, names: readonly Name[]): { [N in Name]?: string } => {
  const found: { [N in Name]?: string } = {}
  for (const name of names) {
    const value = parameters.get(name)
    if (value !== null && value !== '') found[name] = value
  }
  return found
}

/** A parameter that is one of these values; undefined: it is none of them. */
export const oneOf = <Value extends string>({ parameters }: Address, name: string, values: readonly Value[]): Value | undefined =>
  values.find((value) => value === parameters.get(name))

/** Values of a parameter that is a flag. */
export const flags = ['true', 'false'] as const

/** Those of some parameters that are one of their values. */
export const chosen = <Choices extends Readonly<Record<string, string>>>(
  at: Address,
  values: { readonly [Name in keyof Choices]: readonly Choices[Name][] },
): Partial<Choices> => {
  const found: Partial<Choices> = {}
  for (const name in values) {
    const value = oneOf(at, name, values[name])
    if (value !== undefined) found[name] = value
  }
  return found
}

/** Changes parameters of the present address, and begins at the first page. */
export const setParameters = (at: Address, changes: Readonly<Record<string, string>>, replace = false): void =>
  navigate(withParameters(at, { cursor: '', ...changes }), { replace })

const notFilters: readonly string[] = ['cursor', 'sort', 'show']

/** Names of the parameters that filter a list, and not: which page and part of a view is shown, in which order. */
export const filtersOf = ({ parameters }: Address): readonly string[] =>
  [...parameters].flatMap(([name, value]) => (value === '' || notFilters.includes(name) ? [] : [name]))

/** The address without its filters, at the first page. */
export const withoutFilters = (at: Address): string =>
  withParameters(
    at,
    Object.fromEntries([...at.parameters.keys()].flatMap((name) => (name === 'sort' || name === 'show' ? [] : [[name, '']]))),
  )

/** Parts of a path that fit a pattern such as `/console/orders/:id`; null: it does not fit. */
export const matchPath = (pattern: string, path: string): Readonly<Record<string, string>> | null => {
  const wanted = pattern.split('/')
  const given = path.replace(/(.)\/$/, '$1').split('/')
  if (wanted.length !== given.length) return null
  const found: Record<string, string> = {}
  for (const [index, part] of wanted.entries()) {
    const value = given[index] ?? ''
    if (part.startsWith(':')) found[part.slice(1)] = decodeURIComponent(value)
    else if (part !== value) return null
  }
  return found
}
