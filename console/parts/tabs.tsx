import { type Address, withParameters } from '../lib/router.ts'

/** Parts of a view. The parameter `show` selects one; the first is the default. */
export const Tabs = <Name extends string>({
  at,
  label,
  tabs,
  shown,
}: {
  readonly at: Address
  readonly label: string
  readonly tabs: readonly (readonly [name: Name, text: string])[]
  readonly shown: Name
}) => (
  <nav class="tabs" aria-label={label}>
    {tabs.map(([name, text], index) => (
      <a
        key={name}
        href={withParameters({ path: at.path, parameters: new URLSearchParams() }, { show: index === 0 ? '' : name })}
        {...(name === shown ? { 'aria-current': 'page' as const } : {})}
      >
        {text}
      </a>
    ))}
  </nav>
)
