import { Fragment } from 'preact'
import { type Needs, useMay } from '../lib/rights.ts'
import { useOverview } from '../lib/shared-queries.ts'
import { type Group, groups, listNeeds, views } from '../views.ts'

/** A number of open things beside a link. */
interface OpenCount {
  readonly value: number
  readonly label: string
  readonly tone: 'bad' | 'warn'
}

/** What is open, by the label of its link. */
const useOpenCounts = (): ReadonlyMap<string, OpenCount> => {
  const overview = useOverview().data
  if (overview === undefined) return new Map()
  const { orders, needsPerson, alarms, proposals } = overview
  return new Map([
    ['Today', { value: orders.dueBy ?? 0, label: 'due today or late', tone: orders.late > 0 ? 'bad' : 'warn' }],
    ['Commands', { value: needsPerson.commandsHeld, label: 'held', tone: 'bad' }],
    ['Proposals', { value: proposals, label: 'to decide', tone: 'warn' }],
    ['Alarms', { value: alarms, label: 'open', tone: 'warn' }],
  ])
}

/** A link of the navigation. The count is its description, so that its name stays the same. */
const Entry = ({
  to,
  label,
  isCurrent,
  open,
}: {
  readonly to: string
  readonly label: string
  readonly isCurrent: boolean
  readonly open?: OpenCount | undefined
}) => {
  const isShown = open !== undefined && open.value > 0
  const id = `open-${label.toLowerCase().replaceAll(' ', '-')}`
  return (
    <li>
      <a href={to} {...(isCurrent ? { 'aria-current': 'page' as const } : {})} {...(isShown ? { 'aria-describedby': id } : {})}>
        {label}
        {isShown && <span class={`count ${open.tone}`} data-count={open.value.toLocaleString()} />}
      </a>
      {isShown && (
        <span id={id} hidden>
          {open.value.toLocaleString()} {open.label}
        </span>
      )}
    </li>
  )
}

/** Pages of libraries, which are no views. */
const libraryPages: readonly { readonly to: string; readonly label: string; readonly needs: Needs }[] = [
  { to: '/docs', label: 'API docs', needs: ['read'] },
  { to: '/queues', label: 'Queues', needs: ['read', 'all'] },
]

const Groups = ({ path, counts }: { readonly path: string; readonly counts: ReadonlyMap<string, OpenCount> }) => {
  const may = useMay()
  const base = `/${path.split('/').slice(1, 3).join('/')}`
  const listEntries = (group: Group) => [
    ...views.flatMap((view) => {
      const { path: to, menu, group: within } = view
      if (menu === null || within !== group || !may(...listNeeds(view))) return []
      return [<Entry key={to} to={to} label={menu} isCurrent={to === base || to === path} open={counts.get(menu)} />]
    }),
    ...(group === 'System' ? libraryPages : []).flatMap(({ to, label, needs }) =>
      may(...needs) ? [<Entry key={to} to={to} label={label} isCurrent={false} />] : [],
    ),
  ]
  return (
    <>
      {groups.map((group) => {
        const entries = listEntries(group)
        return entries.length === 0 ? null : (
          <Fragment key={group}>
            <p id={`group-${group}`}>{group}</p>
            <ul aria-labelledby={`group-${group}`}>{entries}</ul>
          </Fragment>
        )
      })}
    </>
  )
}

const CountedGroups = ({ path }: { readonly path: string }) => <Groups path={path} counts={useOpenCounts()} />

/** Links to all views that the key permits, in groups. */
export const Sidebar = ({ path, open }: { readonly path: string; readonly open: boolean }) => {
  const may = useMay()
  return (
    <nav id="navigation" aria-label="Views" class={open ? 'sidebar open' : 'sidebar'}>
      {may('read') ? <CountedGroups path={path} /> : <Groups path={path} counts={new Map()} />}
    </nav>
  )
}

/** Opens the navigation on a phone. */
export const MenuButton = ({ open, toggle }: { readonly open: boolean; readonly toggle: () => void }) => (
  <button type="button" class="menu" aria-expanded={open} aria-controls="navigation" onClick={toggle}>
    Menu
  </button>
)
