import type { ComponentChildren } from 'preact'
import { useEffect, useId, useRef, useState } from 'preact/hooks'
import { session } from '../lib/api.ts'
import { errorMessage } from '../lib/errors.ts'
import { useShared } from '../lib/state.ts'

const nameKey = 'tallyman-name'

/** Reason and actor of a decision. The actor is entered if the session has no named key. */
export interface ReasonAndActor {
  readonly reason: string
  readonly actor?: string
}

/**
 * A dialog with a form. `submit` gets the form; an error that it throws is shown. The dialog closes after a successful `submit`, or when the person
 * cancels it.
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
  /** The effect of the action, in a sentence. */
  readonly meaning: string
  /** Label of the button. */
  readonly action: string
  readonly submit: (form: FormData) => Promise<void>
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
      setProblem(errorMessage(error))
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

/** A {@link FormDialog} with a field for the reason, and for the actor if the session has no named key. */
export const ReasonDialog = ({
  title,
  meaning,
  action,
  decide,
  close,
  children,
}: {
  readonly title: string
  /** The effect of the action, in a sentence. */
  readonly meaning: string
  /** Label of the button. */
  readonly action: string
  readonly decide: (reasonAndActor: ReasonAndActor, form: FormData) => Promise<void>
  readonly close: () => void
  /** Further fields. */
  readonly children?: ComponentChildren
}) => {
  const id = useId()
  const isNamed = (useShared(session)?.name ?? null) !== null
  const submit = async (form: FormData): Promise<void> => {
    const actor = String(form.get('actor') ?? '').trim()
    if (actor !== '') localStorage.setItem(nameKey, actor)
    await decide({ reason: String(form.get('reason') ?? '').trim(), ...(actor === '' ? {} : { actor }) }, form)
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
            defaultValue={localStorage.getItem(nameKey) ?? ''}
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

/** The text of a field of a dialog, trimmed. */
export const readText = (form: FormData, name: string): string => String(form.get(name) ?? '').trim()

/** The texts of a field that are separated by commas or blanks. */
export const readTexts = (form: FormData, name: string): string[] =>
  readText(form, name)
    .split(/[\s,]+/)
    .filter((text) => text !== '')
