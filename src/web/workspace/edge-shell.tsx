// The shell of a conversation without a runner: a line is sent to the interpreter at the edge, and is a command of the
// user in the conversation. It shows all commands of the conversation, of users and agents.

import { useEffect, useMemo, useRef } from 'preact/hooks'
import { ConnectionNotice } from '../conversation/chat-page.tsx'
import { isTouch, useRecall } from '../conversation/composer.tsx'
import { type Entry, toEntries } from '../conversation/entries.ts'
import { Log } from '../conversation/log.tsx'
import { type Chat, type ChatControls, logState, useConversation } from '../conversation/use-conversation.ts'
import { useUnsaved } from '../frame/unsaved.ts'
import { say } from '../texts.ts'
import { Notice } from '../ui.tsx'

export function EdgeShell({ id }: { id: string }) {
  const [chat, controls] = useConversation(id)
  const entries = useMemo(() => toEntries(chat.events).filter(isOfShell), [chat.events])
  if (chat.phase === 'opening') {
    return chat.problem === null ? (
      <p class="opening">{say('Opening…')}</p>
    ) : (
      <Notice kind="error" action={{ label: say('Try again'), run: controls.openNow }}>
        {chat.problem}
      </Notice>
    )
  }
  return (
    <section class="ws-shell" aria-label={say('Shell')}>
      <Commands {...{ chat, controls, entries }} />
      {chat.problem !== null && (
        <Notice kind="error" action={{ label: say('Dismiss'), run: controls.dismissProblem }}>
          {chat.problem}
        </Notice>
      )}
      <ConnectionNotice connection={chat.connection} onReconnect={controls.reconnectNow} />
      <CommandLine {...{ id, chat, controls, entries }} />
    </section>
  )
}

const isOfShell = ({ kind }: Entry): boolean => kind === 'command' || kind === 'error'
const isAtWork = ({ agent }: Chat): boolean => agent?.name === 'running'

type Props = { chat: Chat; controls: ChatControls; entries: Entry[] }

const Commands = ({ chat, controls, entries }: Props) => (
  <Log entries={entries} draft="" focus={null} {...logState(chat, controls)} />
)

function CommandLine({ id, chat, controls, entries }: Props & { id: string }) {
  const [text, setText] = useUnsaved(`command ${id}`, '')
  const said = entries.flatMap((entry) => (entry.kind === 'command' && entry.byUser ? [entry.command] : []))
  const recall = useRecall(said, text, setText)
  const run = (event: SubmitEvent) => {
    event.preventDefault()
    if (text.trim() === '') return
    controls.run(text)
    setText('')
    recall.reset()
  }
  return (
    <form class="ws-command" onSubmit={run}>
      <span class="prompt" aria-hidden="true">
        $
      </span>
      <CommandField text={text} onText={setText} onKeyDown={(event) => recall.key(event) && event.preventDefault()} />
      {isAtWork(chat) && (
        <button type="button" class="danger" onClick={controls.stop}>
          {say('Stop')}
        </button>
      )}
      <button type="submit" class="primary" disabled={chat.connection.state === 'ended' || text.trim() === ''}>
        {say('Run')}
      </button>
    </form>
  )
}

type FieldProps = { text: string; onText: (text: string) => void; onKeyDown: (event: KeyboardEvent) => void }

function CommandField({ text, onText, onKeyDown }: FieldProps) {
  const field = useRef<HTMLInputElement>(null)
  useEffect(() => {
    // On a touch screen this would open the keyboard over the content.
    if (!isTouch()) field.current?.focus()
  }, [])
  return (
    <>
      <label for="command" class="visually-hidden">
        {say('Command')}
      </label>
      <input
        id="command"
        class="mono"
        ref={field}
        autocomplete="off"
        autocapitalize="off"
        spellcheck={false}
        value={text}
        onInput={(event) => onText(event.currentTarget.value)}
        onKeyDown={onKeyDown}
      />
    </>
  )
}
