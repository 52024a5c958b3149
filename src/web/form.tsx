// A form that shows validation errors at its fields. A field takes part by its `name`, which is its name in the API. A
// corrected field is unmarked at once; errors without a field are shown above the buttons.

import { type ComponentChildren, createContext } from 'preact'
import { useContext, useEffect, useId, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { type Placed, placed } from './refusals.ts'
import { say } from './texts.ts'
import { Notice } from './ui.tsx'

type FormProblem = Placed & { of: unknown }
const NOTHING: FormProblem = { faults: new Map(), rest: null, of: null }
const Refused = createContext<Placed>(NOTHING)

type FormProps = {
  class: string
  labelledBy?: string
  /** The error of the last submission, null for none. */
  error: unknown
  /** The member of the body that contains the fields of the form, if it is not the body itself. */
  within?: string
  onSubmit: () => void
  children: ComponentChildren
}

export function Form({ error, within = '', labelledBy, onSubmit, children, ...rest }: FormProps) {
  const form = useRef<HTMLFormElement>(null)
  const [told, setTold] = useState<FormProblem>(NOTHING)
  useLayoutEffect(() => {
    setTold(error === null ? NOTHING : { ...placed(error, namesIn(form.current), within), of: error })
  }, [error])
  useEffect(() => showFirst(form.current), [told.of])
  const onEdit = (event: Event) => {
    if (told === NOTHING) return
    const { name } = event.target as HTMLInputElement
    const faults = new Map(told.faults)
    faults.delete(name)
    setTold({ faults, rest: null, of: told.of })
  }
  const submit = (event: SubmitEvent) => {
    event.preventDefault()
    onSubmit()
  }
  return (
    <form {...rest} ref={form} aria-labelledby={labelledBy} onInput={onEdit} onSubmit={submit}>
      <Refused.Provider value={told}>{children}</Refused.Provider>
    </form>
  )
}

/** Placed before the buttons of a form. */
export function RefusalNotice() {
  const { faults, rest } = useContext(Refused)
  if (rest !== null) return <Notice kind="error">{rest}</Notice>
  return faults.size > 0 ? <Notice kind="error">{say('It was not taken: look at what is marked.')}</Notice> : null
}

const namesIn = (form: HTMLFormElement | null): string[] =>
  [...(form?.elements ?? [])].flatMap((one) => one.getAttribute('name') || [])

/** Moves the focus to the first marked field, and opens it if it is collapsed. */
function showFirst(form: HTMLFormElement | null): void {
  const marked = [...(form?.querySelectorAll<HTMLElement>('[aria-invalid="true"]') ?? [])]
  for (const field of marked) {
    const fold = field.closest('details')
    if (fold !== null) fold.open = true
  }
  marked[0]?.focus()
}

/** Makes a control a field of its form, and returns the texts of its errors. */
export function useFault(name: string | undefined, hintId?: string) {
  const id = useId()
  const text = useContext(Refused).faults.get(name ?? '')
  const describedBy = [hintId, text === undefined ? undefined : id].filter((one) => one !== undefined).join(' ')
  const attributes = {
    ...(name !== undefined && { name }),
    ...(text !== undefined && { 'aria-invalid': 'true' as const }),
    ...(describedBy !== '' && { 'aria-describedby': describedBy }),
  }
  const note = text === undefined ? null : <FaultNote id={id} text={text} />
  return { attributes, note }
}

const FaultNote = ({ id, text }: { id: string; text: string }) => (
  <p class="fault" id={id}>
    {text}
  </p>
)

type LabelledProps = {
  label: ComponentChildren
  name?: string | undefined
  children: (attributes: { id: string } & ReturnType<typeof useFault>['attributes']) => ComponentChildren
}

/** A control with its label above and its error below. */
export function Labelled({ label, name, children }: LabelledProps) {
  const id = useId()
  const { attributes, note } = useFault(name)
  return (
    <div class="choice">
      <label for={id}>{label}</label>
      {children({ id, ...attributes })}
      {note}
    </div>
  )
}
