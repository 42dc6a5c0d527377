import { type ComponentChildren, toChildArray, type VNode } from 'preact'
import { useEffect, useId, useRef, useState } from 'preact/hooks'
import { findDayStart, formatDay, formatLocal, formatTimeOfDay } from '../lib/format.ts'
import { type Address, applyTyped, discardTyped, isTyped, setParameters, typeParameter } from '../lib/router.ts'
import { useSellerIds } from '../lib/shared-queries.ts'

type Options = readonly (readonly [value: string, text: string])[]

/** What {@link Filters} reads of the fields that it contains. */
interface FieldProps {
  readonly name: string
  readonly label: string
  readonly options?: Options
}

const readField = (child: VNode<Partial<FieldProps>> | string | number): readonly FieldProps[] => {
  if (typeof child !== 'object') return []
  const { name = '', label = '', options } = child.props
  if (child.type === SellerFilter) return [{ name: 'sellerId', label: 'Seller' }]
  if (child.type !== PeriodFilter) return [{ name, label, ...(options === undefined ? {} : { options }) }]
  const { from, before } = namePeriod(name, label)
  return [from, before]
}

/** A filter that is set, with a button that removes it. */
const Chip = ({ field: { name, label, options }, value }: { readonly field: FieldProps; readonly value: string }) => {
  const time = /^\d{4}-\d\d-\d\dT/.test(value) ? new Date(value) : null
  const text = time === null ? (options?.find(([one]) => one === value)?.[1] ?? value) : formatLocal(time, new Date())
  return (
    <li class="chip">
      {label}: {text}
      <button type="button" class="plain" onClick={() => setParameters({ [name]: '' })}>
        <span class="visually-hidden">Remove the filter {label}</span>
        <span aria-hidden="true">×</span>
      </button>
    </li>
  )
}

/** Filters of a view, stored in its address. On a phone the first field is shown, and a button for the others. */
export const Filters = ({ at, children }: { readonly at: Address; readonly children: ComponentChildren }) => {
  const [isOpen, setOpen] = useState(false)
  const fields = toChildArray(children)
  const set = fields.flatMap(readField).flatMap((field) => {
    const value = at.parameters.get(field.name) ?? ''
    return value === '' ? [] : [<Chip key={field.name} field={field} value={value} />]
  })
  return (
    <form class={isOpen ? 'filters open' : 'filters'} aria-label="Filters" onSubmit={(submit) => submit.preventDefault()}>
      {fields}
      {fields.length > 1 && (
        <button type="button" class="more" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
          {isOpen ? 'Fewer filters' : 'More filters'}
        </button>
      )}
      {set.length > 0 && (
        <ul class="chips" aria-label="Filters that are set">
          {set}
        </ul>
      )}
    </form>
  )
}

/** A field whose value is applied shortly after typing, and immediately with Enter. */
const AppliedField = ({
  at,
  name,
  label,
  placeholder = '',
  type = 'search',
  value,
  note = '',
  pattern,
  toParameter = (text) => text,
}: {
  readonly at: Address
  readonly name: string
  readonly label: string
  readonly placeholder?: string
  readonly type?: 'search' | 'date'
  readonly value: string
  /** The part of the value that the field does not show. */
  readonly note?: string
  /** Pattern of a complete value; an incomplete value is not applied. */
  readonly pattern?: string | undefined
  /** Converts the text of the field to the parameter of the address. */
  readonly toParameter?: (text: string) => string
}) => {
  const id = useId()
  const field = useRef<HTMLInputElement>(null)
  // Runs for each new address, even with the same value, because text that was typed since then may not be part of it.
  useEffect(() => {
    if (field.current !== null && !isTyped(name) && field.current.value.trim() !== value) field.current.value = value
  }, [at, name, value])
  const shared = {
    id,
    ref: field,
    defaultValue: value,
    placeholder,
    onInput: ({ currentTarget }: { readonly currentTarget: HTMLInputElement }) => {
      if (currentTarget.validity.valid) typeParameter(name, toParameter(currentTarget.value.trim()))
      else discardTyped(name)
    },
    onKeyDown: (key: KeyboardEvent) => {
      if (key.key === 'Enter' && field.current?.reportValidity() === true) applyTyped()
    },
    ...(note === '' ? {} : { 'aria-describedby': `${id}-note` }),
  }
  return (
    <div class="field">
      <label for={id}>{label}</label>
      {type === 'date' ? <input {...shared} type="date" /> : <input {...shared} type="search" pattern={pattern} />}
      {note !== '' && (
        <p id={`${id}-note`} class="faint">
          {note}
        </p>
      )}
    </div>
  )
}

