import { useState } from 'preact/hooks'
import { say } from '../texts.ts'
import { Notice } from '../ui.tsx'
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
import { getSettings, saveSettings, type ToolServers } from './settings-api.ts'

const NONE: ToolServers = { sse_servers: [], shttp_servers: [], stdio_servers: [] }

const load = async () => (await getSettings())?.mcp_config ?? NONE

export function ToolServerSettings() {
  const loaded = useLoaded(load)
  const changing = useAction()
  const keep = async (servers: ToolServers) => {
    await saveSettings({ mcp_config: servers })
    loaded.reload()
  }
  const remove = (rest: ToolServers) =>
    changing.run(async () => {
      await keep(rest)
      return { kind: 'info', text: say('Removed.') }
    })
  return (
    <>
      <p class="hint">
        {say(
          'Servers of the Model Context Protocol whose tools the agent may call. Changes count from the next step on.',
        )}
      </p>
      <OutcomeNotice outcome={changing.outcome} />
      <Loading loaded={loaded}>
        {(servers) => (
          <>
            <ServerList servers={servers} onChange={(rest) => void remove(rest)} />
            <AddServer servers={servers} onAdd={keep} />
          </>
        )}
      </Loading>
    </>
  )
}

const joined = (before: ToolServers, added: Partial<ToolServers>): ToolServers => ({
  sse_servers: [...before.sse_servers, ...(added.sse_servers ?? [])],
  shttp_servers: [...before.shttp_servers, ...(added.shttp_servers ?? [])],
  stdio_servers: [...before.stdio_servers, ...(added.stdio_servers ?? [])],
})

type Kind = keyof ToolServers

const KINDS = ['shttp_servers', 'sse_servers', 'stdio_servers'] as const
const KIND_NAMES = { shttp_servers: 'HTTP', sse_servers: 'SSE', stdio_servers: 'program' } as const

function ServerList({ servers, onChange }: { servers: ToolServers; onChange: (rest: ToolServers) => void }) {
  const without = (kind: Kind, at: number): ToolServers => ({ ...servers, [kind]: servers[kind].toSpliced(at, 1) })
  if (KINDS.every((kind) => servers[kind].length === 0)) return <p class="empty">{say('No tool servers yet.')}</p>
  return (
    <ul class="rows">
      {KINDS.flatMap((kind) =>
        servers[kind].map((server, at) => (
          <li key={`${kind} ${at}`} class="settings-row settings-row-head">
            <span class="badge">{KIND_NAMES[kind]}</span>
            <span class="row-title mono">{'url' in server ? server.url : commandOf(server)}</span>
            <SureButton
              label={say('Remove')}
              question="Remove this server?"
              onSure={() => onChange(without(kind, at))}
            />
          </li>
        )),
      )}
    </ul>
  )
}

const commandOf = ({ name, command, args = [] }: ToolServers['stdio_servers'][number]): string =>
  `${name}: ${[command, ...args].join(' ')}`

type Draft = { kind: Kind; url: string; key: string; name: string; line: string }

const EMPTY: Draft = { kind: 'shttp_servers', url: '', key: '', name: '', line: '' }

function serverOf({ kind, url, key, name, line }: Draft): Partial<ToolServers> {
  if (kind !== 'stdio_servers') return { [kind]: [{ url: url.trim(), api_key: key.trim() || null }] }
  const [command = '', ...args] = line.trim().split(/\s+/)
  return { stdio_servers: [{ name: name.trim(), command, args, env: {} }] }
}

type AddProps = { servers: ToolServers; onAdd: (all: ToolServers) => Promise<void> }

function AddServer({ servers, onAdd }: AddProps) {
  const [draft, setDraft] = useState(EMPTY)
  const set = (change: Partial<Draft>) => setDraft((before) => ({ ...before, ...change }))
  const adding = useAction()
  const add = () =>
    adding.run(async () => {
      await onAdd(joined(servers, serverOf(draft)))
      setDraft({ ...EMPTY, kind: draft.kind })
      return undefined
    })
  const within = `mcp_config.${draft.kind}.${servers[draft.kind].length}`
  return (
    <SaveForm action={adding} within={within} onSave={() => void add()}>
      <SelectField
        label="Add a server"
        value={draft.kind}
        options={[
          ['shttp_servers', say('over HTTP (streamable)')],
          ['sse_servers', say('over HTTP with server-sent events')],
          ['stdio_servers', say('a program, started on the conversation’s runner')],
        ]}
        onPick={(picked) => set({ kind: KINDS.find((one) => one === picked) ?? 'shttp_servers' })}
      />
      {draft.kind === 'stdio_servers' ? (
        <ProgramFields draft={draft} set={set} />
      ) : (
        <RemoteFields draft={draft} set={set} />
      )}
    </SaveForm>
  )
}

type PartProps = { draft: Draft; set: (change: Partial<Draft>) => void }

const ProgramFields = ({ draft: { name, line }, set }: PartProps) => (
  <>
    <TextField
      label="Name"
      name="name"
      value={name}
      onText={(text) => set({ name: text })}
      placeholder="everything"
      isRequired
    />
    <TextField
      label="Command"
      name="command"
      value={line}
      onText={(text) => set({ line: text })}
      placeholder="npx -y @modelcontextprotocol/server-everything"
      isMono
      isRequired
    />
    <Notice kind="info">{say('Programs need a runner; without one the conversation says so and goes on.')}</Notice>
  </>
)

const RemoteFields = ({ draft: { url, key }, set }: PartProps) => (
  <>
    <TextField
      label="Address"
      name="url"
      kind="url"
      value={url}
      onText={(text) => set({ url: text })}
      placeholder="https://tools.example.com/mcp"
      isMono
      isRequired
    />
    <TextField
      label="Key"
      name="api_key"
      kind="password"
      value={key}
      onText={(text) => set({ key: text })}
      hint={say('Empty if it needs none.')}
    />
  </>
)
