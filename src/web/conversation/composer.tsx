import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { say } from '../texts.ts'

type Props = { said: string[]; running: boolean; disabled: boolean; onSay: (text: string) => void; onStop: () => void }

const MAX_HEIGHT = 220

export function Composer({ said, running, disabled, onSay, onStop }: Props) {
  const [text, setText] = useState('')
  const recall = useRecall(said, text, setText)
  const send = () => {
    if (text.trim() === '' || disabled) return
    onSay(text)
    setText('')
    recall.reset()
  }
  const submit = (event: SubmitEvent) => {
    event.preventDefault()
    send()
  }
  const onKeyDown = (event: KeyboardEvent) => {
    // While an input method composes, Enter chooses a word. On a touch keyboard it is the only way to a new line.
    const sends = event.key === 'Enter' && !event.shiftKey && !event.isComposing && !isTouch()
    if (sends) send()
    if (sends || recall.key(event)) event.preventDefault()
  }
  return (
    <form class="composer" onSubmit={submit}>
      <MessageBox text={text} disabled={disabled} onText={setText} onKeyDown={onKeyDown} />
      {running && (
        <button type="button" class="danger" onClick={onStop}>
          {say('Stop')}
        </button>
      )}
      <button type="submit" class="primary" disabled={disabled || text.trim() === ''}>
        {say('Send')}
      </button>
    </form>
  )
}

const isTouch = (): boolean => matchMedia('(pointer: coarse)').matches

type BoxProps = {
  text: string
  disabled: boolean
  onText: (text: string) => void
  onKeyDown: (event: KeyboardEvent) => void
}

function MessageBox({ text, disabled, onText, onKeyDown }: BoxProps) {
  const box = useRef<HTMLTextAreaElement>(null)
  useLayoutEffect(() => grow(box.current), [text])
  useEffect(() => {
    // On a touch screen this would open the keyboard over the log before anything was read.
    if (!isTouch()) box.current?.focus()
  }, [])
  return (
    <>
      <label for="message" class="visually-hidden">
        {say('Message')}
      </label>
      <textarea
        id="message"
        class="mono"
        ref={box}
        rows={1}
        spellcheck={false}
        autocapitalize="off"
        placeholder={disabled ? '' : say('Message or command')}
        disabled={disabled}
        value={text}
        onInput={(event) => onText(event.currentTarget.value)}
        onKeyDown={onKeyDown}
      />
    </>
  )
}

function grow(box: HTMLTextAreaElement | null): void {
  if (!box) return
  box.style.height = 'auto'
  box.style.height = `${Math.min(box.scrollHeight + 2, MAX_HEIGHT)}px`
}

/** As in a terminal: arrow up in an empty line brings back what was said before, arrow down goes forward again. */
function useRecall(said: string[], text: string, setText: (text: string) => void) {
  const [back, setBack] = useState(0)
  const show = (steps: number) => {
    setBack(steps)
    setText(steps === 0 ? '' : (said.at(-steps) ?? ''))
  }
  const key = (event: KeyboardEvent): boolean => {
    const untouched = text === '' || (back > 0 && text === said.at(-back))
    if (!untouched || event.shiftKey || event.altKey || event.ctrlKey || event.metaKey) return false
    if (event.key === 'ArrowUp' && back < said.length) show(back + 1)
    else if (event.key === 'ArrowDown' && back > 0) show(back - 1)
    else return false
    return true
  }
  return { key, reset: () => setBack(0) }
}
