import { useState } from 'preact/hooks'
import { api, readAnswer, type Schemas } from '../lib/api.ts'
import { pluralize } from '../lib/format.ts'
import { useMay } from '../lib/rights.ts'
import { useShadowed } from '../lib/shared-queries.ts'
import { ReasonDialog } from './dialog.tsx'
import { toast } from './toasts.tsx'

/** Number of sellers that the notice names. */
const maxNamed = 5

const Notice = () => {
  const sellers = useShadowed().data?.items ?? []
  if (sellers.length === 0) return null
  const named = sellers.slice(0, maxNamed).map(({ sellerId }) => sellerId)
  const others = sellers.length - named.length
  return (
    <p class="notice" role="status">
      Shadow mode: nothing is written to the marketplace for {named.join(', ')}
      {others > 0 && ` and ${pluralize(others, 'other seller')}`}. Commands are predicted, not sent:{' '}
      <a href="/console/shadow">beside what the other system did</a>.
    </p>
  )
}

/** A notice on every page while a seller is in shadow mode. */
export const ShadowNotice = () => (useMay()('read') ? <Notice /> : null)

/** Ends or begins the shadow mode of a seller. */
export const ModeAction = ({ seller, done }: { readonly seller: Schemas['Seller']; readonly done: () => void }) => {
  const [dialog, setDialog] = useState(false)
  const { sellerId, mode } = seller
  const path = { id: sellerId }
  const close = (): void => setDialog(false)
  const label = mode === 'shadow' ? 'Go live' : 'Go shadow'
  return (
    <div>
      <button type="button" aria-label={`${label} ${sellerId}`} onClick={() => setDialog(true)}>
        {label}
      </button>
      {dialog && mode === 'shadow' && (
        <ReasonDialog
          title={`Go live with ${sellerId}`}
          meaning="From now on its commands are sent. Those of before end and are never sent, predicted or not: what the other system did is not repeated. Stop the other system first."
          action="Go live"
          decide={async (reasonAndActor, form) => {
            const body = { ...reasonAndActor, ...(form.get('force') === null ? {} : { force: true }) }
            const { withdrawn, notShown } = await readAnswer(api.POST('/v1/sellers/{id}/go-live', { params: { path }, body }))
            toast(
              withdrawn.length === 0
                ? `${sellerId} is live.`
                : `${sellerId} is live. ${pluralize(withdrawn.length, 'command')} ended, ${notShown.length} of them not shown by their orders; the commands are in the state withdrawn.`,
            )
            done()
          }}
          close={close}
        >
          <label class="choice">
            <input type="checkbox" name="force" /> Although orders differ from what was predicted, or events wait
          </label>
        </ReasonDialog>
      )}
      {dialog && mode === 'live' && (
        <ReasonDialog
          title={`Put ${sellerId} in shadow mode`}
          meaning="From now on nothing of it is written to the marketplace: its commands are predicted. A request that is being sent is completed. Another system must acknowledge and ship its orders."
          action="Go shadow"
          decide={async (reasonAndActor) => {
            await readAnswer(api.POST('/v1/sellers/{id}/go-shadow', { params: { path }, body: reasonAndActor }))
            toast(`${sellerId} is in shadow mode.`)
            done()
          }}
          close={close}
        />
      )}
    </div>
  )
}
