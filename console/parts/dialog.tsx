import type { ComponentChildren } from 'preact'
import { useEffect, useId, useRef, useState } from 'preact/hooks'
import { session } from '../lib/api.ts'
import { messageOf } from '../lib/faults.ts'
import { useShared } from '../lib/state.ts'

const nameKept = 'tallyman-name'

/** Who decides, and why. Without a named key the person says who they are. */
export interface Because {
  readonly reason: string
  readonly actor?: string
}

/**
 * Asks for something before it is done. `submit` does it with what was filled in and throws what went wrong, which is then shown; the dialog
 * closes when it is done, or when the person gives up.
 */
export const FormDialog = ({
  title,
  meaning,
  action,
  submit,
  close,
  children,
}: {
  readonly title: string
  /** What it leads to, in a sentence. */
  readonly meaning: string
  /** Word on the button. */
  readonly action: string
  readonly submit: (given: FormData) => Promise<void>
  readonly close: () => void
  /** Fields. */
  readonly children?: ComponentChildren
}) => {
  const dialog = useRef<HTMLDialogElement>(null)
  const id = useId()
  const [problem, setProblem] = useState('')
  const [busy, setBusy] = useState(false)
  useEffect(() => {
    const opener = document.activeElement
    dialog.current?.showModal()
    return () => {
      if (opener instanceof HTMLElement) opener.focus()
    }
  }, [])
  const send = async (form: HTMLFormElement): Promise<void> => {
    setBusy(true)
    try {
      await submit(new FormData(form))
      close()
    } catch (error) {
      setProblem(messageOf(error))
      setBusy(false)
    }
  }
  return (
    <dialog ref={dialog} aria-labelledby={`${id}-title`} onClose={close}>
      <form
        method="dialog"
        onSubmit={(event) => {
          event.preventDefault()
          void send(event.currentTarget)
        }}
      >
        <h2 id={`${id}-title`}>{title}</h2>
        <p>{meaning}</p>
        {children}
        {problem !== '' && (
          <p class="notice bad" role="alert">
            {problem}
          </p>
        )}
        <div class="actions">
          <button type="button" onClick={close}>
            Cancel
          </button>
          <button type="submit" class="primary" disabled={busy}>
            {action}
          </button>
        </div>
      </form>
    </dialog>
  )
}

/** A {@link FormDialog} that also asks why, and who decides where the session has no name. */
export const ReasonDialog = ({
  title,
  meaning,
  action,
  decide,
  close,
  children,
}: {
  readonly title: string
  /** What it leads to, in a sentence. */
  readonly meaning: string
  /** Word on the button. */
  readonly action: string
  readonly decide: (because: Because, given: FormData) => Promise<void>
  readonly close: () => void
  /** Further fields. */
  readonly children?: ComponentChildren
}) => {
  const id = useId()
  const isNamed = (useShared(session)?.name ?? null) !== null
  const submit = async (given: FormData): Promise<void> => {
    const actor = String(given.get('actor') ?? '').trim()
    if (actor !== '') localStorage.setItem(nameKept, actor)
    await decide({ reason: String(given.get('reason') ?? '').trim(), ...(actor === '' ? {} : { actor }) }, given)
  }
  return (
    <FormDialog title={title} meaning={meaning} action={action} submit={submit} close={close}>
      {children}
      {!isNamed && (
        <div class="field">
          <label for={`${id}-actor`}>Who decides</label>
          <input
            id={`${id}-actor`}
            name="actor"
            required
            maxLength={200}
            autocomplete="name"
            defaultValue={localStorage.getItem(nameKept) ?? ''}
          />
        </div>
      )}
      <div class="field">
        <label for={`${id}-reason`}>Why</label>
        <textarea id={`${id}-reason`} name="reason" required maxLength={2_000} rows={3} />
      </div>
    </FormDialog>
  )
}

/** A text field of a dialog. */
export const Field = ({
  name,
  label,
  hint = '',
  required = false,
  type = 'text',
  initial = '',
}: {
  readonly name: string
  readonly label: string
  readonly hint?: string
  readonly required?: boolean
  readonly type?: 'text' | 'number'
  readonly initial?: string
}) => {
  const id = useId()
  const shared = {
    id,
    name,
    required,
    defaultValue: initial,
    autocomplete: 'off',
    ...(hint === '' ? {} : { 'aria-describedby': `${id}-hint` }),
  } as const
  return (
    <div class="field">
      <label for={id}>{label}</label>
      {type === 'number' ? <input {...shared} type="number" min={0} /> : <input {...shared} type="text" />}
      {hint !== '' && (
        <p id={`${id}-hint`} class="faint">
          {hint}
        </p>
      )}
    </div>
  )
}

/** The text of a field of a dialog, without blanks around it. */
export const textIn = (given: FormData, name: string): string => String(given.get(name) ?? '').trim()

/** The parts of a field that holds several texts, separated by commas or blanks. */
export const textsIn = (given: FormData, name: string): string[] =>
  textIn(given, name)
    .split(/[\s,]+/)
    .filter((text) => text !== '')
