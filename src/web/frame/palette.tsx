// Quick keyboard access to every page, the newest conversations and every stock by name.

import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { listConversations, request } from '../api.ts'
import { navigate } from '../router.tsx'
import { language, say, type Text } from '../texts.ts'
import { canNotify, isNotifying, setNotifying } from './attention.ts'

type Command = { id: string; label: string; hint: string; run: () => void }

const PAGES: readonly [path: string, name: Text][] = [
  ['/', 'Conversations'],
  ['/analysis', 'Analysis'],
  ['/analysis/history', 'History'],
  ['/analysis/talks', 'Talks'],
  ['/analysis/watchlists', 'Watchlists'],
  ['/analysis/portfolio', 'Portfolio'],
  ['/analysis/calendar', 'Calendar'],
  ['/analysis/signals', 'Signals'],
  ['/analysis/alerts', 'Alerts'],
  ['/analysis/screening', 'Screening'],
  ['/analysis/accuracy', 'Accuracy'],
  ['/analysis/evidence', 'Evidence'],
  ['/settings/model', 'Model'],
  ['/settings/agent', 'Agent'],
  ['/settings/runtime', 'Runtime and runners'],
  ['/settings/tool-servers', 'Tool servers'],
  ['/settings/git-hosts', 'Git hosts'],
  ['/settings/secrets', 'Secrets'],
  ['/settings/notifications', 'Notifications'],
  ['/settings/schedules', 'Schedules'],
  ['/settings/keys', 'API keys'],
  ['/settings/limits', 'Limits'],
  ['/settings/audit', 'Audit log'],
  ['/settings/erase', 'Delete everything'],
]

const KEYS: readonly [keys: string, meaning: Text][] = [
  ['Ctrl K · ⌘ K', 'Open this list'],
  ['?', 'Show the keys'],
  ['Enter', 'Send the message'],
  ['Shift Enter', 'Begin a new line'],
  ['↑', 'Bring back what you said before'],
  ['Alt Y · Alt N', 'Run or reject the action that waits'],
]

export function Palette({ showsKeys, onClose }: { showsKeys: boolean; onClose: () => void }) {
  const dialog = useRef<HTMLDialogElement>(null)
  // Before anything is painted, because the next key may already be pressed.
  useLayoutEffect(() => {
    // The focus returns to this element afterwards.
    const before = document.activeElement
    const shown = dialog.current
    shown?.showModal()
    return () => {
      // Elements behind an open modal dialog cannot get the focus.
      shown?.close()
      if (before instanceof HTMLElement) before.focus()
    }
  }, [])
  // The browser reports a closed dialog after the next key: Ctrl+K would then close a dialog that is already closed.
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key !== 'Escape' || event.isComposing) return
    event.preventDefault()
    onClose()
  }
  return (
    <dialog class="palette" ref={dialog} aria-label={say('Commands')} onKeyDown={onKeyDown} onClose={onClose}>
      {showsKeys ? <Keys onClose={() => dialog.current?.close()} /> : <Commands onClose={onClose} />}
    </dialog>
  )
}

type OptionProps = { command: Command; at: number; isChosen: boolean; onRun: () => void }

function Commands({ onClose }: { onClose: () => void }) {
  const [text, setText] = useState('')
  const [chosen, setChosen] = useState(0)
  const commands = useCommands(text)
  useEffect(() => setChosen(0), [text])
  const run = (command: Command | undefined) => {
    if (command === undefined) return
    onClose()
    command.run()
  }
  const onKeyDown = (event: KeyboardEvent) => {
    const step = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0
    if (step !== 0 && commands.length > 0) setChosen((chosen + step + commands.length) % commands.length)
    else if (event.key === 'Enter' && !event.isComposing) run(commands[chosen])
    else return
    event.preventDefault()
  }
  return (
    <>
      <input
        role="combobox"
        aria-expanded="true"
        aria-controls="palette-list"
        aria-activedescendant={commands[chosen] === undefined ? undefined : `palette-${chosen}`}
        aria-label={say('Go to a page, a conversation or a stock')}
        placeholder={say('Go to a page, a conversation or a stock')}
        value={text}
        onInput={(event) => setText(event.currentTarget.value)}
        onKeyDown={onKeyDown}
      />
      <div class="palette-list" id="palette-list" role="listbox" aria-label={say('Commands')}>
        {commands.map((command, at) => (
          <OptionRow key={command.id} {...{ command, at }} isChosen={at === chosen} onRun={() => run(command)} />
        ))}
      </div>
      {commands.length === 0 && <p class="empty">{say('Nothing found.')}</p>}
    </>
  )
}

