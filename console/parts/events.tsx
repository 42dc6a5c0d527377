import { useState } from 'preact/hooks'
import { answered, api, type Schemas } from '../lib/api.ts'
import { invalidate } from '../lib/query.ts'
import { useMay } from '../lib/rights.ts'
import { ReasonDialog } from './dialog.tsx'
import { Badge, None } from './text.tsx'
import { toast } from './toasts.tsx'

type Event = Pick<Schemas['ListedEvent'], 'source' | 'id' | 'type' | 'state' | 'problem' | 'waitsFor'>

/** Address of an event's view. */
export const eventAddress = ({ source, id }: Pick<Event, 'source' | 'id'>): string =>
  `/console/events/${encodeURIComponent(source)}/${encodeURIComponent(id)}`

/** How an event stands, in a word. */
export const EventState = ({ state }: Pick<Event, 'state'>) => {
  if (state === 'received') return <Badge tone="warn">waiting</Badge>
  return <Badge tone={state === 'rejected' ? 'bad' : 'good'}>{state}</Badge>
}

/** What is wrong with an event, place by place, or what it waits for. */
export const EventTrouble = ({ event: { problem, waitsFor } }: { readonly event: Pick<Event, 'problem' | 'waitsFor'> }) => {
  if (problem === null) return waitsFor === null ? <None /> : <span>{waitsFor}</span>
  return (
    <div>
      <span>{problem.detail}</span>
      {problem.errors.length > 0 && (
        <ul class="plain">
          {problem.errors.map(({ path, message }) => (
            <li key={`${path} ${message}`}>
              <code>{path}</code> {message}
            </li>
          ))}
        </ul>
      )}
    </div>
  )
}

/** Rejects a waiting event, with a reason; nothing for those who may not. */
export const RejectEvent = ({ event, done }: { readonly event: Event; readonly done: () => void }) => {
  const [asking, setAsking] = useState(false)
  const may = useMay()
  const { source, id, type } = event
  if (!may('operate')) return null
  return (
    <div>
      <button type="button" aria-label={`Reject ${id} of ${source}`} onClick={() => setAsking(true)}>
        Reject
      </button>
      {asking && (
        <ReasonDialog
          title={`Reject ${type} ${id}`}
          meaning="It creates no command, now or later. Its source and id stay reserved: what is to be done after all needs an event with a new id."
          action="Reject"
          decide={async (because) => {
            await answered(api.POST('/v1/events/{source}/{id}/reject', { params: { path: { source, id } }, body: because }))
            toast(`${id} of ${source} is rejected.`)
            invalidate(new Set(['event']))
            done()
          }}
          close={() => setAsking(false)}
        />
      )}
    </div>
  )
}
