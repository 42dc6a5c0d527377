import { useMemo } from 'preact/hooks'
import { untilReleased } from './press.ts'
import { createState, useShared } from './state.ts'

/** Time without another key press after which typed text is applied, in milliseconds. */
const typingMs = 250

const here = (): string => `${location.pathname}${location.search}`
const address = createState(here())

/** Whether the console shows this address itself, without loading another page. */
const isConsoleAddress = (url: URL): boolean =>
  url.origin === location.origin &&
  (url.pathname === '/' || url.pathname.startsWith('/console/')) &&
  !url.pathname.startsWith('/console/assets/')

/** Typed texts of filters that are not in the address yet, by parameter. */
const typed = new Map<string, string>()
let typing: ReturnType<typeof setTimeout> | undefined

/** Writes typed texts to the address; replaces the current entry of the browser's history. */
const writeTyped = (): void => {
  clearTimeout(typing)
  const at = currentAddress()
  const changes = [...typed].filter(([name, value]) => value !== (at.parameters.get(name) ?? ''))
  typed.clear()
  if (changes.length > 0) history.replaceState(null, '', withParameters(at, { cursor: '', ...Object.fromEntries(changes) }))
}

/** Applies typed texts now. */
export const applyTyped = (): void => {
  writeTyped()
  address.set(here())
}

/** Sets a parameter to typed text, after a short delay and not during a press of the pointer. */
export const typeParameter = (name: string, value: string): void => {
  typed.set(name, value)
  clearTimeout(typing)
  typing = setTimeout(() => void untilReleased().then(applyTyped), typingMs)
}

/** Discards the typed text of a parameter, because it is not a complete value. */
export const discardTyped = (name: string): void => void typed.delete(name)

/** Whether a parameter has typed text that is not in the address yet. */
export const isTyped = (name: string): boolean => typed.has(name)

/** Opens an address of the console. `state` is stored with the entry of the browser's history. */
export const navigate = (to: string, { replace = false, state = null }: { replace?: boolean; state?: unknown } = {}): void => {
  // Navigating back restores the typed filters.
  writeTyped()
  if (replace) history.replaceState(state, '', to)
  else history.pushState(state, '', to)
  address.set(here())
}

/** The link of the row of a list that was pressed; null: another control of the row was pressed, or its text is selected. */
const findRowLink = (target: Element): HTMLAnchorElement | null => {
  if (target.closest('button, input, select, textarea, label, summary, details, dialog') !== null) return null
  if (getSelection()?.isCollapsed === false) return null
  return target.closest('table.rows > tbody > tr')?.querySelector<HTMLAnchorElement>('a:not([download])') ?? null
}

/** Makes links, and the rows of lists, work without loading the page. */
export const startRouter = (): void => {
  addEventListener('popstate', () => {
    // The browser has left the page of the typed text.
    clearTimeout(typing)
    typed.clear()
    address.set(here())
  })
  document.addEventListener('click', (click) => {
    if (click.defaultPrevented || click.button !== 0 || !(click.target instanceof Element)) return
    const pressed = click.target.closest('a')
    const link = pressed ?? findRowLink(click.target)
    const isForNewTab = click.metaKey || click.ctrlKey
    if (isForNewTab && pressed === null && link !== null) open(link.href, '_blank', 'noopener')
    if (isForNewTab || click.shiftKey || click.altKey) return
    if (link === null || link.target !== '' || link.hasAttribute('download')) return
    const url = new URL(link.href)
    if (!isConsoleAddress(url) || link.getAttribute('href')?.startsWith('#') === true) return
    click.preventDefault()
    navigate(`${url.pathname}${url.search}`)
  })
}

/** The address of the page. */
export interface Address {
  readonly path: string
  readonly parameters: URLSearchParams
}

const parse = (text: string): Address => {
  const { pathname, searchParams } = new URL(text, location.origin)
  return { path: pathname, parameters: searchParams }
}

const currentAddress = (): Address => parse(here())

/** The current address, updated by every navigation. */
export const useAddress = (): Address => {
  const text = useShared(address)
  return useMemo(() => parse(text), [text])
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

/** The parameters with these names that are set. */
export const readParameters = <Name extends string>(
  { parameters }: Address,
  names: readonly Name[],
): { [N in Name]?: string } => {
  const found: { [N in Name]?: string } = {}
  for (const name of names) {
    const value = parameters.get(name)
    if (value !== null && value !== '') found[name] = value
  }
  return found
}

/** A parameter with one of these values; undefined: it has another value or none. */
export const readChoice = <Value extends string>(
  { parameters }: Address,
  name: string,
  values: readonly Value[],
): Value | undefined => values.find((value) => value === parameters.get(name))

/** Values of a parameter that is a flag. */
export const flags = ['true', 'false'] as const

/** The parameters that have one of their allowed values. */
export const readChoices = <Choices extends Readonly<Record<string, string>>>(
  at: Address,
  values: { readonly [Name in keyof Choices]: readonly Choices[Name][] },
): Partial<Choices> => {
  const found: Partial<Choices> = {}
  for (const name in values) {
    const value = readChoice(at, name, values[name])
    if (value !== undefined) found[name] = value
  }
  return found
}

/** Changes parameters of the current address, and opens the first page. */
export const setParameters = (changes: Readonly<Record<string, string>>): void => {
  writeTyped()
  navigate(withParameters(currentAddress(), { cursor: '', ...changes }))
}

const notFilters: readonly string[] = ['cursor', 'sort', 'show']

/** Names of the set parameters that filter a list; not the page, the order, or the part of a view. */
export const listFilters = ({ parameters }: Address): readonly string[] =>
  [...parameters].flatMap(([name, value]) => (value === '' || notFilters.includes(name) ? [] : [name]))

/** The address of the first page without filters. */
export const withoutFilters = (at: Address): string =>
  withParameters(
    at,
    Object.fromEntries([...at.parameters.keys()].flatMap((name) => (name === 'sort' || name === 'show' ? [] : [[name, '']]))),
  )

/** The parts of a path for a pattern such as `/console/orders/:id`; null: the path does not match. */
export const matchPath = (pattern: string, path: string): Readonly<Record<string, string>> | null => {
  const expected = pattern.split('/')
  const actual = path.replace(/(.)\/$/, '$1').split('/')
  if (expected.length !== actual.length) return null
  const found: Record<string, string> = {}
  for (const [index, part] of expected.entries()) {
    const value = actual[index] ?? ''
    if (part.startsWith(':')) found[part.slice(1)] = decodeURIComponent(value)
    else if (part !== value) return null
  }
  return found
}
