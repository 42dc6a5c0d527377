import type { ComponentChildren } from 'preact'
import { useEffect, useId, useRef } from 'preact/hooks'
import { beginningOf, dayOf, timeOf } from '../lib/format.ts'
import { type Address, setParameters } from '../lib/router.ts'

/** Filters of a view, which stand in its address. */
export const Filters = ({ children }: { readonly children: ComponentChildren }) => (
  <form class="filters" aria-label="Filters" onSubmit={(submit) => submit.preventDefault()}>
    {children}
  </form>
)

/** A field whose value is applied with Enter or when it is left. */
const AppliedField = ({
  label,
  placeholder = '',
  type = 'search',
  value,
  note = '',
  apply,
}: {
  readonly label: string
  readonly placeholder?: string
  readonly type?: 'search' | 'date'
  readonly value: string
  /** What the field does not show of it. */
  readonly note?: string
  readonly apply: (next: string) => void
}) => {
  const id = useId()
  const field = useRef<HTMLInputElement>(null)
  useEffect(() => {
    if (field.current !== null && field.current.value !== value) field.current.value = value
  }, [value])
  const read = (): void => {
    const next = field.current?.value.trim() ?? ''
    if (next !== value) apply(next)
  }
  const shared = {
    id,
    ref: field,
    defaultValue: value,
    placeholder,
    onChange: read,
    onKeyDown: (key: KeyboardEvent) => {
      if (key.key === 'Enter') read()
    },
    ...(note === '' ? {} : { 'aria-describedby': `${id}-note` }),
  }
  return (
    <div class="field">
      <label for={id}>{label}</label>
      {type === 'date' ? <input {...shared} type="date" /> : <input {...shared} type="search" />}
      {note !== '' && (
        <p id={`${id}-note`} class="faint">
          {note}
        </p>
      )}
    </div>
  )
}

/** A filter by text; applied with Enter or when the field is left. */
export const TextFilter = ({
  at,
  name,
  label,
  placeholder = '',
}: {
  readonly at: Address
  readonly name: string
  readonly label: string
  readonly placeholder?: string
}) => (
  <AppliedField
    label={label}
    placeholder={placeholder}
    value={at.parameters.get(name) ?? ''}
    apply={(next) => setParameters(at, { [name]: next })}
  />
)

/** A moment as a day of the viewer's zone; the address holds its beginning as an instant, which is the same moment for every viewer. */
const DayFilter = ({ at, name, label }: { readonly at: Address; readonly name: string; readonly label: string }) => {
  const moment = new Date(at.parameters.get(name) ?? '')
  const isSet = !Number.isNaN(moment.getTime())
  const isWhole = isSet && beginningOf(dayOf(moment))?.getTime() === moment.getTime()
  return (
    <AppliedField
      type="date"
      label={label}
      value={isSet ? dayOf(moment) : ''}
      // A day of somebody in another zone begins within one here.
      note={isSet && !isWhole ? `at ${timeOf(moment)}` : ''}
      apply={(day) => setParameters(at, { [name]: beginningOf(day)?.toISOString() ?? '' })}
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
  /** What happened within the period, such as `Ordered`. */
  readonly label?: string
}) => (
  <>
    <DayFilter at={at} name={name === '' ? 'from' : `${name}From`} label={label === '' ? 'From' : `${label} from`} />
    <DayFilter at={at} name={name === '' ? 'to' : `${name}To`} label={label === '' ? 'Before' : `${label} before`} />
  </>
)

/** Options of a {@link ChoiceFilter} that are called by their values, after one for none of them. */
export const optionsOf = (values: readonly string[], none = 'All'): readonly (readonly [value: string, text: string])[] => [
  ['', none],
  ...values.map((value) => [value, value] as const),
]

/** A filter by one of several values; the first option is the default and leaves the address. */
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
        onChange={(change) => setParameters(at, { [name]: change.currentTarget.value })}
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
