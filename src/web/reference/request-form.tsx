import { useEffect, useId, useRef, useState } from 'preact/hooks'
import { messageOf } from '../api.ts'
import { locale, say } from '../texts.ts'
import { isCopied, Notice } from '../ui.tsx'
import { type Endpoint, limitsText, type Parameter } from './document.ts'
import { type Answer, bodyTypeOf, curlLine, type Filled, firstFilling, MAX_SHOWN, placeOf, send } from './request.ts'
import { Words } from './schema-view.tsx'

type Outcome =
  | { state: 'none' }
  | { state: 'sending'; text: string }
  | { state: 'answered'; answer: Answer }
  | { state: 'failed'; text: string }

type FormProps = { endpoint: Endpoint; apiKey: string }

export function RequestForm({ endpoint, apiKey }: FormProps) {
  const [filled, setFilled] = useState<Filled>(() => firstFilling(endpoint))
  const { outcome, run, stop } = useRequest(endpoint, { ...filled, key: apiKey })
  const set = (name: string, value: string) => setFilled({ ...filled, values: { ...filled.values, [name]: value } })
  const submit = (event: Event) => {
    event.preventDefault()
    run()
  }
  const isSending = outcome.state === 'sending'
  return (
    <form
      class="request"
      aria-label={say('Request {method} {path}', { method: endpoint.method, path: endpoint.path })}
      onSubmit={submit}
    >
      {(endpoint.operation.parameters ?? []).map((parameter) => (
        <ParameterField
          key={placeOf(parameter)}
          parameter={parameter}
          value={filled.values[placeOf(parameter)] ?? ''}
          onInput={(value) => set(placeOf(parameter), value)}
        />
      ))}
      <BodyField endpoint={endpoint} filled={filled} onChange={setFilled} />
      <div class="request-actions">
        <button type="submit" class={endpoint.method === 'DELETE' ? 'danger' : 'primary'} disabled={isSending}>
          {isSending ? say('Sending…') : say('Send')}
        </button>
        {isSending && (
          <button type="button" onClick={stop}>
            {say('Stop')}
          </button>
        )}
        <CopyCurl line={() => curlLine(endpoint, { ...filled, key: apiKey }, location.origin)} />
      </div>
      <OutcomeView outcome={outcome} />
    </form>
  )
}

function useRequest(endpoint: Endpoint, filled: Filled) {
  const [outcome, setOutcome] = useState<Outcome>({ state: 'none' })
  const running = useRef<AbortController | null>(null)
  useEffect(() => () => running.current?.abort(), [])
  const stop = () => running.current?.abort()
  const run = () => {
    stop()
    const controller = new AbortController()
    running.current = controller
    const tell = (next: Outcome) => {
      if (running.current === controller) setOutcome(next)
    }
    tell({ state: 'sending', text: '' })
    send(endpoint, filled, controller.signal, (text) => tell({ state: 'sending', text })).then(
      (answer) => tell({ state: 'answered', answer }),
      (error: unknown) =>
        tell({
          state: 'failed',
          text: controller.signal.aborted ? say('Stopped before an answer.') : messageOf(error),
        }),
    )
  }
  return { outcome, run, stop }
}

type FieldProps = { parameter: Parameter; value: string; onInput: (value: string) => void }

function ParameterField({ parameter, value, onInput }: FieldProps) {
  const id = useId()
  const { name, schema = {}, description, required = false } = parameter
  return (
    <div class="field">
      <label for={id}>
        <code>{name}</code> <span class="hint">{parameter.in}</span>{' '}
        {required && <span class="badge">{say('required')}</span>}
      </label>
      {schema.enum === undefined ? (
        <input
          id={id}
          class="mono"
          value={value}
          required={required}
          onInput={(event) => onInput(event.currentTarget.value)}
        />
      ) : (
        <select id={id} value={value} onChange={(event) => onInput(event.currentTarget.value)}>
          <option value="">–</option>
          {schema.enum.map((choice) => (
            <option key={String(choice)}>{String(choice)}</option>
          ))}
        </select>
      )}
      <span class="hint">
        <Words text={[description, limitsText(schema)].filter(Boolean).join(' · ')} />
      </span>
    </div>
  )
}

type BodyProps = { endpoint: Endpoint; filled: Filled; onChange: (filled: Filled) => void }

function BodyField({ endpoint, filled, onChange }: BodyProps) {
  const id = useId()
  const type = bodyTypeOf(endpoint)
  if (type === undefined) return null
  return (
    <div class="field">
      <label for={id}>
        {say('Body')} <span class="hint">{type}</span>
      </label>
      {type === 'multipart/form-data' ? (
        <input
          id={id}
          type="file"
          multiple
          onChange={(event) => onChange({ ...filled, files: [...(event.currentTarget.files ?? [])] })}
        />
      ) : (
        <textarea
          id={id}
          class="mono"
          rows={Math.min(16, filled.body.split('\n').length + 1)}
          spellcheck={false}
          value={filled.body}
          onInput={(event) => onChange({ ...filled, body: event.currentTarget.value })}
        />
      )}
    </div>
  )
}

function CopyCurl({ line }: { line: () => string }) {
  const [told, setTold] = useState(say('Copy as curl'))
  const copy = async () => setTold((await isCopied(line())) ? say('Copied') : say('Not copied'))
  return (
    <button type="button" class="quiet" onClick={() => void copy()}>
      {told}
    </button>
  )
}

function OutcomeView({ outcome }: { outcome: Outcome }) {
  if (outcome.state === 'none') return null
  if (outcome.state === 'failed') return <Notice kind="error">{outcome.text}</Notice>
  if (outcome.state === 'sending')
    return outcome.text === '' ? null : <Code text={outcome.text} label={say('Stream')} />
  const { status, statusText, ms, headers, body } = outcome.answer
  return (
    <section aria-label={say('The answer')} class="answer">
      <p role="status">
        <strong class={status < 400 ? 'good' : 'bad'}>
          {status} {statusText}
        </strong>{' '}
        <span class="hint">{ms} ms</span>
      </p>
      {body.kind === 'file' ? <Download {...body} /> : <Code text={body.text} label={say('Body of the answer')} />}
      <details>
        <summary>{say('Headers')}</summary>
        <Code
          text={headers.map(([name, value]) => `${name}: ${value}`).join('\n')}
          label={say('Headers of the answer')}
        />
      </details>
    </section>
  )
}

function Download({ blob, name }: { blob: Blob; name: string }) {
  const [url] = useState(() => URL.createObjectURL(blob))
  useEffect(() => () => URL.revokeObjectURL(url), [url])
  return (
    <a class="button" href={url} download={name}>
      {say('Save {name} ({count} bytes)', { name, count: blob.size.toLocaleString(locale) })}
    </a>
  )
}

export function Code({ text, label }: { text: string; label: string }) {
  if (text === '') return <p class="hint">{say('No body.')}</p>
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable with the keyboard in every browser
    <section class="code" tabIndex={0} aria-label={label}>
      <pre>
        {text.slice(0, MAX_SHOWN)}
        {text.length > MAX_SHOWN && `\n… ${say('{count} more characters', { count: text.length - MAX_SHOWN })}`}
      </pre>
    </section>
  )
}
