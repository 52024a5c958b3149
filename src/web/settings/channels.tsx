// The channels that reports are sent to. The settings of each kind are read from the API document, so a new kind needs
// no change here.

import { useState } from 'preact/hooks'
import { getApiDocument } from '../api.ts'
import type { ApiDocument, Schema } from '../reference/document.ts'
import { type Language, language, say } from '../texts.ts'
import {
  Field,
  Input,
  Loading,
  type Outcome,
  OutcomeNotice,
  SaveForm,
  SelectField,
  SureButton,
  TextField,
  useAction,
  useLoaded,
} from './fields.tsx'
import {
  type Channel,
  type ChannelTest,
  deleteChannel,
  listChannels,
  saveChannel,
  testChannel,
} from './settings-api.ts'

export function ChannelSettings() {
  const loaded = useLoaded(listChannels)
  const kinds = useLoaded(loadKinds)
  return (
    <>
      <Loading loaded={loaded}>
        {(channels) =>
          channels.length === 0 ? (
            <p class="empty">
              {say('No channels yet. Finished reports and reviews are sent to each that is switched on.')}
            </p>
          ) : (
            <ul class="rows">
              {channels.map((channel) => (
                <ChannelRow key={channel.channel_id} channel={channel} onChange={loaded.reload} />
              ))}
            </ul>
          )
        }
      </Loading>
      <h2>{say('Add a channel')}</h2>
      <Loading loaded={kinds}>{(found) => <AddChannel kinds={found} onAdded={loaded.reload} />}</Loading>
    </>
  )
}

function ChannelRow({ channel, onChange }: { channel: Channel; onChange: () => void }) {
  const { channel_id: id, kind, mode, enabled, settings, readable, from_environment: isOperators } = channel
  const acting = useAction()
  const act = (work: () => Promise<Outcome | undefined>) =>
    void acting.run(async () => {
      const outcome = await work()
      onChange()
      return outcome
    })
  const shown = Object.entries(settings).map(([name, value]) => `${name}: ${String(value)}`)
  return (
    <li class="settings-row">
      <div class="settings-row-head">
        <strong>{id}</strong>
        <span class="badge">{nameOf(kind)}</span>
        {mode === 'digest' && <span class="badge">{say('digest')}</span>}
        {!enabled && <span class="badge">{say('off')}</span>}
        {!readable && <span class="badge failed">{say('its secrets cannot be read any more')}</span>}
      </div>
      <p class="hint">{isOperators ? say('Set by the operator of this service.') : shown.join(' · ')}</p>
      <ChannelButtons channel={channel} busy={acting.busy} act={act} />
      <OutcomeNotice outcome={acting.outcome} />
    </li>
  )
}

type ButtonsProps = { channel: Channel; busy: boolean; act: (work: () => Promise<Outcome | undefined>) => void }

function ChannelButtons({ channel, busy, act }: ButtonsProps) {
  const { channel_id: id, kind, enabled, from_environment: isOperators } = channel
  const toggle = async () => {
    await saveChannel(id, { kind, settings: {}, enabled: !enabled })
    return undefined
  }
  const remove = async () => {
    await deleteChannel(id)
    return undefined
  }
  return (
    <div class="form-actions">
      <button type="button" disabled={busy} onClick={() => act(async () => testOutcome(await testChannel(id)))}>
        {say('Send a test message')}
      </button>
      {!isOperators && (
        <>
          <button type="button" disabled={busy} onClick={() => act(toggle)}>
            {enabled ? say('Switch off') : say('Switch on')}
          </button>
          <SureButton label={say('Delete')} question="Delete this channel?" busy={busy} onSure={() => act(remove)} />
        </>
      )}
    </div>
  )
}

function testOutcome({ ok, error, retry_after_seconds: wait }: ChannelTest): Outcome {
  if (ok) return { kind: 'info', text: say('Sent. Look whether it has arrived.') }
  const later = wait === null ? '' : ` ${say('Try again in {seconds} s.', { seconds: wait })}`
  return { kind: 'error', text: `${error ?? say('It was not sent.')}${later}` }
}

type KindField = { name: string; isSecret: boolean; isNumber: boolean; isList: boolean; hint: string }
type ChannelKind = { kind: string; fields: KindField[] }

/** As written by their makers. */
const NAMES: Readonly<Record<string, Readonly<Record<Language, string>>>> = {
  dingtalk: { en: 'DingTalk', zh: '钉钉' },
  discord: { en: 'Discord', zh: 'Discord' },
  feishu: { en: 'Feishu (Lark)', zh: '飞书' },
  gotify: { en: 'Gotify', zh: 'Gotify' },
  mailgun: { en: 'E-mail (Mailgun)', zh: '邮件（Mailgun）' },
  ntfy: { en: 'ntfy', zh: 'ntfy' },
  pushover: { en: 'Pushover', zh: 'Pushover' },
  pushplus: { en: 'PushPlus', zh: 'PushPlus' },
  resend: { en: 'E-mail (Resend)', zh: '邮件（Resend）' },
  sendgrid: { en: 'E-mail (SendGrid)', zh: '邮件（SendGrid）' },
  serverchan: { en: 'ServerChan', zh: 'Server 酱' },
  slack: { en: 'Slack', zh: 'Slack' },
  telegram: { en: 'Telegram', zh: 'Telegram' },
  webhook: { en: 'Webhook', zh: 'Webhook' },
  wecom: { en: 'WeCom', zh: '企业微信' },
}

