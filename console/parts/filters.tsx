import type { ComponentChildren } from 'preact'
import { useEffect, useId, useRef } from 'preact/hooks'
import { findDayStart, formatDay, formatTimeOfDay } from '../lib/format.ts'
import { type Address, applyTyped, discardTyped, isTyped, setParameters, typeParameter } from '../lib/router.ts'

/** Filters of a view, stored in its address. */
export const Filters = ({ children }: { readonly children: ComponentChildren }) => (
  <form class="filters" aria-label="Filters" onSubmit={(submit) => submit.preventDefault()}>
    {children}
  </form>
)

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
}) => (
  <>
    <DayFilter at={at} name={name === '' ? 'from' : `${name}From`} label={label === '' ? 'From' : `${label} from`} />
    <DayFilter at={at} name={name === '' ? 'to' : `${name}To`} label={label === '' ? 'Before' : `${label} before`} />
  </>
)

/** Options of a {@link ChoiceFilter} whose texts are their values, after an option for no filter. */
export const buildOptions = (values: readonly string[], none = 'All'): readonly (readonly [value: string, text: string])[] => [
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
  readonly options: readonly (readonly [value: string, text: string])[]
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
