import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { messageOf, uploadFiles } from '../api.ts'
import { hasFiles } from '../frame/dropped.ts'
import { useUnsaved } from '../frame/unsaved.ts'
import { say } from '../texts.ts'
import { Notice } from '../ui.tsx'
import { visible } from '../visible.ts'
import { Pictures } from './cards.tsx'
import type { ChatControls } from './use-conversation.ts'

type Props = {
  id: string
  said: string[]
  isShell: boolean
  running: boolean
  disabled: boolean
  onSay: ChatControls['say']
  /** Called after files were stored in the workspace. */
  onStored: () => void
  onStop: () => void
}

const MAX_HEIGHT = 220

export function Composer({ id, said, isShell, running, disabled, onSay, onStored, onStop }: Props) {
  const [text, setText] = useUnsaved(`message ${id}`, '')
  const recall = useRecall(said, text, setText)
  const attached = useAttached(id, disabled, onStored)
  const isEmpty = text.trim() === '' && attached.pictures.length === 0 && attached.files.length === 0
  const send = () => {
    if (isEmpty || disabled || attached.isBusy) return
    onSay(text, attached.pictures, attached.files)
    setText('')
    attached.clear()
    recall.reset()
  }
  const onKeyDown = (event: KeyboardEvent) => {
    // During input with an input method, Enter selects a word. On a touch keyboard it is the only key for a new line.
    const sends = event.key === 'Enter' && !event.shiftKey && !event.isComposing && !isTouch()
    if (sends) send()
    if (sends || recall.key(event)) event.preventDefault()
  }
  return (
    <form
      class={attached.isOver ? 'composer drop' : 'composer'}
      onSubmit={(event) => {
        event.preventDefault()
        send()
      }}
      onPaste={attached.onPaste}
    >
      <Attached attached={attached} />
      <MessageBox text={text} isShell={isShell} disabled={disabled} onText={setText} onKeyDown={onKeyDown} />
      {running && (
        <button type="button" class="danger" onClick={onStop}>
          {say('Stop')}
        </button>
      )}
      <button type="submit" class="primary" disabled={disabled || isEmpty || attached.isBusy}>
        {say('Send')}
      </button>
    </form>
  )
}

/** The attachments of the message: pictures are part of it, other files are in the workspace. */
function Attached({ attached: { pictures, files, problem, isBusy, clear } }: { attached: AttachedFiles }) {
  if (pictures.length === 0 && files.length === 0 && problem === null && !isBusy) return null
  return (
    <div class="attached">
      <Pictures urls={pictures} />
      {files.length > 0 && <span class="hint">{say('With {files}', { files: files.map(visible).join(', ') })}</span>}
      {isBusy && <span class="hint">{say('Uploading…')}</span>}
      {problem !== null && <Notice kind="error">{problem}</Notice>}
      <button type="button" class="quiet" onClick={clear}>
        {say('Remove')}
      </button>
    </div>
  )
}

/** A picture in a message is part of its event, which must stay small, and so must all pictures together. */
const MOST_PICTURE_BYTES = 700_000
const MOST_PICTURES_LENGTH = 2_800_000
const PICTURE = /^image\/(?:png|jpeg|gif|webp)$/

const NONE: string[] = []

type AttachedFiles = ReturnType<typeof useAttached>

/** Small pictures are added to the message, all other files are stored in the workspace at once. */
function useTaken(id: string, onStored: () => void) {
  const [pictures, setPictures] = useUnsaved(`pictures ${id}`, NONE)
  const [files, setFiles] = useUnsaved(`files ${id}`, NONE)
  const [problem, setProblem] = useState<string | null>(null)
  // Another file may be dropped while the first is being uploaded.
  const [underWay, setUnderWay] = useState(0)
  const take = async (list: File[]) => {
    if (list.length === 0) return
    setUnderWay((count) => count + 1)
    setProblem(null)
    try {
      const small = list.filter(({ type, size }) => PICTURE.test(type) && size <= MOST_PICTURE_BYTES)
      const found = await Promise.all(small.map(dataUrl))
      const fitting = fittingInto(MOST_PICTURES_LENGTH - pictures.join('').length, found)
      const [shown, urls] = [small.filter((_, at) => fitting[at]), found.filter((_, at) => fitting[at])]
      if (urls.length > 0) setPictures((before) => [...before, ...urls])
      const others = list.filter((file) => !shown.includes(file))
      if (others.length > 0) {
        const { uploaded_files: stored, skipped_files: skipped } = await uploadFiles(id, others)
        if (stored.length > 0) {
          setFiles((before) => [...before, ...stored])
          onStored()
        }
        const why = skipped.map(({ name, reason }) =>
          say('{name} was left out: {reason}', { name: visible(name), reason }),
        )
        if (why.length > 0) setProblem(why.join('. '))
      }
    } catch (error) {
      setProblem(messageOf(error))
    }
    setUnderWay((count) => count - 1)
  }
  const clear = () => {
    setPictures(NONE)
    setFiles(NONE)
    setProblem(null)
  }
  return { pictures, files, problem, isBusy: underWay > 0, take, clear }
}

