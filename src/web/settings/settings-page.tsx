// The settings of the owner, one page for each section. The whole folder is loaded when it is first opened.

import '../settings.css'
import type { ComponentType } from 'preact'
import { Link, usePageTitle } from '../router.tsx'
import { say, type Text } from '../texts.ts'
import { Notice } from '../ui.tsx'
import type { Session } from '../wire.ts'
import { AgentSettings } from './agent.tsx'
import { ChannelSettings } from './channels.tsx'
import { EraseAll } from './erase.tsx'
import { GitSettings } from './git-hosts.tsx'
import { KeySettings } from './keys.tsx'
import { ModelSettings } from './model.tsx'
import { AuditLog, UsageLimits } from './records.tsx'
import { RuntimeSettings } from './runtime.tsx'
import { ScheduleSettings } from './schedules.tsx'
import { SecretSettings } from './secrets.tsx'
import { TakeAlong } from './take-along.tsx'
import { ToolServerSettings } from './tool-servers.tsx'

type Scope = 'conversations' | 'analysis' | 'admin'

type Section = { path: string; title: Text; scope: Scope | null; Page: ComponentType<{ session: Session }> }

const SECTIONS: readonly Section[] = [
  { path: 'model', title: 'Model', scope: 'conversations', Page: ModelSettings },
  { path: 'agent', title: 'Agent', scope: 'conversations', Page: AgentSettings },
  { path: 'runtime', title: 'Runtime and runners', scope: 'conversations', Page: RuntimeSettings },
  { path: 'tool-servers', title: 'Tool servers', scope: 'conversations', Page: ToolServerSettings },
  { path: 'git-hosts', title: 'Git hosts', scope: 'conversations', Page: GitSettings },
  { path: 'secrets', title: 'Secrets', scope: 'conversations', Page: SecretSettings },
  { path: 'notifications', title: 'Notifications', scope: 'analysis', Page: ChannelSettings },
  { path: 'schedules', title: 'Schedules', scope: 'analysis', Page: ScheduleSettings },
  { path: 'keys', title: 'API keys', scope: 'admin', Page: KeySettings },
  { path: 'limits', title: 'Limits', scope: null, Page: UsageLimits },
  { path: 'audit', title: 'Audit log', scope: 'conversations', Page: AuditLog },
  { path: 'export', title: 'Take everything along', scope: 'conversations', Page: TakeAlong },
  { path: 'erase', title: 'Delete everything', scope: 'conversations', Page: EraseAll },
]

export function SettingsPage({ section: path, session }: { section: string; session: Session }) {
  const section = SECTIONS.find((one) => one.path === path)
  usePageTitle(section === undefined ? say('Settings') : `${say(section.title)} · ${say('Settings')}`)
  return (
    <div class="settings">
      <nav aria-label={say('Settings')} class="settings-nav">
        {SECTIONS.map(({ path: to, title }) => (
          <Link key={to} to={`/settings/${to}`} current={to === path}>
            {say(title)}
          </Link>
        ))}
      </nav>
      <main class="settings-page">
        {section === undefined ? <UnknownSection /> : <Open section={section} session={session} />}
      </main>
    </div>
  )
}

const UnknownSection = () => (
  <>
    <h1>{say('Nothing here')}</h1>
    <p>
      {say('This address leads nowhere.')} <Link to="/settings/model">{say('Settings')}</Link>
    </p>
  </>
)

function Open({ section: { title, scope, Page }, session }: { section: Section; session: Session }) {
  const isAllowed = session.auth_mode === 'local' || scope === null || session.scopes.includes(scope)
  return (
    <>
      <h1>{say(title)}</h1>
      {isAllowed ? (
        <Page session={session} />
      ) : (
        <Notice kind="warning">
          {say('The key that you signed in with lacks the scope “{scope}”, which this page needs.', {
            scope: String(scope),
          })}
        </Notice>
      )}
    </>
  )
}
