import { useState } from 'preact/hooks'
import { clockTime } from '../format.ts'
import { say } from '../texts.ts'
import { Notice } from '../ui.tsx'
import type { Session } from '../wire.ts'
import { Loading, SaveForm, SelectField, SureButton, TextField, Told, useAction, useLoaded } from './fields.tsx'
import { type ApiKey, createKey, listKeys, revokeKey } from './settings-api.ts'

const load = () => listKeys(null)

export function KeySettings({ session }: { session: Session }) {
  const loaded = useLoaded(load)
  const revoking = useAction()
  const [older, setOlder] = useState<{ keys: ApiKey[]; next: string | null } | null>(null)
  const revoke = (id: string) =>
    revoking.run(async () => {
      await revokeKey(id)
      setOlder(null)
      loaded.reload()
      return { kind: 'info', text: say('Revoked. What was open on it is closed.') }
    })
  const more = (pageId: string) =>
    void listKeys(pageId).then(({ keys, next_page_id: next }) =>
      setOlder((before) => ({ keys: [...(before?.keys ?? []), ...keys], next })),
    )
  return (
    <>
      <Told outcome={revoking.outcome} />
      <Loading loaded={loaded}>
        {({ keys, next_page_id: first }) => {
          const next = older === null ? first : older.next
          return (
            <>
              {keys.length === 0 && <p class="empty">{say('No keys were issued yet.')}</p>}
              <ul class="rows">
                {[...keys, ...(older?.keys ?? [])].map((key) => (
                  <KeyRow key={key.id} info={key} busy={revoking.busy} onRevoke={() => void revoke(key.id)} />
                ))}
              </ul>
              {next !== null && (
                <button type="button" onClick={() => more(next)}>
                  {say('Show more')}
                </button>
              )}
            </>
          )
        }}
      </Loading>
      <h2>{say('Issue a key')}</h2>
      <IssueKey owner={session.owner} onIssued={loaded.reload} />
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

function IssueKey({ owner: own, onIssued }: { owner: string; onIssued: () => void }) {
  const [owner, setOwner] = useState(own)
  const [name, setName] = useState('')
  const [scopes, setScopes] = useState<string>('conversations analysis')
  const [days, setDays] = useState('')
  const [issued, setIssued] = useState<string | null>(null)
  const issuing = useAction()
  const issue = () =>
    issuing.run(async () => {
      const until = days.trim() === '' ? null : new Date(Date.now() + Number(days) * DAY_MS).toISOString()
      const { key } = await createKey({
        owner: owner.trim(),
        name: name.trim(),
        scopes: scopes.split(' '),
        expires_at: until,
      })
      setIssued(key)
      setName('')
      onIssued()
      return undefined
    })
  return (
    <>
      <SaveForm action={issuing} onSave={() => void issue()}>
        <TextField label="Name" value={name} onText={setName} placeholder="laptop" isRequired />
        <TextField label="Owner" value={owner} onText={setOwner} isRequired />
        <SelectField
          label="What it may do"
          value={scopes}
          options={SCOPES.map((list) => [list, list.replaceAll(' ', ', ')])}
          onPick={setScopes}
        />
        <TextField
          label="Days until it ends"
          kind="number"
          value={days}
          onText={setDays}
          hint={say('Empty for never.')}
        />
      </SaveForm>
      {issued !== null && (
        <Notice kind="warning" action={{ label: say('Copy'), run: () => void navigator.clipboard.writeText(issued) }}>
          {say('This is the only time that the key is shown:')} <code class="issued-key">{issued}</code>
        </Notice>
      )}
    </>
  )
}
