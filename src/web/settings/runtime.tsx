import { useState } from 'preact/hooks'
import { noteChange, useChanges } from '../frame/tabs.ts'
import { say } from '../texts.ts'
import { Notice, RelativeTime } from '../ui.tsx'
import {
  Loading,
  OutcomeNotice,
  SaveForm,
  SelectField,
  SureButton,
  TextField,
  useAction,
  useLoaded,
} from './fields.tsx'
import { getSettings, listRunners, type Runner, removeRunner, type Settings, saveSettings } from './settings-api.ts'

/** Machines connect and disconnect at any time. */
const RUNNERS_EVERY_MS = 5_000

export function RuntimeSettings() {
  const settings = useLoaded(getStored)
  const runners = useLoaded(listRunners)
  useChanges('runners', runners.reload, RUNNERS_EVERY_MS)
  return (
    <>
      <Loading loaded={settings}>{({ stored }) => <RuntimeForm settings={stored} />}</Loading>
      <h2>{say('Runners')}</h2>
      <Loading loaded={runners}>{(found) => <RunnerList runners={found} onGone={runners.reload} />}</Loading>
    </>
  )
}

/** In an object, because `null` as a value would mean that it is still loading. */
const getStored = async () => ({ stored: await getSettings() })

function RuntimeForm({ settings }: { settings: Settings | null }) {
  const [runtime, setRuntime] = useState<string>(settings?.runtime ?? 'auto')
  const [labels, setLabels] = useState((settings?.runner_labels ?? []).join(', '))
  const saving = useAction()
  const save = () =>
    saving.run(async () => {
      const wanted = labels.split(/[,\s]+/).filter((label) => label !== '')
      await saveSettings({ runtime, runner_labels: wanted.length === 0 ? null : wanted })
      return undefined
    })
  return (
    <SaveForm action={saving} onSave={() => void save()}>
      <SelectField
        label="Where commands of new conversations run"
        name="runtime"
        value={runtime}
        options={[
          ['auto', say('On a runner if one is free, else at the edge')],
          ['edge', say('At the edge, in the built-in interpreter')],
          ['runner', say('Only on a runner')],
        ]}
        onPick={setRuntime}
      />
      {runtime !== 'edge' && (
        <TextField
          label="Labels that the runner must have"
          name="runner_labels"
          value={labels}
          onText={setLabels}
          placeholder="linux, gpu"
          hint={say('Separated by commas; empty for any runner.')}
        />
      )}
    </SaveForm>
  )
}

function RunnerList({ runners, onGone }: { runners: Runner[]; onGone: () => void }) {
  const removing = useAction()
  const remove = (id: string) =>
    removing.run(async () => {
      await removeRunner(id)
      noteChange('runners')
      onGone()
      return { kind: 'info', text: say('The runner was let go.') }
    })
  if (runners.length === 0) {
    return (
      <Notice kind="info">
        {say('No runner was ever connected. Start one beside the service with')} <code>npm run runner</code>
      </Notice>
    )
  }
  return (
    <>
      <OutcomeNotice outcome={removing.outcome} />
      <ul class="rows">
        {runners.map((runner) => (
          <RunnerRow key={runner.id} runner={runner} busy={removing.busy} onRemove={() => void remove(runner.id)} />
        ))}
      </ul>
    </>
  )
}

const STATES = { connected: 'connected', draining: 'finishing', gone: 'gone' } as const

function RunnerRow({ runner, busy, onRemove }: { runner: Runner; busy: boolean; onRemove: () => void }) {
  const { name, state, labels, os, arch, isolation, network, tools, conversations, capacity, seen_at } = runner
  return (
    <li class="settings-row">
      <div class="settings-row-head">
        <strong>{name}</strong>
        <span class={state === 'connected' ? 'badge running' : 'badge'}>{say(STATES[state])}</span>
        <span class="row-time">
          {state === 'gone' ? <RelativeTime time={seen_at} /> : `${conversations}/${capacity}`}
        </span>
      </div>
      <p class="hint">
        {[`${os} ${arch}`, say('isolation {kind}', { kind: isolation }), say('network {kind}', { kind: network })].join(
          ' · ',
        )}
        {labels.length > 0 && ` · ${labels.join(', ')}`}
      </p>
      <p class="hint mono">{tools.map((tool) => `${tool.name} ${tool.version}`).join(' · ')}</p>
      <SureButton label={say('Let go')} question="Close its connections and forget it?" busy={busy} onSure={onRemove} />
    </li>
  )
}
