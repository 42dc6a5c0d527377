import { useId } from 'preact/hooks'
import { count } from '../lib/format.ts'

/** A part of a bar. `tone` names a colour of the style sheet. */
export interface Part {
  readonly label: string
  readonly value: number
  readonly tone: string
  /** Address of the rows that it counts. */
  readonly to?: string
}

/** A bar of a whole and its parts; the rest stays empty, and has the label `rest`. The text below has the same numbers. */
export const PartsBar = ({
  label,
  whole,
  parts,
  rest,
}: {
  readonly label: string
  readonly whole: number
  readonly parts: readonly Part[]
  readonly rest?: string
}) => {
  let from = 0
  const shown = parts.filter(({ value }) => value > 0)
  const left = whole - shown.reduce((sum, { value }) => sum + value, 0)
  const text = shown.map((part) => `${part.label} ${count(part.value)}`).join(', ')
  return (
    <figure class="parts">
      <svg
        viewBox="0 0 100 6"
        preserveAspectRatio="none"
        role="img"
        aria-label={`${label}: ${text === '' ? 'none' : text} of ${count(whole)}`}
      >
        <rect class="rest" x="0" y="0" width="100" height="6" />
        {shown.map(({ label: name, value, tone }) => {
          const x = from
          const width = whole === 0 ? 0 : (100 * value) / whole
          from += width
          return <rect key={name} class={`tone-${tone}`} x={x} y="0" width={Math.min(width, 100 - x)} height="6" />
        })}
      </svg>
      <figcaption>
        {shown.map(({ label: name, value, tone, to }) => (
          <span key={name}>
            <i class={`dot tone-${tone}`} aria-hidden="true" />{' '}
            {to === undefined ? (
              `${name} ${count(value)}`
            ) : (
              <a href={to}>
                {name} {count(value)}
              </a>
            )}
          </span>
        ))}
        {rest !== undefined && left > 0 && (
          <span>
            <i class="dot rest" aria-hidden="true" /> {rest} {count(left)}
          </span>
        )}
      </figcaption>
    </figure>
  )
}

/** A series: a value for each step of time. */
export interface Series {
  readonly label: string
  readonly tone: string
  readonly values: readonly number[]
  /** Address of the rows that its values count. */
  readonly to?: string
}

const width = 320
const height = 96

/** Stacked columns over time, and a table of the same numbers for screen readers. */
export const Columns = ({
  title,
  steps,
  series,
  unit = 'events',
  to,
}: {
  readonly title: string
  /** `state`: each value is a state at a time, so the legend shows the last value and no sum. */
  readonly unit?: 'events' | 'state'
  /** Name of each step, such as `14:00`. */
  readonly steps: readonly string[]
  readonly series: readonly Series[]
  /** Address of the rows of a step. */
  readonly to?: (step: number) => string
}) => {
  const id = useId()
  const sums = steps.map((_, index) => series.reduce((sum, { values }) => sum + (values[index] ?? 0), 0))
  const max = Math.max(1, ...sums)
  const step = width / Math.max(1, steps.length)
  return (
    <figure class="columns">
      <figcaption id={id}>{title}</figcaption>
      <div class="plot">
        <svg viewBox={`0 0 ${width} ${height}`} role="img" aria-labelledby={id}>
          <title>{title}</title>
          {steps.map((name, index) => {
            let top = height
            return series.map(({ label, tone, values }) => {
              const size = ((values[index] ?? 0) / max) * (height - 4)
              top -= size
              return (
                <rect
                  key={`${name}-${label}`}
                  class={`tone-${tone}`}
                  x={index * step + 1}
                  y={top}
                  width={Math.max(1, step - 2)}
                  height={size}
                >
                  <title>{`${name}: ${count(values[index] ?? 0)} ${label}`}</title>
                </rect>
              )
            })
          })}
        </svg>
        {to !== undefined && (
          <div class="steps">
            {steps.map((name, index) => {
              const text = series.map(({ label, values }) => `${count(values[index] ?? 0)} ${label}`).join(', ')
              // A step without a value has no rows to link to.
              if (sums[index] === 0) return <span key={name} />
              return (
                <a key={name} href={to(index)} title={`${name}: ${text}`}>
                  <span class="visually-hidden">
                    {name}: {text}
                  </span>
                </a>
              )
            })}
          </div>
        )}
      </div>
      <p class="axis" aria-hidden="true">
        <span>{steps[0]}</span>
        <span>max. {count(Math.max(0, ...sums))}</span>
        <span>{steps.at(-1)}</span>
      </p>
      <p class="legend">
        {series.map(({ label, tone, values, to: rows }) => {
          const total = count(unit === 'state' ? (values.at(-1) ?? 0) : values.reduce((sum, value) => sum + value, 0))
          const text = `${label} ${total}`
          return (
            <span key={label}>
              <i class={`dot tone-${tone}`} aria-hidden="true" /> {rows === undefined ? text : <a href={rows}>{text}</a>}
            </span>
          )
        })}
      </p>
      <table class="visually-hidden">
        <caption>{title}</caption>
        <thead>
          <tr>
            <th scope="col">Time</th>
            {series.map(({ label }) => (
              <th key={label} scope="col">
                {label}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {steps.map((name, index) => (
            <tr key={name}>
              <th scope="row">{name}</th>
              {series.map(({ label, values }) => (
                <td key={label}>{values[index] ?? 0}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </figure>
  )
}
