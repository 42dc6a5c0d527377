import type { ComponentChildren } from 'preact'
import { useEffect, useId, useRef } from 'preact/hooks'
import { type Address, setParameters } from '../lib/router.ts'

/** Filters of a view, which stand in its address. */
export const Filters = ({ children }: { readonly children: ComponentChildren }) => (
  <form class="filters" aria-label="Filters" onSubmit={(submit) => submit.preventDefault()}>
    {children}
  </form>
)

/** A filter by text; applied with Enter or when the field is left. */
export const TextFilter = ({
  at,
  name,
  label,
  placeholder = '',
  type = 'search',
}: {
  readonly at: Address
  readonly name: string
  readonly label: string
  readonly placeholder?: string
  readonly type?: 'search' | 'date'
}) => {
  const id = useId()
  const field = useRef<HTMLInputElement>(null)
  const value = at.parameters.get(name) ?? ''
  useEffect(() => {
    if (field.current !== null && field.current.value !== value) field.current.value = value
  }, [value])
  const apply = (): void => {
    const next = field.current?.value.trim() ?? ''
    if (next !== value) setParameters(at, { [name]: next })
  }
  const shared = {
    id,
    ref: field,
    defaultValue: value,
    placeholder,
    onChange: apply,
    onKeyDown: (key: KeyboardEvent) => {
      if (key.key === 'Enter') apply()
    },
  }
  return (
    <div class="field">
      <label for={id}>{label}</label>
      {type === 'date' ? <input {...shared} type="date" /> : <input {...shared} type="search" />}
    </div>
  )
}

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
