import { useState } from 'preact/hooks'
import { getSetup } from '../api.ts'
import { say } from '../texts.ts'
import { Notice } from '../ui.tsx'
import { Loading, type Outcome, OutcomeNotice, SaveForm, TextField, useAction, useLoaded } from './fields.tsx'
import { getSettings, listModels, type ModelTest, type Settings, saveSettings, testModel } from './settings-api.ts'

const load = async () => {
  const [settings, models, { model }] = await Promise.all([getSettings(), listModels(), getSetup()])
  return { settings, models, operators: model.is_own ? null : model.id }
}

export function ModelSettings() {
  const loaded = useLoaded(load)
  return <Loading loaded={loaded}>{(known) => <ModelForm {...known} onSaved={loaded.reload} />}</Loading>
}

/** `operators`: the model that is used if the owner has set none; null if there is none either. */
type Props = { settings: Settings | null; models: string[]; operators: string | null; onSaved: () => void }

type Draft = { model: string; address: string; key: string }

function ModelForm({ settings, models, operators, onSaved }: Props) {
  const [draft, setDraft] = useState<Draft>({
    model: settings?.llm_model ?? '',
    address: settings?.llm_base_url ?? '',
    key: '',
  })
  const saving = useAction()
  const isKeySet = settings?.llm_api_key_set ?? false
  const set = (change: Partial<Draft>) => setDraft((before) => ({ ...before, ...change }))
  const change = () => ({ llm_model: draft.model.trim(), llm_base_url: draft.address.trim(), ...keyOf(draft.key) })
  const save = () =>
    saving.run(async () => {
      const { warning } = await saveSettings(change())
      set({ key: '' })
      onSaved()
      return warning === undefined ? undefined : { kind: 'warning', text: warning }
    })
  return (
    <>
      {settings?.llm_model == null && (
        <Notice kind="info">
          {operators === null
            ? say('No model is set: messages run as shell commands.')
            : say('You have set no model: that of the operator, {model}, is used.', { model: operators })}
        </Notice>
      )}
      <SaveForm action={saving} onSave={() => void save()} extra={<TestButton trial={change} />}>
        <ModelFields draft={draft} set={set} models={models} isKeySet={isKeySet} />
      </SaveForm>
      {isKeySet && <ForgetKey onForgotten={onSaved} />}
    </>
  )
}

type FieldsProps = { draft: Draft; set: (change: Partial<Draft>) => void; models: string[]; isKeySet: boolean }

const ModelFields = ({ draft: { model, address, key }, set, models, isKeySet }: FieldsProps) => (
  <>
    <TextField
      label="Model"
      name="llm_model"
      value={model}
      onText={(text) => set({ model: text })}
      suggestions={models}
      placeholder="anthropic/claude-sonnet-4-5"
      hint={say('provider/model; {count} are known here, and any name works with an address of your own.', {
        count: models.length,
      })}
      isMono
    />
    <TextField
      label="API key"
      name="llm_api_key"
      value={key}
      onText={(text) => set({ key: text })}
      kind="password"
      placeholder={isKeySet ? say('A key is stored; type another to replace it') : ''}
      hint={say('Sealed when it is stored, and never shown again.')}
    />
    <TextField
      label="Address of the model server"
      name="llm_base_url"
      value={address}
      onText={(text) => set({ address: text })}
      kind="url"
      placeholder="https://models.example.com/v1"
      hint={say('Only for a server of your own, or a provider that is not known here.')}
      isMono
    />
  </>
)

const keyOf = (key: string) => (key.trim() === '' ? {} : { llm_api_key: key.trim() })

function TestButton({ trial }: { trial: () => Record<string, unknown> }) {
  const [busy, setBusy] = useState(false)
  const [outcome, setOutcome] = useState<Outcome | null>(null)
  const test = async () => {
    setBusy(true)
    setOutcome(null)
    try {
      setOutcome(outcomeOf(await testModel(trial())))
    } catch (error) {
      setOutcome({ kind: 'error', text: error instanceof Error ? error.message : String(error) })
    }
    setBusy(false)
  }
  return (
    <>
      <button type="button" disabled={busy} onClick={() => void test()}>
        {busy ? say('Asking…') : say('Test')}
      </button>
      <OutcomeNotice outcome={outcome} />
    </>
  )
}

const outcomeOf = ({ ok, model, latency_ms, error }: ModelTest): Outcome =>
  ok
    ? {
        kind: 'info',
        text: say('{model} answered after {seconds} s.', {
          model: model ?? '',
          seconds: ((latency_ms ?? 0) / 1000).toFixed(1),
        }),
      }
    : { kind: 'error', text: error ?? '' }

function ForgetKey({ onForgotten }: { onForgotten: () => void }) {
  const forgetting = useAction()
  const forget = () =>
    forgetting.run(async () => {
      await saveSettings({ llm_api_key: '' })
      onForgotten()
      return { kind: 'info', text: say('The stored key is gone.') }
    })
  return (
    <div>
      <button type="button" class="quiet" disabled={forgetting.busy} onClick={() => void forget()}>
        {say('Forget the stored key')}
      </button>
      <OutcomeNotice outcome={forgetting.outcome} />
    </div>
  )
}