/** A filter by text, applied while it is typed. `pattern`: only matching text is applied. */
export const TextFilter = ({
  at,
  name,
  label,
  placeholder,
  pattern,
}: {
  readonly at: Address
  readonly name: string
  readonly label: string
  readonly placeholder?: string
  readonly pattern?: string
}) => (
  <AppliedField
    at={at}
    name={name}
    label={label}
    placeholder={placeholder ?? ''}
    pattern={pattern}
    value={at.parameters.get(name) ?? ''}
  />
)

/** A filter by a day of the viewer's zone. The address contains the beginning of the day as an instant, which is the same for every viewer. */
const DayFilter = ({ at, name, label }: { readonly at: Address; readonly name: string; readonly label: string }) => {
  const time = new Date(at.parameters.get(name) ?? '')
  const isSet = !Number.isNaN(time.getTime())
  const isWhole = isSet && findDayStart(formatDay(time))?.getTime() === time.getTime()
  return (
    <AppliedField
      at={at}
      name={name}
      type="date"
      label={label}
      value={isSet ? formatDay(time) : ''}
      // The beginning of a day in another zone is not the beginning of a day here.
      note={isSet && !isWhole ? `at ${formatTimeOfDay(time)}` : ''}
      toParameter={(day) => findDayStart(day)?.toISOString() ?? ''}
    />
  )
}

/** The two fields of a period. */
const namePeriod = (name: string, label: string) => ({
  from: { name: name === '' ? 'from' : `${name}From`, label: label === '' ? 'From' : `${label} from` },
  before: { name: name === '' ? 'to' : `${name}To`, label: label === '' ? 'Before' : `${label} before` },
})

/** A filter by a period of days, `<name>From` and `<name>To` in the address; without a name `from` and `to`. */
export const PeriodFilter = ({
  at,
  name = '',
  label = '',
}: {
  readonly at: Address
  readonly name?: string
  /** The event that the period is about, such as `Ordered`. */
  readonly label?: string
}) => {
  const { from, before } = namePeriod(name, label)
  return (
    <>
      <DayFilter at={at} {...from} />
      <DayFilter at={at} {...before} />
    </>
  )
}

/** Options of a {@link ChoiceFilter} whose texts are their values, after an option for no filter. */
export const buildOptions = (values: readonly string[], none = 'All'): Options => [
  ['', none],
  ...values.map((value) => [value, value] as const),
]

/** A filter by one of several values; the first option is the default and is not in the address. */
export const ChoiceFilter = ({
  at,
  name,
  label,
  options,
}: {
  readonly at: Address
  readonly name: string
  readonly label: string
  readonly options: Options
}) => {
  const id = useId()
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <select
        id={id}
        value={at.parameters.get(name) ?? ''}
        onChange={(change) => setParameters({ [name]: change.currentTarget.value })}
      >
        {options.map(([value, text]) => (
          <option key={value} value={value}>
            {text}
          </option>
        ))}
      </select>
    </div>
  )
}

/** A filter by seller: a choice while they are few, else a text. With a single seller there is none. */
export const SellerFilter = ({ at }: { readonly at: Address }) => {
  const { ids, isComplete } = useSellerIds()
  if (isComplete && ids.length <= 1) return null
  return isComplete ? (
    <ChoiceFilter at={at} name="sellerId" label="Seller" options={buildOptions(ids)} />
  ) : (
    <TextFilter at={at} name="sellerId" label="Seller" />
  )
}
