// The terminal of the conversation. Loaded when it is first shown.

import '@xterm/xterm/css/xterm.css'
import { FitAddon } from '@xterm/addon-fit'
import { Unicode11Addon } from '@xterm/addon-unicode11'
import { type ITheme, Terminal } from '@xterm/xterm'
import { useEffect, useRef, useState } from 'preact/hooks'
import { messageOf } from '../api.ts'
import { Link } from '../router.tsx'
import { say, type Text } from '../texts.ts'
import { Notice } from '../ui.tsx'
import { adoptStyles } from './adopted-styles.ts'
import { EdgeShell } from './edge-shell.tsx'
import { TerminalSocket, type TerminalStatus } from './terminal-socket.ts'
import { startAgain, whyNoTerminal } from './workspace-api.ts'

const WAITING_MS = 150

export function TerminalPane({ id }: { id: string }) {
  const [why, setWhy] = useState<{ none: string | null } | null>(null)
  const [problem, setProblem] = useState<string | null>(null)
  const ask = () => {
    setProblem(null)
    setWhy(null)
    whyNoTerminal(id).then(
      (none) => setWhy({ none }),
      (error: unknown) => setProblem(messageOf(error)),
    )
  }
  useEffect(ask, [id])
  if (problem !== null)
    return (
      <Notice kind="error" action={{ label: say('Try again'), run: ask }}>
        {problem}
      </Notice>
    )
  if (why === null) return <p class="opening">{say('Looking for a runner…')}</p>
  if (why.none === null) return <OpenTerminal id={id} />
  return STOPPED.test(why.none) ? (
    <Stopped id={id} onStarted={ask} />
  ) : (
    <NoRunner id={id} why={why.none} onAgain={ask} />
  )
}

/** The service's text for a stopped conversation. */
const STOPPED = /\bis stopped\b/

function Stopped({ id, onStarted }: { id: string; onStarted: () => void }) {
  const [problem, setProblem] = useState<string | null>(null)
  const start = () => {
    startAgain(id).then(onStarted, (error: unknown) => setProblem(messageOf(error)))
  }
  return (
    <div class="ws-no-runner">
      <Notice kind="info" action={{ label: say('Start it'), run: start }}>
        {say('The conversation is stopped, and its terminal with it.')}
      </Notice>
      {problem !== null && <Notice kind="error">{problem}</Notice>}
    </div>
  )
}

/** The common reasons, in the user's language. */
const REASONS: readonly (readonly [said: RegExp, text: Text])[] = [
  [/^No runner is connected\b/, 'No runner is connected. Start one with “npm run runner”.'],
  [
    /^This conversation runs at the edge\b/,
    'This conversation runs at the edge, without processes. Begin one with runtime=auto or runtime=runner for a terminal.',
  ],
]

function TerminalReason({ text }: { text: string }) {
  const known = REASONS.find(([said]) => said.test(text))
  return known === undefined ? <span lang="en">{text}</span> : <span>{say(known[1])}</span>
}

type NoRunnerProps = { id: string; why: string; onAgain: () => void }

const NoRunner = ({ id, why, onAgain }: NoRunnerProps) => (
  <div class="ws-no-runner">
    <Notice kind="info" action={{ label: say('Try again'), run: onAgain }}>
      {say('A terminal needs a runner, a machine of yours that lends its processes.')} <TerminalReason text={why} />{' '}
      <Link to="/settings/runtime">{say('Runtime and runners')}</Link>
    </Notice>
    <p class="hint">{say('Without one this shell takes commands: files, git and JavaScript, no other programs.')}</p>
    <EdgeShell id={id} />
  </div>
)

function OpenTerminal({ id }: { id: string }) {
  const place = useRef<HTMLDivElement>(null)
  const socket = useRef<TerminalSocket | null>(null)
  const [status, setStatus] = useState<TerminalStatus>({ state: 'connecting' })
  const [people, setPeople] = useState(1)
  useEffect(() => {
    const box = place.current
    if (box === null) return
    return opened(box, id, { setStatus, setPeople, onSocket: (made) => (socket.current = made) })
  }, [id])
  return (
    <div class="ws-terminal">
      <div class="ws-terminal-head">
        <Standing status={status} onStart={() => socket.current?.start()} />
        {people > 1 && <span class="badge">{say('{n} people are here', { n: people })}</span>}
        <span class="hint">{say('Ctrl+Shift+M leaves the terminal')}</span>
      </div>
      <div class="ws-screen" ref={place} />
    </div>
  )
}

function Standing({ status, onStart }: { status: TerminalStatus; onStart: () => void }) {
  if (status.state === 'open') return <output class="hint">{say('Connected')}</output>
  if (status.state === 'connecting') return <output class="hint">{say('Connecting…')}</output>
  if (status.state === 'lost')
    return (
      <Notice kind="warning">
        {say('Connection lost.')} {say('It is tried again by itself.')}
      </Notice>
    )
  return (
    <Notice kind="info" action={{ label: say('New shell'), run: onStart }}>
      {say('The shell is gone.')} <span lang="en">{status.message}</span>
    </Notice>
  )
}

type Host = {
  setStatus: (status: TerminalStatus) => void
  setPeople: (count: number) => void
  onSocket: (socket: TerminalSocket | null) => void
}

type MountedTerminal = { terminal: Terminal; fit: FitAddon }
type Size = { cols: number; rows: number }

