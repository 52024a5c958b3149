// The workspace of a conversation: files, changes, terminal and servers. The whole folder is loaded when it is first
// opened.

import './workspace.css'
import type { ComponentType } from 'preact'
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

/** `provider`: the git host of the conversation, once it is known. */
type PaneProps = { id: string; provider: string | null }
const LazyTerminal = lazy<PaneProps>(async () => (await import('./terminal-pane.tsx')).TerminalPane)
const PANES: Readonly<Record<keyof typeof TABS, ComponentType<PaneProps>>> = {
  files: FilesPane,
  changes: ChangesPane,
  terminal: LazyTerminal,
  ports: PortsPane,
}

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
      {title.problem === null ? (
        <Pane key={tab} id={id} provider={title.provider} />
      ) : (
        <Notice kind="error">{title.problem}</Notice>
      )}
    </main>
  )
}

type Title = { text: string; provider: string | null; problem: string | null; isMissing: boolean }
const UNKNOWN: Title = { text: say('Workspace'), provider: null, problem: null, isMissing: false }

function useTitle(id: string): Title {
  const [title, setTitle] = useState(UNKNOWN)
  useEffect(() => {
    getConversation(id).then(
      (found) =>
        setTitle(
          found === null
            ? { ...UNKNOWN, isMissing: true }
            : { ...UNKNOWN, text: found.title, provider: found.git_provider },
        ),
      (error: unknown) => setTitle((before) => ({ ...before, problem: messageOf(error) })),
    )
  }, [id])
  return title
}
