import { useState } from 'preact/hooks'
import { api, readAnswer, type Schemas } from '../lib/api.ts'
import { invalidate } from '../lib/query.ts'
import { useMay } from '../lib/rights.ts'
import { ReasonDialog } from './dialog.tsx'
import { Badge, None, Sentence } from './text.tsx'
import { toast } from './toasts.tsx'

type Event = Pick<Schemas['ListedEvent'], 'source' | 'id' | 'type' | 'state' | 'problem' | 'waitsFor'>

/** Address of an event's view. */
export const eventAddress = ({ source, id }: Pick<Event, 'source' | 'id'>): string =>
  `/console/events/${encodeURIComponent(source)}/${encodeURIComponent(id)}`

/** State of an event. */
export const EventState = ({ state }: Pick<Event, 'state'>) => {
  if (state === 'received') return <Badge tone="warn">waiting</Badge>
  return <Badge tone={state === 'rejected' ? 'bad' : 'good'}>{state}</Badge>
}

/** The errors of an event with their paths, or what it waits for. */
export const EventProblem = ({ event: { problem, waitsFor } }: { readonly event: Pick<Event, 'problem' | 'waitsFor'> }) => {
  if (problem === null) return waitsFor === null ? <None /> : <span>{waitsFor}</span>
  return (
    <div>
      <span>{problem.detail}</span>
      {problem.errors.length > 0 && (
        <ul class="plain">
          {problem.errors.map(({ path, message }) => (
            <li key={`${path} ${message}`}>
              <code>{path}</code> <Sentence text={message} />
            </li>
          ))}
        </ul>
      )}
    </div>
  )
}

/** Rejects a waiting event, with a reason; hidden without the right to operate. */
export const RejectEvent = ({ event, done }: { readonly event: Event; readonly done: () => void }) => {
  const [dialog, setDialog] = useState(false)
  const may = useMay()
  const { source, id, type } = event
  if (!may('operate')) return null
  return (
    <div>
      <button type="button" aria-label={`Reject ${id} of ${source}`} onClick={() => setDialog(true)}>
        Reject
      </button>
      {dialog && (
        <ReasonDialog
          title={`Reject ${type} ${id}`}
          meaning="It creates no command, now or later. Its source and id stay reserved: if something must be done after all, send an event with a new id."
          action="Reject"
          decide={async (reasonAndActor) => {
            await readAnswer(
              api.POST('/v1/events/{source}/{id}/reject', { params: { path: { source, id } }, body: reasonAndActor }),
            )
            toast(`${id} of ${source} is rejected.`)
            invalidate(new Set(['event']))
            done()
          }}
          close={() => setDialog(false)}
        />
      )}
    </div>
  )
}
