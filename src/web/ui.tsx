// The shared components of all pages.

import { Component, type ComponentChildren } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { messageOf } from './api.ts'
import { ago, clockTime } from './format.ts'
import { LimitOfCard } from './frame/limit.tsx'
import { Link } from './router.tsx'
import { placeOfSetting } from './setting-places.ts'
import { say } from './texts.ts'

type NoticeProps = {
  kind: 'error' | 'warning' | 'info'
  action?: { label: string; run: () => void }
  children: ComponentChildren
}

/** After a request was refused by a rate limit, `action` repeats it when the wait is over. */
export function Notice({ kind, action, children }: NoticeProps) {
  return (
    <div class={`notice ${kind}`} role={kind === 'error' ? 'alert' : 'status'}>
      <div>
        {children}
        {kind === 'error' && isLimit(children) && <LimitOfCard onOver={action?.run} />}
        {kind === 'error' && <WayToSetting said={children} />}
      </div>
      {action && (
        <button type="button" class="quiet" onClick={action.run}>
          {action.label}
        </button>
      )}
    </div>
  )
}

/** Also if it follows text of the card. */
const isLimit = (said: ComponentChildren): boolean =>
  Array.isArray(said) ? said.some(isLimit) : said === say('Too many requests.')

/** A link to the setting that an error says is missing. */
export function WayToSetting({ said }: { said: ComponentChildren }) {
  const place = typeof said === 'string' ? placeOfSetting(said) : null
  if (place === null || /^\/(?:settings|shared)/.test(location.pathname)) return null
  return (
    <>
      {' '}
      <Link to={place}>{say('Open the settings')}</Link>
    </>
  )
}

type BarProps = { skip: { to: string; words: string }; children: ComponentChildren }

/** The header of every page, after a link that skips it for users of screen readers and keyboards. */
export function Bar({ skip, children }: BarProps) {
  return (
    <>
      <a class="skip" href={skip.to}>
        {skip.words}
      </a>
      <header class="bar">{children}</header>
    </>
  )
}

/** Whether the text was copied: pages from an insecure origin have no clipboard, and a browser may refuse access. */
export async function isCopied(text: string): Promise<boolean> {
  const { clipboard } = navigator as { clipboard?: Clipboard }
  if (clipboard === undefined) return false
  return clipboard.writeText(text).then(
    () => true,
    () => false,
  )
}

export const RelativeTime = ({ time }: { time: string }) => (
  <time dateTime={time} title={clockTime(time)}>
    {ago(time)}
  </time>
)

/** Browsers give access to the clipboard only to pages over TLS or from the same machine. */
export async function copyText(text: string): Promise<void> {
  try {
    await navigator.clipboard.writeText(text)
  } catch (cause) {
    throw new Error(say('This page cannot write to the clipboard. Select the text and copy it.'), { cause })
  }
}

export function useMedia(query: string): boolean {
  const [matches, setMatches] = useState(matchMedia(query).matches)
  useEffect(() => {
    const media = matchMedia(query)
    const follow = () => setMatches(media.matches)
    media.addEventListener('change', follow)
    return () => media.removeEventListener('change', follow)
  }, [query])
  return matches
}

/**
 * The service's answer, requested again whenever one of `asked` changes. The previous answer is kept until the next one
 * arrives; an answer to an outdated request is dropped.
 */
export function useAnswer<Answer>(ask: () => Promise<Answer>, asked: readonly unknown[]) {
  const [found, setFound] = useState<Answer | null>(null)
  const [problem, setProblem] = useState<string | null>(null)
  const [round, setRound] = useState(0)
  useEffect(() => {
    let isCurrent = true
    ask().then(
      (answer) => {
        if (!isCurrent) return
        setFound(answer)
        setProblem(null)
      },
      (error: unknown) => isCurrent && setProblem(messageOf(error)),
    )
    return () => {
      isCurrent = false
    }
  }, [...asked, round])
  const again = () => setRound((before) => before + 1)
  return { found, setFound, problem, setProblem, again }
}

type QueryStateProps = { found: unknown; problem: string | null; onAgain: () => void }

/** Shown while an answer is loading or has failed. */
export const QueryState = ({ found, problem, onAgain }: QueryStateProps) => (
  <>
    {problem !== null && (
      <Notice kind="error" action={{ label: say('Try again'), run: onAgain }}>
        {problem}
      </Notice>
    )}
    {found === null && problem === null && <p class="opening">{say('Opening…')}</p>}
  </>
)

/** Prevents an error in one page from blanking the window. */
export class Boundary extends Component<{ children: ComponentChildren }, { fault: string | null }> {
  override state = { fault: null }

  override componentDidCatch(error: unknown): void {
    this.setState({ fault: messageOf(error) })
  }

  override render() {
    if (this.state.fault === null) return this.props.children
    return (
      <main class="narrow">
        <Notice kind="error" action={{ label: say('Reload'), run: () => location.reload() }}>
          {say('This page failed:')} {this.state.fault}
        </Notice>
      </main>
    )
  }
}
