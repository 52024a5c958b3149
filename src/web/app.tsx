import type { ComponentType } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { AnalysisPage, ReportPage } from './analysis/pages.tsx'
import { ApiError, getSession, messageOf, SIGNED_IN, signIn, signOut, whenSignedOut } from './api.ts'
import { ChatPage } from './conversation/chat-page.tsx'
import { ConversationsPage } from './conversation/conversations-page.tsx'
import { nameWindow } from './frame/attention.ts'
import { Banners } from './frame/banners.tsx'
import { LanguageChoice } from './frame/language.tsx'
import { forgetUnsaved } from './frame/unsaved.ts'
import { lazy } from './lazy.tsx'
import { Link, usePageTitle, usePath } from './router.tsx'
import { say } from './texts.ts'
import { Bar, Boundary, Notice } from './ui.tsx'
import type { Session } from './wire.ts'

type Access =
  | { state: 'asking' }
  /** `before`: the session that expired; null if nobody was signed in, or after a sign-out. */
  | { state: 'out'; before: Session | null }
  | { state: 'in'; session: Session }
  | { state: 'failed'; text: string }

/** A link opens its page with or without a session. */
const LazyShared = lazy(async () => (await import('./conversation/shared-page.tsx')).SharedPage)

export const App = () => (location.pathname === '/shared' ? <LazyShared /> : <SignedIn />)

function SignedIn() {
  const [access, setAccess] = useState<Access>({ state: 'asking' })
  const ask = () => {
    getSession().then(
      (session) => setAccess({ state: 'in', session }),
      (error: unknown) =>
        setAccess(
          error instanceof ApiError && error.status === 401
            ? { state: 'out', before: null }
            : { state: 'failed', text: messageOf(error) },
        ),
    )
  }
  useEffect(() => {
    whenSignedOut(() => setAccess(ended))
    ask()
  }, [])
  const onSignedIn = (session: Session) => {
    setAccess({ state: 'in', session })
    dispatchEvent(new Event(SIGNED_IN))
  }
  const session = access.state === 'in' ? access.session : access.state === 'out' ? access.before : null
  if (session === null && access.state === 'out') return <SignIn onSignedIn={onSignedIn} />
  if (session === null) return <Entrance problem={access.state === 'failed' ? access.text : null} onAgain={ask} />
  const leave = () => {
    forgetUnsaved()
    setAccess({ state: 'out', before: null })
  }
  return (
    <>
      <Console key={session.owner} session={session} onSignOut={leave} />
      {access.state === 'out' && <SignInAgain onSignedIn={onSignedIn} />}
    </>
  )
}

const Entrance = ({ problem, onAgain }: { problem: string | null; onAgain: () => void }) => (
  <>
    <Bar skip={SKIP()}>
      <Brand />
    </Bar>
    {problem === null ? (
      <p class="opening">{say('Opening…')}</p>
    ) : (
      <main class="narrow" id="content">
        <Notice kind="error" action={{ label: say('Try again'), run: onAgain }}>
          {problem}
        </Notice>
      </main>
    )}
  </>
)

/** The page stays mounted below the sign-in dialog, so that text and requests are not lost with the session. */
const ended = (access: Access): Access =>
  access.state === 'out' ? access : { state: 'out', before: access.state === 'in' ? access.session : null }

function Console({ session, onSignOut }: { session: Session; onSignOut: () => void }) {
  const path = usePath()
  const [trouble, setTrouble] = useState<string | null>(null)
  const [palette, openPalette] = usePalette()
  const leave = () => {
    signOut().then(onSignOut, (error: unknown) => setTrouble(messageOf(error)))
  }
  const content = useFocusOnChange(path)
  return (
    <>
      <Bar skip={SKIP()}>
        <Brand />
        <MainNav area={path.split('/')[1] ?? ''} />
        <button type="button" class="command-button" onClick={openPalette}>
          {say('Search')} <kbd>Ctrl K</kbd>
        </button>
        <LanguageChoice />
        {session.auth_mode === 'keys' && (
          <button
            type="button"
            class="quiet"
            title={say('Signed in as {owner}', { owner: session.owner })}
            onClick={leave}
          >
            {say('Sign out')}
          </button>
        )}
      </Bar>
      <Banners />
      {palette}
      {trouble !== null && <Notice kind="error">{trouble}</Notice>}
      <div class="content" id="content" ref={content} tabIndex={-1}>
        <Boundary key={path}>
          <Page path={path} session={session} />
        </Boundary>
      </div>
    </>
  )
}

