import { useEffect, useRef, useState } from 'preact/hooks'
import { api, readAnswer, type Schemas } from '../lib/api.ts'
import { errorMessage } from '../lib/errors.ts'
import { navigate } from '../lib/router.ts'
import { commandAddress } from './commands.tsx'
import { eventAddress } from './events.tsx'
import { orderAddress } from './orders.tsx'

type Found = Schemas['Found']

/** Time without another key press after which the text is searched, in milliseconds. */
const typingMs = 120

const kindLabels: Readonly<Record<Found['kind'], string>> = {
  order: 'Order',
  'customer-order': 'Customer order',
  'tracking-number': 'Tracking number',
  sku: 'SKU',
  command: 'Command',
  event: 'Event',
}

const findAddress = ({ kind, text, sellerId, purchaseOrderId, source }: Found): string => {
  if (kind === 'command') return commandAddress(text)
  if (kind === 'event') return eventAddress({ source: source ?? '', id: text })
  if (sellerId !== null && purchaseOrderId !== null) return orderAddress(sellerId, purchaseOrderId)
  return `/console/orders?${new URLSearchParams({ sku: text, ...(sellerId === null ? {} : { sellerId }) })}`
}

/** What belongs to the found text. */
const describe = ({ kind, text, purchaseOrderId, source, sellerId }: Found): string =>
  [
    purchaseOrderId !== null && purchaseOrderId !== text ? `order ${purchaseOrderId}` : '',
    kind === 'event' ? (source ?? '') : (sellerId ?? ''),
  ]
    .filter((part) => part !== '')
    .join(', ')

interface Results {
  readonly text: string
  readonly items: readonly Found[]
  readonly problem: string
}

const search = async (text: string): Promise<Results> => {
  try {
    const { items } = await readAnswer(api.GET('/v1/search', { params: { query: { q: text } } }))
    return { text, items, problem: '' }
  } catch (error) {
    return { text, items: [], problem: errorMessage(error) }
  }
}

/** The results of a text; null: it is empty, or no search has answered yet. */
const useResults = (text: string) => {
  const [results, setResults] = useState<Results | null>(null)
  const newest = useRef('')
  const load = async (): Promise<Results> => {
    newest.current = text
    const found = await search(text)
    if (newest.current === found.text) setResults(found)
    return found
  }
  useEffect(() => {
    newest.current = ''
    if (text === '') {
      setResults(null)
      return
    }
    const timer = setTimeout(() => void load(), typingMs)
    return () => clearTimeout(timer)
  }, [text])
  return { results, load }
}

/** Focuses the field by `/`, unless another field has the focus, and by Ctrl-K. */
const useShortcut = (focus: () => void): void => {
  useEffect(() => {
    const onKeyDown = (key: KeyboardEvent): void => {
      const isTyping = key.target instanceof HTMLElement && key.target.matches('input, select, textarea')
      const isSlash = key.key === '/' && !isTyping && !key.ctrlKey && !key.metaKey && !key.altKey
      const isControlK = key.key.toLowerCase() === 'k' && (key.ctrlKey || key.metaKey) && !key.altKey
      if ((!isSlash && !isControlK) || document.querySelector('dialog[open]') !== null) return
      key.preventDefault()
      focus()
    }
    document.addEventListener('keydown', onKeyDown)
    return () => document.removeEventListener('keydown', onKeyDown)
  }, [])
}

const Options = ({
  items,
  chosen,
  open,
}: {
  readonly items: readonly Found[]
  readonly chosen: number
  readonly open: (item: Found) => void
}) => (
  <div id="search-results" role="listbox" aria-label="Found">
    {items.map((item, index) => (
      // biome-ignore lint/a11y/useKeyWithClickEvents: the keys are those of the field
      // biome-ignore lint/a11y/useFocusableInteractive: the field keeps the focus and names the chosen option
      <div
        key={`${item.kind} ${item.text} ${item.sellerId} ${item.purchaseOrderId} ${item.source}`}
        id={`search-result-${index}`}
        role="option"
        aria-selected={index === chosen}
        onPointerDown={(press) => press.preventDefault()}
        onClick={() => open(item)}
      >
        <span class="kind">{kindLabels[item.kind]}</span> <span class="number">{item.text}</span>{' '}
        <span class="faint">{describe(item)}</span>
      </div>
    ))}
  </div>
)

/** The field has a list of results beside it, which is no `datalist`. `chosen`: the chosen result; null: no list is shown. */
const describeList = (chosen: number | null) =>
  ({
    role: 'combobox',
    list: undefined,
    'aria-autocomplete': 'list',
    'aria-expanded': chosen !== null,
    ...(chosen === null ? {} : { 'aria-controls': 'search-results', 'aria-activedescendant': `search-result-${chosen}` }),
  }) as const

/** Finds everything that has an id, from every page. Enter opens the chosen result, or the first one. */
export const Search = () => {
  const field = useRef<HTMLInputElement>(null)
  const [text, setText] = useState('')
  const [isOpen, setOpen] = useState(false)
  const [chosen, setChosen] = useState(0)
  const { results, load } = useResults(text)
  useShortcut(() => field.current?.select())
  const items = results?.items ?? []
  const isShown = isOpen && text !== '' && results !== null
  const open = (item: Found): void => {
    setOpen(false)
    setText('')
    if (field.current !== null) field.current.value = ''
    field.current?.blur()
    navigate(findAddress(item))
  }
  const openChosen = async (): Promise<void> => {
    const isCurrent = results?.text === text
    const found = isCurrent ? results : await load()
    const item = found.items[isCurrent ? chosen : 0]
    if (item !== undefined) open(item)
  }
  const onKeyDown = (key: KeyboardEvent): void => {
    const step = key.key === 'ArrowDown' ? 1 : key.key === 'ArrowUp' ? -1 : 0
    if (step !== 0 && items.length > 0) {
      key.preventDefault()
      setOpen(true)
      setChosen((chosen + step + items.length) % items.length)
    } else if (key.key === 'Enter' && text !== '') void openChosen()
    else if (key.key === 'Escape') {
      setOpen(false)
      field.current?.blur()
    }
  }
  return (
    <search class="finder">
      <input
        ref={field}
        type="search"
        {...describeList(isShown && items.length > 0 ? chosen : null)}
        aria-label="Find anything"
        aria-keyshortcuts="/ Control+K"
        autocomplete="off"
        spellcheck={false}
        placeholder="Order, SKU, parcel, event, command"
        onInput={({ currentTarget }) => {
          setText(currentTarget.value.trim())
          setChosen(0)
          setOpen(true)
        }}
        onKeyDown={onKeyDown}
        onFocus={() => setOpen(true)}
        onBlur={() => setOpen(false)}
      />
      <div class={isShown ? 'found' : 'found hidden'}>
        {isShown && items.length > 0 && <Options items={items} chosen={chosen} open={open} />}
        <p role="status">
          {isShown &&
            items.length === 0 &&
            (results.problem || `Nothing begins with ${results.text}, and no order ends with it.`)}
        </p>
      </div>
    </search>
  )
}
