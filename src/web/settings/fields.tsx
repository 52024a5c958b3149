// The components of the settings pages: labeled fields, forms that save, lists that are loaded.

import type { ComponentChildren, TargetedInputEvent } from 'preact'
import { useCallback, useEffect, useId, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { messageOf } from '../api.ts'
import { Form, RefusalNotice, useFault } from '../form.tsx'
import { say, type Text } from '../texts.ts'
import { Notice } from '../ui.tsx'

type FieldProps = {
  label: ComponentChildren
  /** A name that is used in the documentation of others. */
  isRaw?: boolean
  /** The name of the field in the API. */
  name?: string | undefined
  hint?: ComponentChildren
  children: (attributes: { id: string } & ReturnType<typeof useFault>['attributes']) => ComponentChildren
}

export function Field({ label, isRaw = false, name, hint, children }: FieldProps) {
  const id = useId()
  const hintId = `${id}-hint`
  const { attributes, note } = useFault(name, hint === undefined ? undefined : hintId)
  return (
    <div class="field">
      <label for={id} class={isRaw ? 'mono' : ''}>
        {label}
      </label>
      {children({ id, ...attributes })}
      {note}
      {hint !== undefined && (
        <p class="hint" id={hintId}>
          {hint}
        </p>
      )}
    </div>
  )
}

type TextFieldProps = {
  label: Text
  name?: string
  value: string
  onText: (text: string) => void
  hint?: ComponentChildren
  kind?: InputKind
  placeholder?: string
  suggestions?: readonly string[]
  isMono?: boolean
  isRequired?: boolean
}

export function TextField({ label, name, value, onText, hint, kind = 'text', ...rest }: TextFieldProps) {
  const { placeholder = '', suggestions = [], isMono = false, isRequired = false } = rest
  return (
    <Field label={say(label)} name={name} hint={hint}>
      {(attributes) => (
        <>
          <Input
            kind={kind}
            listId={suggestions.length > 0 ? `${attributes.id}-list` : null}
            class={isMono ? 'mono' : ''}
            value={value}
            placeholder={placeholder}
            required={isRequired}
            spellcheck={false}
            {...attributes}
            onInput={(event) => onText(event.currentTarget.value)}
          />
          {suggestions.length > 0 && (
            <datalist id={`${attributes.id}-list`}>
              {suggestions.map((name) => (
                <option key={name} value={name} />
              ))}
            </datalist>
          )}
        </>
      )}
    </Field>
  )
}

type InputKind = 'text' | 'password' | 'number' | 'url'
type InputProps = {
  kind: InputKind
  listId?: string | null
  id?: string
  name?: string
  class?: string
  value: string
  placeholder?: string
  required?: boolean
  spellcheck?: boolean
  'aria-describedby'?: string
  'aria-invalid'?: 'true'
  onInput: (event: TargetedInputEvent<HTMLInputElement>) => void
}

/** The types allow each kind of field only its own attributes, so each is a separate element. */
export function Input({ kind, listId = null, ...common }: InputProps) {
  // A key of a service is not a password of this page.
  if (kind === 'password') return <input type="password" autocomplete="new-password" {...common} />
  if (kind === 'number') return <input type="number" step="any" autocomplete="off" {...common} />
  if (kind === 'url') return <input type="url" autocomplete="off" {...common} />
  return <input type="text" autocomplete="off" {...(listId !== null && { list: listId })} {...common} />
}

type SelectProps = {
  label: Text
  name?: string
  value: string
  options: readonly (readonly [value: string, name: string])[]
  onPick: (value: string) => void
  hint?: ComponentChildren
}

export function SelectField({ label, name, value, options, onPick, hint }: SelectProps) {
  return (
    <Field label={say(label)} name={name} hint={hint}>
      {(attributes) => (
        <select value={value} {...attributes} onChange={(event) => onPick(event.currentTarget.value)}>
          {options.map(([option, words]) => (
            <option key={option} value={option}>
              {words}
            </option>
          ))}
        </select>
      )}
    </Field>
  )
}

type ToggleProps = { label: Text; isOn: boolean; onChange: (isOn: boolean) => void; hint?: ComponentChildren }

export function Toggle({ label, isOn, onChange, hint }: ToggleProps) {
  return (
    <label class="toggle">
      <input type="checkbox" checked={isOn} onChange={(event) => onChange(event.currentTarget.checked)} />
      <span>
        {say(label)}
        {hint !== undefined && <span class="hint">{hint}</span>}
      </span>
    </label>
  )
}

export type Outcome = { kind: 'info' | 'warning' | 'error'; text: string }

export type Action = {
  busy: boolean
  outcome: Outcome | null
  /** The error; a form shows it at its fields instead of the outcome. */
  error: unknown
  /** Runs one task at a time and shows its result; the text returned by `work` replaces `Saved.` */
  run: (work: () => Promise<Outcome | undefined>) => Promise<void>
}

export function useAction(): Action {
  const [busy, setBusy] = useState(false)
  const [outcome, setOutcome] = useState<Outcome | null>(null)
  const [error, setError] = useState<unknown>(null)
  const run = useCallback(async (work: () => Promise<Outcome | undefined>) => {
    setBusy(true)
    setOutcome(null)
    setError(null)
    try {
      setOutcome((await work()) ?? { kind: 'info', text: say('Saved.') })
    } catch (fault) {
      setOutcome({ kind: 'error', text: messageOf(fault) })
      setError(fault)
    }
    setBusy(false)
  }, [])
  return { busy, outcome, error, run }
}

export const OutcomeNotice = ({ outcome }: { outcome: Outcome | null }) =>
  outcome === null ? null : <Notice kind={outcome.kind}>{outcome.text}</Notice>

type FormProps = {
  action: Pick<Action, 'busy' | 'outcome' | 'error'>
  /** The member of the body that contains the fields, if it is not the body itself. */
  within?: string
  onSave: () => void
  /** The label of its button instead of `Save`. */
  verb?: Text
  /** The label while it is running, instead of `Saving…` */
  busyText?: Text | undefined
  extra?: ComponentChildren
  children: ComponentChildren
}

export function SaveForm({ action, within = '', onSave, verb = 'Save', busyText, extra, children }: FormProps) {
  return (
    <Form class="card settings-form" error={action.error} within={within} onSubmit={onSave}>
      {children}
      <RefusalNotice />
      {action.error === null && <OutcomeNotice outcome={action.outcome} />}
      <div class="form-actions">
        <button type="submit" class="primary" disabled={action.busy}>
          {say(action.busy ? (busyText ?? 'Saving…') : verb)}
        </button>
        {extra}
      </div>
    </Form>
  )
}

export type Loaded<T> = { value: T | null; problem: string | null; reload: () => void }

/**
 * The result of `load`; its error is shown until a later attempt succeeds. `load` must be the same function in every
 * rendering.
 */
export function useLoaded<T>(load: () => Promise<T>): Loaded<T> {
  const [state, setState] = useState<{ value: T | null; problem: string | null }>({ value: null, problem: null })
  const [tries, setTries] = useState(0)
  useEffect(() => {
    let current = true
    load().then(
      (value) => current && setState({ value, problem: null }),
      (error: unknown) => current && setState((before) => ({ ...before, problem: messageOf(error) })),
    )
    return () => {
      current = false
    }
  }, [load, tries])
  return { ...state, reload: () => setTries((count) => count + 1) }
}

type LoadedProps<T> = { loaded: Loaded<T>; children: (value: T) => ComponentChildren }

export function Loading<T>({ loaded: { value, problem, reload }, children }: LoadedProps<T>) {
  return (
    <>
      {problem !== null && (
        <Notice kind="error" action={{ label: say('Try again'), run: reload }}>
          {problem}
        </Notice>
      )}
      {value === null && problem === null && <p class="opening">{say('Opening…')}</p>}
      {value !== null && children(value)}
    </>
  )
}

export type PageOf<T> = { rows: T[]; next: string | null }

type PagedProps<T> = {
  /** Must be the same function in every rendering. */
  load: (pageId: string | null) => Promise<PageOf<T>>
  /** A new value starts again with the first page. */
  version?: number
  empty: Text
  children: (row: T) => ComponentChildren
}

/** A list with a button for the next page. */
export function Paged<T>({ load, version = 0, empty, children }: PagedProps<T>) {
  const first = useCallback(() => load(null), [load, version])
  const loaded = useLoaded(first)
  const [older, setOlder] = useState<PageOf<T> | null>(null)
  const [problem, setProblem] = useState<string | null>(null)
  useEffect(() => setOlder(null), [first])
  const more = async (pageId: string) => {
    try {
      const { rows, next } = await load(pageId)
      setOlder((before) => ({ rows: [...(before?.rows ?? []), ...rows], next }))
      setProblem(null)
    } catch (error) {
      setProblem(messageOf(error))
    }
  }
  return (
    <Loading loaded={loaded}>
      {(page) => (
        <>
          {page.rows.length === 0 && <p class="empty">{say(empty)}</p>}
          <ul class="rows">{[...page.rows, ...(older?.rows ?? [])].map(children)}</ul>
          {problem !== null && <Notice kind="error">{problem}</Notice>}
          <MoreButton next={(older ?? page).next} onMore={(pageId) => void more(pageId)} />
        </>
      )}
    </Loading>
  )
}

function MoreButton({ next, onMore }: { next: string | null; onMore: (pageId: string) => void }) {
  if (next === null) return null
  return (
    <button type="button" onClick={() => onMore(next)}>
      {say('Show more')}
    </button>
  )
}

type SureProps = {
  label: string
  /** The accessible name, if the label alone is ambiguous. */
  name?: string
  question: Text
  busy?: boolean
  onSure: () => void
}

/** An action that cannot be undone, with a second confirmation in the same place. */
export function SureButton({ label, name = label, question, busy = false, onSure }: SureProps) {
  const [asked, setAsked] = useState(false)
  const keep = useRef<HTMLButtonElement>(null)
  // A held key or an accidental double press deletes nothing.
  useLayoutEffect(() => keep.current?.focus(), [asked])
  if (!asked) {
    return (
      <button type="button" class="danger" disabled={busy} aria-label={name} onClick={() => setAsked(true)}>
        {label}
      </button>
    )
  }
  return (
    <span
      class="sure"
      role="alertdialog"
      aria-label={say(question)}
      onKeyDown={(event) => event.key === 'Escape' && setAsked(false)}
    >
      {say(question)}
      <button
        type="button"
        class="danger"
        disabled={busy}
        onClick={() => {
          setAsked(false)
          onSure()
        }}
      >
        {label}
      </button>
      <button type="button" ref={keep} onClick={() => setAsked(false)}>
        {say('Keep it')}
      </button>
    </span>
  )
}
