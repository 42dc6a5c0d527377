import { useId, useState } from 'preact/hooks'
import type { Schemas } from '../lib/api.ts'
import { useNow } from '../lib/clock.ts'
import { formatLocal, pluralize } from '../lib/format.ts'
import { describePath, differences } from '../lib/json.ts'
import { type Address, navigate, withParameters } from '../lib/router.ts'
import { Time } from './text.tsx'

type Version = Schemas['Order']['history']['versions'][number]

const maxNames = 4

/** A version of an order to which the slider moves. */
interface Step {
  readonly at: string
  readonly change: string
}

const describeChange = (before: Version | undefined, { raw }: Version): string => {
  if (before === undefined) return 'the oldest version that is listed'
  const found = differences(before.raw, raw)
  // The last name of a path says most: `orderLines.orderLine[0].statusDate`.
  const names = [...new Set(found.map(({ path }) => describePath(path.split('.').at(-1) ?? path)))]
  const shown = names.slice(0, maxNames).join(', ')
  return `${pluralize(found.length, 'field')} changed: ${shown}${names.length > maxNames ? ', …' : ''}`
}

/** A version that was replaced within a millisecond was never valid at a time. */
const buildSteps = (versions: readonly Version[]): readonly Step[] =>
  versions.flatMap((version, index) =>
    version.firstSeenAt === version.lastSeenAt
      ? []
      : [{ at: version.firstSeenAt, change: describeChange(versions[index - 1], version) }],
  )

/** The time in the address at which an order is shown; null: now. */
export const readPastTime = ({ parameters }: Address): string | null => parameters.get('at') || null

/** Steps over the versions of an order: a slider, and the list of versions. The chosen time is in the address; without one, the order is that of now. */
export const VersionSlider = ({ address, versions }: { readonly address: Address; readonly versions: readonly Version[] }) => {
  const id = useId()
  const now = new Date(useNow())
  const steps = buildSteps(versions)
  const at = readPastTime(address)
  const last = steps.length - 1
  // Later the person decides: the slider must not close while it is used.
  const [isOpen] = useState(at !== null)
  if (last < 1) return null
  const asked = at === null ? Number.POSITIVE_INFINITY : Date.parse(at)
  const index = steps.findLastIndex((step) => Date.parse(step.at) <= asked)
  const buildAddress = (place: number): string => withParameters(address, { at: place >= last ? '' : (steps[place]?.at ?? '') })
  const describe = ({ at: since, change }: Step, place: number): string =>
    `Version ${place + 1} of ${steps.length}${place === last ? ', the current one' : ''}, of ${formatLocal(new Date(since), now)}: ${change}`
  const step = steps[index]
  const before = Number.isNaN(asked) ? 'The address has no valid time.' : 'Before the oldest version that is listed.'
  const text = step === undefined ? before : describe(step, index)
  return (
    <section class="card versions" aria-label="Versions">
      <details open={isOpen}>
        <summary>{pluralize(steps.length, 'version')} of the order</summary>
        <label for={id}>Version</label>
        <input
          id={id}
          type="range"
          min={0}
          max={last}
          step={1}
          value={Math.max(0, index)}
          aria-valuetext={text}
          onInput={({ currentTarget }) => navigate(buildAddress(Number(currentTarget.value)), { replace: true })}
        />
        <p class="faint">{text}</p>
        <details>
          <summary>All versions</summary>
          <ol>
            {steps.map((one, place) => (
              <li key={one.at}>
                <a href={buildAddress(place)} aria-current={place === index ? 'step' : undefined}>
                  <Time at={one.at} />
                  {place === last && ' (now)'}
                </a>
                : {one.change}
              </li>
            ))}
          </ol>
        </details>
      </details>
    </section>
  )
}

/** Says that the page shows the past, with the way back to now. */
export const PastNotice = ({ address, at }: { readonly address: Address; readonly at: string }) => (
  <div class="notice warn" role="status">
    <p>
      <strong>You are looking at the past:</strong> the order as of{' '}
      {Number.isNaN(Date.parse(at)) ? <span class="whole">{at}</span> : <Time at={at} />}.
    </p>
    <a href={withParameters(address, { at: '' })}>Back to now</a>
  </div>
)