const SKIP = () => ({ to: '#content', words: say('Skip to the content') })

const Brand = () => (
  <Link to="/" class="brand">
    <BellMark />
    <span>Bellwether</span>
  </Link>
)

function MainNav({ area }: { area: string }) {
  return (
    <nav aria-label={say('Main')}>
      <Link to="/" current={area !== 'analysis' && area !== 'settings'}>
        {say('Conversations')}
      </Link>
      <Link to="/analysis" current={area === 'analysis'}>
        {say('Analysis')}
      </Link>
      <Link to="/settings/model" current={area === 'settings'}>
        {say('Settings')}
      </Link>
      <a href="/docs">API</a>
    </nav>
  )
}

const past = () => import('./analysis/history-pages.tsx')
const PARTS: Readonly<Record<string, ComponentType<object>>> = {
  history: lazy(async () => (await past()).HistoryPageView),
  accuracy: lazy(async () => (await past()).AccuracyPage),
  evidence: lazy(async () => (await past()).EvidencePageView),
  talks: lazy(async () => (await import('./analysis/talks-page.tsx')).TalksPage),
  portfolio: lazy(async () => (await import('./portfolio/portfolio-page.tsx')).PortfolioPage),
  calendar: lazy(async () => (await import('./portfolio/calendar-page.tsx')).CalendarPage),
  signals: lazy(async () => (await import('./portfolio/signals-page.tsx')).SignalsPage),
  alerts: lazy(async () => (await import('./analysis/alerts-page.tsx')).AlertsPage),
  screening: lazy(async () => (await import('./analysis/screening-page.tsx')).ScreeningPage),
  watchlists: lazy(async () => (await import('./analysis/watchlists-page.tsx')).WatchlistsPage),
}

const LazyPalette = lazy<{ showsKeys: boolean; onClose: () => void }>(
  async () => (await import('./frame/palette.tsx')).Palette,
)

/** Each opening has its own number: if it is closed and opened again within one frame, the list is new. */
type Opened = { shows: 'commands' | 'keys'; nth: number }

let openings = 0
const opened = (shows: Opened['shows']): Opened => ({ shows, nth: ++openings })

/** Ctrl+K or ⌘K opens it anywhere, `?` outside of text fields. */
function usePalette() {
  const [palette, setPalette] = useState<Opened | null>(null)
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      const isCommand = (event.ctrlKey || event.metaKey) && !event.altKey && event.key.toLowerCase() === 'k'
      if (!isCommand && !(event.key === '?' && !isTyping(event.target))) return
      event.preventDefault()
      setPalette((before) => (isCommand && before !== null ? null : opened(isCommand ? 'commands' : 'keys')))
    }
    addEventListener('keydown', onKey)
    return () => removeEventListener('keydown', onKey)
  }, [])
  // The browser may report the closing of one dialog when the next is already open.
  const close = () => setPalette((now) => (now?.nth === palette?.nth ? null : now))
  const shown = palette !== null && (
    <LazyPalette key={palette.nth} showsKeys={palette.shows === 'keys'} onClose={close} />
  )
  return [shown, () => setPalette(opened('commands'))] as const
}

const isTyping = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement &&
  target.matches('input:not([type="range"], [type="checkbox"], [type="radio"]), textarea, select')

/** Most visits do not open them. */
const LazySettings = lazy<{ section: string; session: Session }>(
  async () => (await import('./settings/settings-page.tsx')).SettingsPage,
)

const LazyWorkspace = lazy<{ id: string; tab: string }>(
  async () => (await import('./workspace/workspace-page.tsx')).WorkspacePage,
)

/** A page change without a reload leaves the focus on a removed element. The browser handles the first page itself. */
function useFocusOnChange(path: string) {
  const content = useRef<HTMLDivElement>(null)
  const first = useRef(true)
  useEffect(() => {
    if (!first.current) content.current?.focus({ preventScroll: true })
    first.current = false
  }, [path])
  return content
}

