import { useState } from 'preact/hooks'
import { say } from '../texts.ts'
import { Loading, OutcomeNotice, SaveForm, SureButton, TextField, useAction, useLoaded } from './fields.tsx'
import { getSettings, saveToken, unsetTokens } from './settings-api.ts'

const PROVIDERS = [
  { id: 'github', name: 'GitHub', host: 'github.com' },
  { id: 'gitlab', name: 'GitLab', host: 'gitlab.com' },
  { id: 'bitbucket', name: 'Bitbucket', host: 'bitbucket.org' },
] as const

const load = async () => (await getSettings())?.provider_tokens_set ?? {}

export function GitSettings() {
  const loaded = useLoaded(load)
  const unsetting = useAction()
  const unset = () =>
    unsetting.run(async () => {
      await unsetTokens()
      loaded.reload()
      return { kind: 'info', text: say('All tokens are gone.') }
    })
  return (
    <Loading loaded={loaded}>
      {(known) => (
        <>
          <p class="hint">
            {say('A token is tried with its host before it is stored. It is sealed, and never shown again.')}
          </p>
          {PROVIDERS.map((provider) => (
            <HostForm key={provider.id} provider={provider} known={known} onSaved={loaded.reload} />
          ))}
          {Object.keys(known).length > 0 && (
            <div>
              <SureButton
                label={say('Remove all tokens')}
                question="Remove the tokens of all hosts?"
                busy={unsetting.busy}
                onSure={() => void unset()}
              />
            </div>
          )}
          <OutcomeNotice outcome={unsetting.outcome} />
        </>
      )}
    </Loading>
  )
}

type Props = { provider: (typeof PROVIDERS)[number]; known: Record<string, string | null>; onSaved: () => void }

function HostForm({ provider: { id, name, host: usual }, known, onSaved }: Props) {
  const isSet = id in known
  const [token, setToken] = useState('')
  const [host, setHost] = useState(known[id] ?? '')
  const saving = useAction()
  const save = () =>
    saving.run(async () => {
      await saveToken(id, token.trim(), host.trim())
      setToken('')
      onSaved()
      return undefined
    })
  return (
    <section aria-label={name}>
      <h2>
        {name} {isSet && <span class="badge running">{say('connected')}</span>}
      </h2>
      <SaveForm action={saving} onSave={() => void save()}>
        <TextField
          label="Token"
          name={`provider_tokens.${id}.token`}
          kind="password"
          value={token}
          onText={setToken}
          placeholder={isSet ? say('A token is stored; type another to replace it') : ''}
          isRequired={!isSet}
        />
        <TextField
          label="Host"
          name={`provider_tokens.${id}.host`}
          value={host}
          onText={setHost}
          placeholder={usual}
          hint={say('Empty for the public one.')}
        />
      </SaveForm>
    </section>
  )
}