/** The texts that fit into the room together, in order. */
function fittingInto(room: number, texts: readonly string[]): boolean[] {
  let left = room
  return texts.map(({ length }) => {
    if (length > left) return false
    left -= length
    return true
  })
}

/** A copied part of a table or a text also contains a picture of itself. */
const isText = (data: DataTransfer): boolean =>
  data.types.includes('text/html') && data.getData('text/plain').trim() !== ''

function useAttached(id: string, disabled: boolean, onStored: () => void) {
  const { take, ...taken } = useTaken(id, onStored)
  const isOver = useDropped(disabled, take)
  const onPaste = (event: ClipboardEvent) => {
    const pasted = [...(event.clipboardData?.files ?? [])]
    if (pasted.length === 0 || event.clipboardData === null || isText(event.clipboardData)) return
    event.preventDefault()
    void take(pasted)
  }
  return { ...taken, isOver, onPaste }
}

/**
 * Files that are dropped anywhere on the page: outside the text field, a browser would otherwise leave the page and
 * open the file.
 */
function useDropped(disabled: boolean, take: (files: File[]) => Promise<void>): boolean {
  const [isOver, setIsOver] = useState(false)
  const newest = useRef(take)
  newest.current = take
  useEffect(() => {
    if (disabled) return
    const over = (event: DragEvent) => {
      if (event.defaultPrevented || !hasFiles(event)) return
      event.preventDefault()
      setIsOver(true)
    }
    const leave = ({ relatedTarget }: DragEvent) => {
      if (relatedTarget === null) setIsOver(false)
    }
    const drop = (event: DragEvent) => {
      setIsOver(false)
      if (event.defaultPrevented || !hasFiles(event)) return
      event.preventDefault()
      void newest.current([...(event.dataTransfer?.files ?? [])])
    }
    document.addEventListener('dragover', over)
    document.addEventListener('dragleave', leave)
    document.addEventListener('drop', drop)
    return () => {
      document.removeEventListener('dragover', over)
      document.removeEventListener('dragleave', leave)
      document.removeEventListener('drop', drop)
    }
  }, [disabled])
  return isOver
}

const dataUrl = (file: File): Promise<string> =>
  new Promise((resolve, reject) => {
    const reader = new FileReader()
    reader.onload = () => resolve(String(reader.result))
    reader.onerror = () => reject(reader.error)
    reader.readAsDataURL(file)
  })

export const isTouch = (): boolean => matchMedia('(pointer: coarse)').matches

type BoxProps = {
  text: string
  isShell: boolean
  disabled: boolean
  onText: (text: string) => void
  onKeyDown: (event: KeyboardEvent) => void
}

function MessageBox({ text, isShell, disabled, onText, onKeyDown }: BoxProps) {
  const box = useRef<HTMLTextAreaElement>(null)
  useLayoutEffect(() => grow(box.current), [text])
  useEffect(() => {
    // On a touch screen this would open the keyboard over the log before the user has read it.
    if (!isTouch()) box.current?.focus()
  }, [])
  return (
    <>
      <label for="message" class="visually-hidden">
        {say('Message')}
      </label>
      <textarea
        id="message"
        class={isShell ? 'mono' : ''}
        dir="auto"
        ref={box}
        rows={1}
        spellcheck={!isShell}
        autocapitalize={isShell ? 'off' : 'sentences'}
        placeholder={disabled ? '' : say(isShell ? 'Message or command' : 'Message')}
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

/** As in a terminal: arrow up in an empty line shows earlier messages, arrow down goes forward again. */
export function useRecall(said: string[], text: string, setText: (text: string) => void) {
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
