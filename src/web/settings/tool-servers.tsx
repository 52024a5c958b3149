import { useState } from 'preact/hooks'
import { say } from '../texts.ts'
import { Notice } from '../ui.tsx'
import { Loading, SaveForm, SelectField, SureButton, TextField, Told, useAction, useLoaded } from './fields.tsx'
import { getSettings, saveSettings, type ToolServers } from './settings-api.ts'

const NONE: ToolServers = { sse_servers: [], shttp_servers: [], stdio_servers: [] }

const load = async () => (await getSettings())?.mcp_config ?? NONE

export function ToolServerSettings() {
  const loaded = useLoaded(load)
  const changing = useAction()
  const keep = (servers: ToolServers, done: string) =>
    changing.run(async () => {
      await saveSettings({ mcp_config: servers })
      loaded.reload()
      return { kind: 'info', text: done }
    })
  return (
    <>
      <p class="hint">
        {say(
          'Servers of the Model Context Protocol whose tools the agent may call. Changes count from the next step on.',
        )}
      </p>
      <Told outcome={changing.outcome} />
      <Loading loaded={loaded}>
        {(servers) => (
          <>
            <ServerList servers={servers} onChange={(rest) => void keep(rest, say('Removed.'))} />
            <AddServer onAdd={(added) => void keep(joined(servers, added), say('Saved.'))} busy={changing.busy} />
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

function AddServer({ onAdd, busy }: { onAdd: (added: Partial<ToolServers>) => void; busy: boolean }) {
  const [draft, setDraft] = useState(EMPTY)
  const set = (change: Partial<Draft>) => setDraft((before) => ({ ...before, ...change }))
  const add = () => {
    onAdd(serverOf(draft))
    setDraft({ ...EMPTY, kind: draft.kind })
  }
  return (
    <SaveForm action={{ busy, outcome: null, run: async () => {} }} onSave={add}>
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
    <TextField label="Name" value={name} onText={(text) => set({ name: text })} placeholder="everything" isRequired />
    <TextField
      label="Command"
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
      kind="url"
      value={url}
      onText={(text) => set({ url: text })}
      placeholder="https://tools.example.com/mcp"
      isMono
      isRequired
    />
    <TextField
      label="Key"
      kind="password"
      value={key}
      onText={(text) => set({ key: text })}
      hint={say('Empty if it needs none.')}
    />
  </>
)
