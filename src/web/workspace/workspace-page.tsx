// The workspace of a conversation: files, changes, terminal and servers. The whole folder is loaded when it is first opened.

import './workspace.css'
import { useEffect, useState } from 'preact/hooks'
import { getConversation, messageOf } from '../api.ts'
import { Missing } from '../conversation/chat-page.tsx'
import { lazy } from '../lazy.tsx'
import { Link, usePageTitle } from '../router.tsx'
import { say, type Text } from '../texts.ts'
import { Notice } from '../ui.tsx'
import { ChangesPane } from './changes-pane.tsx'
import { FilesPane } from './files-pane.tsx'
import { PortsPane } from './ports-pane.tsx'
import { zipAddress } from './workspace-api.ts'

const TABS = { files: 'Files', changes: 'Changes', terminal: 'Terminal', ports: 'Servers' } as const satisfies Record<
  string,
  Text
>
const isTab = (tab: string): tab is keyof typeof TABS => Object.hasOwn(TABS, tab)

const LazyTerminal = lazy<{ id: string }>(async () => (await import('./terminal-pane.tsx')).TerminalPane)
const PANES = { files: FilesPane, changes: ChangesPane, terminal: LazyTerminal, ports: PortsPane } as const

export function WorkspacePage({ id, tab: asked }: { id: string; tab: string }) {
  const tab = isTab(asked) ? asked : 'files'
  const title = useTitle(id)
  usePageTitle(`${say(TABS[tab])} · ${title.text}`)
  const Pane = PANES[tab]
  if (title.isMissing) return <Missing />
  return (
    <main class="workspace">
      <header class="ws-head">
        <Link to={`/conversations/${id}`} class="back">
          <span aria-hidden="true">←</span>
          <span class="visually-hidden">{say('Conversation')}</span>
        </Link>
        <h1 dir="auto">{title.text}</h1>
        <a class="button" href={zipAddress(id)} download="workspace.zip">
          {say('Download all')}
        </a>
      </header>
      <nav class="ws-tabs" aria-label={say('Workspace')}>
        {Object.entries(TABS).map(([path, name]) => (
          <Link key={path} to={`/conversations/${id}/workspace/${path}`} current={path === tab}>
            {say(name)}
          </Link>
        ))}
      </nav>
      {title.problem === null ? <Pane key={tab} id={id} /> : <Notice kind="error">{title.problem}</Notice>}
    </main>
  )
}

type Title = { text: string; problem: string | null; isMissing: boolean }

function useTitle(id: string): Title {
  const [title, setTitle] = useState<Title>({ text: say('Workspace'), problem: null, isMissing: false })
  useEffect(() => {
    getConversation(id).then(
      (found) => setTitle({ text: found?.title ?? say('Workspace'), problem: null, isMissing: found === null }),
      (error: unknown) => setTitle((before) => ({ ...before, problem: messageOf(error) })),
    )
  }, [id])
  return title
}
