import { useState } from 'preact/hooks'
import { say } from '../texts.ts'
import { Loading, SaveForm, SelectField, TextField, Toggle, useAction, useLoaded } from './fields.tsx'
import { getRiskLevel, getSettings, listAgents, type Settings, saveRiskLevel, saveSettings } from './settings-api.ts'

const load = async () => {
  const [settings, agents, risk] = await Promise.all([getSettings(), listAgents(), getRiskLevel()])
  return { settings, agents, level: risk.RISK_SEVERITY }
}

type Values = Awaited<ReturnType<typeof load>>

export function AgentSettings() {
  const loaded = useLoaded(load)
  return <Loading loaded={loaded}>{(values) => <AgentForm {...values} />}</Loading>
}

function AgentForm({ settings, agents, level: levelBefore }: Values) {
  const [draft, setDraft] = useState(() => draftOf(settings))
  const [level, setLevel] = useState(levelBefore)
  const saving = useAction()
  const set = (change: Partial<Draft>) => setDraft((before) => ({ ...before, ...change }))
  const save = () =>
    saving.run(async () => {
      await saveSettings(changeOf(draft))
      if (draft.asks) await saveRiskLevel(level)
      return undefined
    })
  return (
    <SaveForm action={saving} onSave={() => void save()}>
      <SelectField
        label="Agent"
        name="agent"
        value={draft.agent}
        options={[['', say('Default')], ...agents.map((name) => [name, name] as const)]}
        onPick={(agent) => set({ agent })}
        hint={say('CodeActAgent works with a model, ReadOnlyAgent only reads, ShellAgent runs messages as commands.')}
      />
      <Confirmation draft={draft} set={set} level={level} onLevel={setLevel} />
      <Limits draft={draft} set={set} />
      <Toggle
        label="Shorten long conversations for the model"
        isOn={draft.condenses}
        onChange={(condenses) => set({ condenses })}
      />
      <InCommits draft={draft} set={set} />
    </SaveForm>
  )
}

type ConfirmationProps = {
  draft: Draft
  set: (change: Partial<Draft>) => void
  level: number
  onLevel: (level: number) => void
}

const Confirmation = ({ draft, set, level, onLevel }: ConfirmationProps) => (
  <>
    <Toggle
      label="Ask me before risky actions"
      isOn={draft.asks}
      onChange={(asks) => set({ asks })}
      hint={say('The agent waits for your answer; the risk of each action is judged before it runs.')}
    />
    {draft.asks && (
      <SelectField
        label="Ask from this risk on"
        name="RISK_SEVERITY"
        value={String(level)}
        options={[
          ['0', say('low: everything')],
          ['1', say('medium')],
          ['2', say('high')],
        ]}
        onPick={(value) => onLevel(Number(value))}
      />
    )}
  </>
)

function Limits({ draft, set }: { draft: Draft; set: (change: Partial<Draft>) => void }) {
  return (
    <>
      <TextField
        label="Most steps of a turn"
        name="max_iterations"
        kind="number"
        value={draft.iterations}
        onText={(iterations) => set({ iterations })}
        hint={say('Empty for the default.')}
      />
      <TextField
        label="Most dollars of a task"
        name="max_budget_per_task"
        kind="number"
        value={draft.budget}
        onText={(budget) => set({ budget })}
        hint={say('Empty for no limit.')}
      />
    </>
  )
}

const InCommits = ({ draft: { gitName, gitEmail }, set }: { draft: Draft; set: (change: Partial<Draft>) => void }) => (
  <>
    <TextField label="Name in commits" name="git_user_name" value={gitName} onText={(text) => set({ gitName: text })} />
    <TextField
      label="E-mail in commits"
      name="git_user_email"
      value={gitEmail}
      onText={(text) => set({ gitEmail: text })}
    />
  </>
)

type Draft = {
  agent: string
  asks: boolean
  iterations: string
  budget: string
  condenses: boolean
  gitName: string
  gitEmail: string
}

const draftOf = (settings: Settings | null): Draft => ({
  agent: settings?.agent ?? '',
  asks: settings?.confirmation_mode ?? false,
  iterations: String(settings?.max_iterations ?? ''),
  budget: String(settings?.max_budget_per_task ?? ''),
  condenses: settings?.enable_default_condenser ?? true,
  gitName: settings?.git_user_name ?? '',
  gitEmail: settings?.git_user_email ?? '',
})

const changeOf = (draft: Draft) => ({
  agent: draft.agent === '' ? null : draft.agent,
  confirmation_mode: draft.asks,
  security_analyzer: draft.asks ? 'invariant' : null,
  max_iterations: draft.iterations.trim() || null,
  max_budget_per_task: draft.budget.trim() || null,
  enable_default_condenser: draft.condenses,
  git_user_name: draft.gitName.trim() || null,
  git_user_email: draft.gitEmail.trim() || null,
})
