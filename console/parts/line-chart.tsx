import { useEffect, useRef, useState } from 'preact/hooks'
import type { AlignedData } from 'uplot'
import 'uplot/dist/uPlot.min.css'
import { useColours } from '../lib/theme.ts'

const height = 160
const wholeSteps = Array.from({ length: 9 }, (_, power) => [1, 2, 5].map((step) => step * 10 ** power)).flat()

const readColour = (name: string): string => getComputedStyle(document.documentElement).getPropertyValue(name).trim()

/** Resolves a colour of the style sheet, which may have a value for light and one for dark, for a canvas. */
const resolveColour = (name: string): string => {
  const probe = document.createElement('i')
  probe.style.color = readColour(name)
  document.body.append(probe)
  const { color } = getComputedStyle(probe)
  probe.remove()
  return color
}

/** Indices of values without a neighbour: a line does not show them. */
const listSingles = (values: readonly (number | null)[]): number[] =>
  values.flatMap((value, index) =>
    value !== null && (values[index - 1] ?? null) === null && (values[index + 1] ?? null) === null ? [index] : [],
  )

/** A line over days, and a fainter one of the period before. A screen reader reads `label`; the numbers are in the table beside it. */
export const LineChart = ({
  label,
  days,
  values,
  previous,
  format,
  isWhole,
}: {
  readonly label: string
  /** Days as `2026-11-29`. */
  readonly days: readonly string[]
  /** A value for each day; null: none. */
  readonly values: readonly (number | null)[]
  readonly previous: readonly (number | null)[]
  readonly format: (value: number) => string
  /** The values are whole numbers: the axis has no parts of one. */
  readonly isWhole: boolean
}) => {
  const box = useRef<HTMLDivElement>(null)
  const colours = useColours()
  const [failed, setFailed] = useState(false)
  useEffect(() => {
    const { current } = box
    if (current === null) return
    let end = (): void => undefined
    let isOver = false
    const draw = async (): Promise<void> => {
      const { default: Plot } = await import('uplot')
      if (isOver) return
      const axis = {
        stroke: resolveColour('--faint'),
        grid: { stroke: resolveColour('--line'), width: 1 },
        ticks: { show: false },
      }
      const buildLine = (shown: readonly (number | null)[], colour: string) => ({
        spanGaps: false,
        stroke: resolveColour(colour),
        points: {
          show: days.length < 10,
          size: 6,
          fill: resolveColour(colour),
          ...(days.length < 10 ? {} : { filter: () => listSingles(shown) }),
        },
      })
      const data: AlignedData = [days.map((day) => Date.parse(`${day}T12:00:00`) / 1_000), [...values], [...previous]]
      const plot = new Plot(
        {
          width: current.clientWidth,
          height,
          legend: { show: false },
          cursor: { show: false },
          scales: { y: { range: (_plot, _min, max) => [0, max > 0 ? max * 1.05 : 1] } },
          axes: [
            {
              ...axis,
              values: (_plot, ticks) =>
                ticks.map((tick) => new Date(tick * 1_000).toLocaleDateString(undefined, { month: 'short', day: 'numeric' })),
              space: 70,
              gap: 10,
              incrs: [1, 2, 3, 7, 14, 30].map((step) => step * 86_400),
            },
            {
              ...axis,
              values: (_plot, ticks) => ticks.map(format),
              size: 72,
              space: 40,
              ...(isWhole ? { incrs: wholeSteps } : {}),
            },
          ],
          series: [
            {},
            { ...buildLine(values, '--tone-a'), width: 2 },
            { ...buildLine(previous, '--tone-f'), width: 1, dash: [4, 4] },
          ],
        },
        data,
        current,
      )
      const observer = new ResizeObserver(() => plot.setSize({ width: current.clientWidth, height }))
      observer.observe(current)
      end = () => {
        observer.disconnect()
        plot.destroy()
      }
    }
    draw().catch(() => setFailed(true))
    return () => {
      isOver = true
      end()
    }
  }, [colours, days, values, previous, format, isWhole])
  return failed ? (
    <p class="faint">The chart could not be loaded. Its numbers are in the table.</p>
  ) : (
    <div ref={box} class="line-chart" role="img" aria-label={label} />
  )
}