function OptionRow({ command, at, isChosen, onRun }: OptionProps) {
  const row = useRef<HTMLDivElement>(null)
  // The focus stays in the field, so the selected item must be scrolled into view.
  useEffect(() => {
    if (isChosen) row.current?.scrollIntoView({ block: 'nearest' })
  }, [isChosen])
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: the keys are those of the field above
    <div id={`palette-${at}`} ref={row} role="option" tabIndex={-1} aria-selected={isChosen} onClick={onRun}>
      <span>{command.label}</span>
      <span class="hint">{command.hint}</span>
    </div>
  )
}

const Keys = ({ onClose }: { onClose: () => void }) => (
  <div class="keys-table">
    <h2>{say('Keys')}</h2>
    <dl>
      {KEYS.map(([keys, meaning]) => (
        <div key={keys}>
          <dt>
            <kbd>{keys}</kbd>
          </dt>
          <dd>{say(meaning)}</dd>
        </div>
      ))}
    </dl>
    <button type="button" onClick={onClose}>
      {say('Close')}
    </button>
  </div>
)

type StockHit = { stock_code: string; stock_name: string; market_label: string }

/** Enough for every page. */
const MOST = 40
const WAIT_MS = 150

function useCommands(text: string): Command[] {
  const [conversations, setConversations] = useState<Command[]>([])
  const [stocks, setStocks] = useState<Command[]>([])
  useEffect(() => {
    // An incomplete list is still useful: what cannot be loaded is left out.
    listConversations(null).then(
      ({ results }) => setConversations(results.map(toConversation)),
      () => setConversations([]),
    )
  }, [])
  useEffect(() => {
    const wanted = text.trim()
    setStocks([])
    if (wanted === '') return
    let isCurrent = true
    const timer = setTimeout(() => {
      const query = new URLSearchParams({ q: wanted, limit: '5', language })
      request<{ items: StockHit[] }>(`/api/v1/stocks/search?${query}`).then(
        ({ items }) => isCurrent && setStocks(items.map(toStock)),
        () => isCurrent && setStocks([]),
      )
    }, WAIT_MS)
    return () => {
      isCurrent = false
      clearTimeout(timer)
    }
  }, [text])
  const wanted = text.trim().toLowerCase()
  const fits = ({ label, hint }: Command) => `${label} ${hint}`.toLowerCase().includes(wanted)
  return [...[...pages(), ...notifying(), ...conversations].filter(fits), ...stocks].slice(0, MOST)
}

function pages(): Command[] {
  const own = PAGES.map(([path, name]) => {
    const hint = path.startsWith('/settings') ? say('Settings') : path.startsWith('/analysis/') ? say('Analysis') : ''
    return { id: path, label: say(name), hint, run: () => navigate(path) }
  })
  return [...own, { id: '/docs', label: 'API', hint: '/docs', run: () => location.assign('/docs') }]
}

function notifying(): Command[] {
  if (!canNotify()) return []
  const on = isNotifying()
  return [
    {
      id: 'notify',
      label: on ? say('Turn off notifications of this browser') : say('Turn on notifications of this browser'),
      hint: '',
      run: () => void setNotifying(!on),
    },
  ]
}

const toConversation = ({ conversation_id: id, title }: { conversation_id: string; title: string }): Command => {
  const path = `/conversations/${encodeURIComponent(id)}`
  return { id: path, label: title, hint: say('Conversation'), run: () => navigate(path) }
}

const toStock = ({ stock_code: code, stock_name: name, market_label: market }: StockHit): Command => ({
  id: `stock ${code}`,
  label: say('Analyse {name}', { name: `${name} ${code}` }),
  hint: market,
  run: () => navigate(`/analysis?codes=${encodeURIComponent(code)}`),
})
