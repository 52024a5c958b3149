import { useState } from 'preact/hooks'
import { messageOf } from '../api.ts'
import { clockTime } from '../format.ts'
import { say } from '../texts.ts'
import { copyText, Notice } from '../ui.tsx'
import type { Session } from '../wire.ts'
import { OutcomeNotice, Paged, SaveForm, SelectField, SureButton, TextField, useAction } from './fields.tsx'
import { type ApiKey, createKey, listKeys, revokeKey } from './settings-api.ts'

export function KeySettings({ session }: { session: Session }) {
  const [version, setVersion] = useState(0)
  const revoking = useAction()
  const renew = () => setVersion((count) => count + 1)
  const revoke = (id: string) =>
    revoking.run(async () => {
      await revokeKey(id)
      renew()
      return { kind: 'info', text: say('Revoked. What was open on it is closed.') }
    })
  return (
    <>
      <OutcomeNotice outcome={revoking.outcome} />
      <Paged load={listKeys} version={version} empty="No keys were issued yet.">
        {(key) => <KeyRow key={key.id} info={key} busy={revoking.busy} onRevoke={() => void revoke(key.id)} />}
      </Paged>
      <h2>{say('Issue a key')}</h2>
      <IssueKey owner={session.owner} onIssued={renew} />
    </>
  )
}

function KeyRow({ info, busy, onRevoke }: { info: ApiKey; busy: boolean; onRevoke: () => void }) {
  const { name, owner, scopes, created_at, expires_at } = info
  return (
    <li class="settings-row settings-row-head">
      <strong>{name}</strong>
      <span class="row-title hint">
        {[owner, scopes.join(', '), clockTime(created_at)].join(' · ')}
        {expires_at !== null && ` · ${say('until {time}', { time: clockTime(expires_at) })}`}
      </span>
      <SureButton label={say('Revoke')} question="Revoke this key?" busy={busy} onSure={onRevoke} />
    </li>
  )
}

const SCOPES = [
  'conversations',
  'analysis',
  'conversations analysis',
  'conversations analysis admin',
  'runner',
] as const
const DAY_MS = 86_400_000

type Draft = { owner: string; name: string; scopes: string; days: string }

const keyOf = ({ owner, name, scopes, days }: Draft) => ({
  owner: owner.trim(),
  name: name.trim(),
  scopes: scopes.split(' '),
  expires_at: days.trim() === '' ? null : endAfter(days.trim()),
})

/** A number of days beyond every calendar is sent unchanged, so that the service reports the error. */
function endAfter(days: string): string {
  const end = new Date(Date.now() + Number(days) * DAY_MS)
  return Number.isNaN(end.getTime()) ? days : end.toISOString()
}

function IssueKey({ owner, onIssued }: { owner: string; onIssued: () => void }) {
  const [draft, setDraft] = useState<Draft>({ owner, name: '', scopes: 'conversations analysis', days: '' })
  const [issued, setIssued] = useState<string | null>(null)
  const set = (change: Partial<Draft>) => setDraft((before) => ({ ...before, ...change }))
  const issuing = useAction()
  const issue = () =>
    issuing.run(async () => {
      const { key } = await createKey(keyOf(draft))
      setIssued(key)
      set({ name: '' })
      onIssued()
      return undefined
    })
  return (
    <>
      <SaveForm action={issuing} verb="Issue" onSave={() => void issue()}>
        <KeyFields draft={draft} set={set} />
      </SaveForm>
      {issued !== null && <Issued issued={issued} />}
    </>
  )
}

const KeyFields = ({ draft, set }: { draft: Draft; set: (change: Partial<Draft>) => void }) => (
  <>
    <TextField
      label="Name"
      name="name"
      value={draft.name}
      onText={(name) => set({ name })}
      placeholder="laptop"
      isRequired
    />
    <TextField label="Owner" name="owner" value={draft.owner} onText={(text) => set({ owner: text })} isRequired />
    <SelectField
      label="What it may do"
      name="scopes"
      value={draft.scopes}
      options={SCOPES.map((list) => [list, list.replaceAll(' ', ', ')])}
      onPick={(scopes) => set({ scopes })}
    />
    <TextField
      label="Days until it ends"
      name="expires_at"
      kind="number"
      value={draft.days}
      onText={(days) => set({ days })}
      hint={say('Empty for never.')}
    />
  </>
)

function Issued({ issued }: { issued: string }) {
  const [copied, setCopied] = useState<string | null>(null)
  const copy = () =>
    copyText(issued).then(
      () => setCopied(say('Copied')),
      (error: unknown) => setCopied(messageOf(error)),
    )
  return (
    <Notice kind="warning" action={{ label: say('Copy'), run: () => void copy() }}>
      {say('This is the only time that the key is shown:')} <code class="issued-key">{issued}</code>
      {copied !== null && <p>{copied}</p>}
    </Notice>
  )
}