function Page({ path, session }: { path: string; session: Session }) {
  const parts = partsOf(path)
  if (parts === null) return <NotFound />
  const [, area, id = '', ...rest] = parts
  if (area === 'settings' && rest.length === 0) return <LazySettings section={id || 'model'} session={session} />
  const scope = area === 'analysis' ? 'analysis' : 'conversations'
  if (session.auth_mode === 'keys' && !session.scopes.includes(scope)) return <NoScope scope={scope} />
  if (area === '') return <ConversationsPage />
  if (area === 'conversations' && id && rest[0] === 'workspace' && rest.length <= 2)
    return <LazyWorkspace id={id} tab={rest[1] ?? 'files'} />
  if (rest.length === 0 && area === 'conversations') return id ? <ChatPage key={id} id={id} /> : <ConversationsPage />
  const Part = area === 'analysis' && rest.length === 0 && Object.hasOwn(PARTS, id) ? PARTS[id] : undefined
  if (Part !== undefined) return <Part />
  if (rest.length === 0 && area === 'analysis') return id ? <ReportPage key={id} taskId={id} /> : <AnalysisPage />
  return <NotFound />
}

/** Null for an invalid path, such as `/%E0`. */
function partsOf(path: string): string[] | null {
  try {
    return path.split('/').map(decodeURIComponent)
  } catch (error) {
    if (error instanceof URIError) return null
    throw error
  }
}

function NoScope({ scope }: { scope: string }) {
  usePageTitle(say('No access'))
  return (
    <main class="narrow">
      <h1>{say('No access')}</h1>
      <p>{say('The key that you signed in with lacks the scope “{scope}”, which this page needs.', { scope })}</p>
    </main>
  )
}

function NotFound() {
  usePageTitle(say('Not found'))
  return (
    <main class="narrow">
      <h1>{say('Nothing here')}</h1>
      <p>
        {say('This address leads nowhere.')} <Link to="/">{say('Go to the conversations')}</Link>
      </p>
    </main>
  )
}

const BellMark = () => (
  <svg viewBox="0 0 24 24" width="22" height="22" aria-hidden="true">
    <path d="M12 3a6.5 6.5 0 0 0-6.5 6.5V15L3 19h18l-2.5-4V9.5A6.5 6.5 0 0 0 12 3Z" fill="currentColor" />
    <circle cx="12" cy="21" r="2" fill="currentColor" />
  </svg>
)

const KEY_HINT = 'The key is exchanged for a cookie that scripts cannot read; it is not kept in this browser.'

type SignInProps = { onSignedIn: (session: Session) => void }

const SignIn = (props: SignInProps) => (
  <main class="narrow sign-in">
    <h1>Bellwether</h1>
    <SignInForm {...props} />
  </main>
)

/** Shown over the page with the expired session. */
function SignInAgain(props: SignInProps) {
  const dialog = useRef<HTMLDialogElement>(null)
  useEffect(() => {
    const before = document.activeElement
    dialog.current?.showModal()
    return () => before instanceof HTMLElement && before.focus()
  }, [])
  return (
    <dialog
      class="sign-in-again"
      ref={dialog}
      aria-label={say('Sign in')}
      onCancel={(event) => event.preventDefault()}
      onClose={(event) => event.currentTarget.showModal()}
    >
      <h1>{say('Your session has ended')}</h1>
      <p>{say('Sign in again to go on: what you have written is still there.')}</p>
      <SignInForm {...props} />
    </dialog>
  )
}

function SignInForm({ onSignedIn }: SignInProps) {
  useSignInTitle()
  const [key, setKey] = useState('')
  const [busy, setBusy] = useState(false)
  const [problem, setProblem] = useState<string | null>(null)
  const submit = async (event: SubmitEvent) => {
    event.preventDefault()
    setBusy(true)
    setProblem(null)
    try {
      onSignedIn(await signIn(key.trim()))
    } catch (error) {
      const refused = error instanceof ApiError && error.status === 401
      setProblem(refused ? say('This key is not valid. It may have expired or been revoked.') : messageOf(error))
      setBusy(false)
    }
  }
  return (
    <form class="card" onSubmit={submit}>
      <label for="key">{say('API key')}</label>
      <input
        id="key"
        type="password"
        autocomplete="current-password"
        spellcheck={false}
        required
        value={key}
        onInput={(event) => setKey(event.currentTarget.value)}
      />
      <p class="hint">{say(KEY_HINT)}</p>
      {problem !== null && <Notice kind="error">{problem}</Notice>}
      <button type="submit" class="primary" disabled={busy || key.trim() === ''}>
        {busy ? say('Signing in…') : say('Sign in')}
      </button>
    </form>
  )
}

/** The page below gets its title back afterwards. */
function useSignInTitle(): void {
  useEffect(() => {
    const before = nameWindow(say('Sign in'))
    return () => nameWindow(before)
  }, [])
}