function drawn(box: HTMLElement, theme: ITheme): MountedTerminal {
  const terminal = new Terminal({
    fontFamily: getComputedStyle(document.documentElement).getPropertyValue('--mono'),
    fontSize: 14,
    scrollback: 5000,
    screenReaderMode: false,
    // Required for the character widths below.
    allowProposedApi: true,
    theme,
    // Links are not opened, because a program's output is not trusted.
    linkHandler: { activate: () => undefined },
  })
  const fit = new FitAddon()
  terminal.loadAddon(fit)
  // As programs count them: emoji are two columns wide.
  terminal.loadAddon(new Unicode11Addon())
  terminal.unicode.activeVersion = '11'
  terminal.open(box)
  fit.fit()
  return { terminal, fit }
}

/** Returns a function that closes it. */
function opened(box: HTMLElement, id: string, { setStatus, setPeople, onSocket }: Host): () => void {
  const dark = matchMedia('(prefers-color-scheme: dark)')
  const leaveStyles = adoptStyles()
  const { terminal, fit } = drawn(box, themeOf(dark.matches))
  const size = { cols: terminal.cols, rows: terminal.rows }
  let isOpen = false
  const socket = new TerminalSocket(id, size, {
    draw: (bytes) => new Promise((resolve) => terminal.write(bytes, resolve)),
    reset: () => terminal.reset(),
    size: (cols, rows) => terminal.resize(cols, rows),
    people: setPeople,
    status: (now) => {
      isOpen = now.state === 'open'
      setStatus(now)
    },
  })
  onSocket(socket)
  typeInto(socket, { terminal, box, isOpen: () => isOpen })
  const leaveSize = followSize(box, { fit, size, onSize: ({ cols, rows }) => socket.resize(cols, rows) })
  const onTheme = () => {
    terminal.options.theme = themeOf(dark.matches)
  }
  dark.addEventListener('change', onTheme)
  terminal.focus()
  return () => {
    dark.removeEventListener('change', onTheme)
    leaveSize()
    onSocket(null)
    socket.close()
    terminal.dispose()
    leaveStyles()
  }
}

type Typed = { terminal: Terminal; box: HTMLElement; isOpen: () => boolean }

function typeInto(socket: TerminalSocket, { terminal, box, isOpen }: Typed): void {
  terminal.onData((text) => socket.type(text))
  terminal.onBinary((text) => socket.type(text))
  // The program gets Tab and the other keys: one key moves the focus out. If no program is running, Tab does too.
  terminal.attachCustomKeyEventHandler((event) => {
    if (event.key === 'Tab' && !isOpen()) return false
    if (event.key.toLowerCase() !== 'm' || !event.ctrlKey || !event.shiftKey) return true
    if (event.type === 'keydown') document.querySelector<HTMLElement>('.ws-tabs a[aria-current]')?.focus()
    event.preventDefault()
    return false
  })
  const onPaste = (event: ClipboardEvent) => {
    event.preventDefault()
    event.stopPropagation()
    socket.paste(event.clipboardData?.getData('text/plain') ?? '')
  }
  box.addEventListener('paste', onPaste, { capture: true })
}

type Fitted = { fit: FitAddon; size: Size; onSize: (size: Size) => void }

/** Returns a function that ends it. */
function followSize(box: HTMLElement, { fit, size, onSize }: Fitted): () => void {
  let timer: ReturnType<typeof setTimeout> | null = null
  let wanted = size
  const measure = () => {
    const room = fit.proposeDimensions()
    if (room === undefined || Number.isNaN(room.cols) || (room.cols === wanted.cols && room.rows === wanted.rows))
      return
    wanted = { cols: Math.max(2, Math.min(500, room.cols)), rows: Math.max(1, Math.min(300, room.rows)) }
    onSize(wanted)
  }
  const observer = new ResizeObserver(() => {
    if (timer !== null) clearTimeout(timer)
    timer = setTimeout(measure, WAITING_MS)
  })
  observer.observe(box)
  return () => {
    observer.disconnect()
    if (timer !== null) clearTimeout(timer)
  }
}

const ANSI_LIGHT = '#182022 #b3261e #1c7439 #7a5200 #2563b0 #8a3ca8 #0b6660 #56666a'.split(' ')
const ANSI_DARK = '#2c3637 #ff8d83 #6fcf8b #f0c060 #7fb2f0 #cf96e6 #62cbc0 #e2e9e8'.split(' ')
const NAMES = ['black', 'red', 'green', 'yellow', 'blue', 'magenta', 'cyan', 'white'] as const

/** The colors of the console; the bright ones are the same, so that all are readable on its background. */
function themeOf(isDark: boolean): ITheme {
  const style = getComputedStyle(document.documentElement)
  const colour = (name: string) => style.getPropertyValue(name).trim()
  const ansi = isDark ? ANSI_DARK : ANSI_LIGHT
  const named = NAMES.flatMap((name, index) => [
    [name, ansi[index] ?? ''],
    [`bright${name[0]?.toUpperCase()}${name.slice(1)}`, ansi[index] ?? ''],
  ])
  return {
    background: colour('--inset'),
    foreground: colour('--text'),
    cursor: colour('--accent'),
    cursorAccent: colour('--inset'),
    selectionBackground: colour('--line-strong'),
    ...Object.fromEntries(named),
  }
}
