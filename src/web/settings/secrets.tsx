import { useState } from 'preact/hooks'
import { say } from '../texts.ts'
import { Loading, OutcomeNotice, SaveForm, SureButton, TextField, useAction, useLoaded } from './fields.tsx'
import { createSecret, deleteSecret, listSecrets, type Secret } from './settings-api.ts'

export function SecretSettings() {
  const loaded = useLoaded(listSecrets)
  const removing = useAction()
  const remove = (name: string) =>
    removing.run(async () => {
      await deleteSecret(name)
      loaded.reload()
      return { kind: 'info', text: say('{name} is gone.', { name }) }
    })
  return (
    <>
      <p class="hint">
        {say('Each becomes a variable in the shell of your conversations; its value is masked wherever it would show.')}
      </p>
      <OutcomeNotice outcome={removing.outcome} />
      <Loading loaded={loaded}>
        {(secrets) =>
          secrets.length === 0 ? (
            <p class="empty">{say('No secrets yet.')}</p>
          ) : (
            <ul class="rows">
              {secrets.map((secret) => (
                <SecretRow
                  key={secret.name}
                  secret={secret}
                  busy={removing.busy}
                  onRemove={() => void remove(secret.name)}
                />
              ))}
            </ul>
          )
        }
      </Loading>
      <AddSecret onAdded={loaded.reload} />
    </>
  )
}

type RowProps = { secret: Secret; busy: boolean; onRemove: () => void }

const SecretRow = ({ secret: { name, description }, busy, onRemove }: RowProps) => (
  <li class="settings-row settings-row-head">
    <strong class="mono">{name}</strong>
    <span class="row-title hint">{description}</span>
    <SureButton label={say('Delete')} question="Delete this secret?" busy={busy} onSure={onRemove} />
  </li>
)

function AddSecret({ onAdded }: { onAdded: () => void }) {
  const [name, setName] = useState('')
  const [value, setValue] = useState('')
  const [description, setDescription] = useState('')
  const saving = useAction()
  const save = () =>
    saving.run(async () => {
      await createSecret({ name: name.trim(), value, description: description.trim() })
      for (const clear of [setName, setValue, setDescription]) clear('')
      onAdded()
      return undefined
    })
  return (
    <SaveForm action={saving} onSave={() => void save()}>
      <TextField
        label="Name"
        name="name"
        value={name}
        onText={setName}
        placeholder="NPM_TOKEN"
        hint={say('Letters, digits and _, no digit first.')}
        isMono
        isRequired
      />
      <TextField label="Value" name="value" kind="password" value={value} onText={setValue} isRequired />
      <TextField label="What it is for" name="description" value={description} onText={setDescription} />
    </SaveForm>
  )
}