/** An unknown kind is shown with its own name. */
const nameOf = (kind: string): string => NAMES[kind]?.[language] ?? kind

const PREFIX = 'ChannelInput_'

async function loadKinds(): Promise<ChannelKind[]> {
  const { components } = await getApiDocument()
  const schemas = components.schemas ?? {}
  return Object.keys(schemas)
    .filter((name) => name.startsWith(PREFIX))
    .map((name) => ({ kind: name.slice(PREFIX.length), fields: fieldsOf(schemas, schemas[name]) }))
    .sort((a, b) => a.kind.localeCompare(b.kind))
}

function fieldsOf(schemas: NonNullable<ApiDocument['components']['schemas']>, input: Schema | undefined): KindField[] {
  const settings = resolved(schemas, input?.properties?.settings)
  return Object.entries(settings?.properties ?? {}).map(([name, schema]) => {
    const types = typesOf(schema)
    return {
      name,
      isSecret: schema.description === 'Never shown',
      isNumber: types.has('integer') || types.has('number'),
      isList: types.has('array'),
      hint: schema.description === 'Never shown' ? '' : (schema.description ?? ''),
    }
  })
}

const resolved = (schemas: Record<string, Schema>, schema: Schema | undefined): Schema | undefined =>
  schema?.$ref === undefined ? schema : schemas[schema.$ref.split('/').at(-1) ?? '']

const typesOf = (schema: Schema): Set<string> =>
  new Set([schema, ...(schema.anyOf ?? []), ...(schema.oneOf ?? [])].flatMap(({ type }) => type ?? []))

type Draft = { kind: string; id: string; mode: string; values: Record<string, string> }

function AddChannel({ kinds, onAdded }: { kinds: ChannelKind[]; onAdded: () => void }) {
  const [draft, setDraft] = useState<Draft>({ kind: kinds[0]?.kind ?? '', id: '', mode: 'single', values: {} })
  const set = (change: Partial<Draft>) => setDraft((before) => ({ ...before, ...change }))
  const saving = useAction()
  const { kind, id, mode, values } = draft
  const fields = kinds.find((one) => one.kind === kind)?.fields ?? []
  const save = () =>
    saving.run(async () => {
      await saveChannel(id.trim(), { kind, mode, settings: settingsOf(fields, values) })
      set({ id: '', values: {} })
      onAdded()
      return { kind: 'info', text: say('Saved. Send a test message to see whether it works.') }
    })
  return (
    <SaveForm action={saving} onSave={() => void save()}>
      <SelectField
        label="Kind"
        name="kind"
        value={kind}
        options={kinds.map((one) => [one.kind, nameOf(one.kind)])}
        onPick={(picked) => set({ kind: picked })}
      />
      <NameField id={id} onId={(text) => set({ id: text })} />
      {fields.map((field) => (
        <RawField
          key={`${kind} ${field.name}`}
          field={field}
          value={values[field.name] ?? ''}
          onText={(text) => set({ values: { ...values, [field.name]: text } })}
        />
      ))}
      <ModeField mode={mode} onMode={(picked) => set({ mode: picked })} />
    </SaveForm>
  )
}

const NameField = ({ id, onId }: { id: string; onId: (id: string) => void }) => (
  <TextField
    label="Name"
    name="channel_id"
    value={id}
    onText={onId}
    placeholder="evening-chat"
    hint={say('Small letters, digits, _ and -.')}
    isRequired
  />
)

const ModeField = ({ mode, onMode }: { mode: string; onMode: (mode: string) => void }) => (
  <SelectField
    label="Messages"
    name="mode"
    value={mode}
    options={[
      ['single', say('one for each report')],
      ['digest', say('one for all that was asked for together')],
    ]}
    onPick={onMode}
  />
)

/** Has the name from the API, because the documentation of the channel's service uses the same. */
const RawField = ({ field, value, onText }: { field: KindField; value: string; onText: (text: string) => void }) => (
  <Field
    label={field.name}
    isRaw
    name={`settings.${field.name}`}
    hint={field.hint === '' ? undefined : <span lang="en">{field.hint}</span>}
  >
    {(attributes) => (
      <Input
        kind={field.isSecret ? 'password' : field.isNumber ? 'number' : 'text'}
        spellcheck={false}
        {...attributes}
        value={value}
        onInput={(event) => onText(event.currentTarget.value)}
      />
    )}
  </Field>
)

/** Empty fields are left out: the channel's own default is used then. */
const settingsOf = (fields: KindField[], values: Record<string, string>) =>
  Object.fromEntries(
    fields.flatMap(({ name, isList }) => {
      const text = values[name]?.trim() ?? ''
      if (text === '') return []
      return [[name, isList ? text.split(/\s*[,;]\s*/) : text]]
    }),
  )
