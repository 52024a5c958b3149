// The file tree of the workspace, and one of its files for reading and editing.

import type { ComponentChildren } from 'preact'
import { useCallback, useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { messageOf } from '../api.ts'
import { placeOfFile, useUnsaved } from '../frame/unsaved.ts'
import { useChosen } from '../router.tsx'
import { locale, say } from '../texts.ts'
import { Notice } from '../ui.tsx'
import { visible } from '../visible.ts'
import { type Folders, inOrder, type Row, rowAfterKey, rowsInSight, rowsOf } from './tree.ts'
import { inLines, listFolder, readText, saveText, textNow, withEndsOf } from './workspace-api.ts'

const ROW_PX = 32

export function FilesPane({ id }: { id: string }) {
  const [{ file: path }, choose] = useChosen({ file: '' })
  const tree = useTree(id)
  return (
    <div class={path === '' ? 'ws-files' : 'ws-files with-file'}>
      <div class="ws-side">
        <div class="form-actions">
          <button type="button" class="quiet" onClick={tree.reload}>
            {say('Read again')}
          </button>
        </div>
        {tree.problem !== null && <Notice kind="error">{tree.problem}</Notice>}
        {tree.rows?.length === 0 && <p class="empty">{say('No files here.')}</p>}
        {tree.rows !== null && tree.rows.length > 0 && (
          <Tree rows={tree.rows} shown={path} onToggle={tree.toggle} onOpen={(file) => choose({ file })} />
        )}
      </div>
      {path === '' ? (
        <p class="empty ws-none">{say('Choose a file.')}</p>
      ) : (
        <FileEditor key={path} id={id} path={path} onClose={() => choose({ file: '' })} />
      )}
    </div>
  )
}

function useTree(id: string) {
  const [folders, setFolders] = useState<Folders>(new Map())
  const [open, setOpen] = useState<ReadonlySet<string>>(new Set())
  const [problem, setProblem] = useState<string | null>(null)
  const read = useCallback(
    async (paths: Iterable<string>) => {
      try {
        for (const path of paths) {
          const names = inOrder(await listFolder(id, path))
          setFolders((before) => new Map([...before, [path, names]]))
        }
        setProblem(null)
      } catch (error) {
        setProblem(messageOf(error))
      }
    },
    [id],
  )
  useEffect(() => void read(['']), [read])
  const toggle = (path: string) => {
    const isOpen = open.has(path)
    setOpen(isOpen ? new Set([...open].filter((one) => one !== path)) : new Set([...open, path]))
    if (!isOpen) void read([path])
  }
  const rows = folders.has('') ? rowsOf(folders, open) : null
  return { rows, problem, toggle, reload: () => void read(['', ...open]) }
}

type TreeProps = { rows: Row[]; shown: string | null; onToggle: (path: string) => void; onOpen: (path: string) => void }

/** The rendered rows, and the one with the keyboard focus. */
function useRows({ rows, onToggle, onOpen }: TreeProps) {
  const list = useRef<HTMLDivElement>(null)
  const [sight, setSight] = useState({ top: 0, height: 600 })
  const [at, setAt] = useState(0)
  const active = Math.min(at, rows.length - 1)
  const { from, to } = rowsInSight(rows.length, { ...sight, row: ROW_PX })
  const look = () => {
    const { scrollTop = 0, clientHeight = 600 } = list.current ?? {}
    setSight({ top: scrollTop, height: clientHeight })
  }
  useEffect(look, [])
  const act = (row: Row) => (row.isFolder ? onToggle(row.path) : onOpen(row.path))
  const onKey = (event: KeyboardEvent) => {
    const row = rows[active]
    const next = rowAfterKey(rows, active, event.key)
    const isToggle = row?.isFolder && event.key === (row.isOpen ? 'ArrowLeft' : 'ArrowRight')
    if (row !== undefined && (isToggle || event.key === 'Enter' || event.key === ' ')) act(row)
    else if (next === null) return
    else {
      setAt(next)
      keepInSight(list.current, next)
    }
    event.preventDefault()
  }
  const onClick = (event: MouseEvent) => {
    const index = Number((event.target as Element).closest<HTMLElement>('[data-index]')?.dataset.index)
    const row = rows[index]
    if (row === undefined) return
    setAt(index)
    act(row)
  }
  return { list, active, from, to, look, onKey, onClick }
}

function Tree(props: TreeProps) {
  const { rows, shown } = props
  const { list, active, from, to, look, onKey, onClick } = useRows(props)
  return (
    <div
      class="ws-tree"
      role="tree"
      tabIndex={0}
      ref={list}
      aria-label={say('Files')}
      aria-activedescendant={`row-${active}`}
      onScroll={look}
      onKeyDown={onKey}
      onClick={onClick}
    >
      <div class="ws-rows" ref={(space) => space?.style.setProperty('height', `${rows.length * ROW_PX}px`)}>
        {rows.slice(from, to).map((row, index) => (
          <TreeRow
            key={row.path}
            row={row}
            index={from + index}
            isActive={from + index === active}
            isShown={row.path === shown}
          />
        ))}
      </div>
    </div>
  )
}

function keepInSight(list: HTMLDivElement | null, index: number): void {
  if (list === null) return
  const top = index * ROW_PX
  if (top < list.scrollTop) list.scrollTop = top
  else if (top + ROW_PX > list.scrollTop + list.clientHeight) list.scrollTop = top + ROW_PX - list.clientHeight
}

type TreeRowProps = { row: Row; index: number; isActive: boolean; isShown: boolean }

function TreeRow({ row, index, isActive, isShown }: TreeRowProps) {
  const set = (element: HTMLDivElement | null) => {
    element?.style.setProperty('top', `${index * ROW_PX}px`)
    element?.style.setProperty('padding-left', `${0.5 + row.depth}rem`)
  }
  return (
    <div
      class={isActive ? 'ws-row active' : 'ws-row'}
      role="treeitem"
      id={`row-${index}`}
      ref={set}
      tabIndex={-1}
      data-index={index}
      aria-level={row.depth + 1}
      aria-selected={isShown}
      {...(row.isFolder && { 'aria-expanded': row.isOpen })}
    >
      <span class="ws-fold" aria-hidden="true">
        {row.isFolder ? (row.isOpen ? '▾' : '▸') : ''}
      </span>
      {visible(row.name)}
      {row.isFolder && '/'}
    </div>
  )
}

/** The text as it was read, and the edited text, with the line ends of a text field. */
type Opened = { text: string; draft: string }

const openedOf = (text: string): Opened => ({ text, draft: inLines(text) })
const isEdited = ({ text, draft }: Opened): boolean => draft !== inLines(text)

/** Edits of a file are kept until they are saved, even when another page is opened. */
function useOpened(id: string, path: string) {
  const [edited, setEdited] = useUnsaved<Opened | null>(placeOfFile(id, path), null)
  const [read, setRead] = useState<Opened | null>(null)
  const opened = edited ?? read
  const newest = useRef(opened)
  newest.current = opened
  const set = (change: (before: Opened) => Opened) => {
    if (newest.current === null) return
    const next = change(newest.current)
    newest.current = next
    setRead(next)
    setEdited(isEdited(next) ? next : null)
  }
  return { opened, set, setRead }
}

type Saving = {
  state: 'idle' | 'saving' | 'saved'
  problem: string | null
  /** The current contents, if another client changed the file; `text` is null if the file was deleted. */
  theirs: { text: string | null } | null
}

const IDLE: Saving = { state: 'idle', problem: null, theirs: null }

/** Saves only if no other client changed the file meanwhile, or if overwriting is confirmed. */
async function stored(id: string, path: string, { text, draft, overwrites }: Opened & { overwrites: boolean }) {
  const now = overwrites ? text : await textNow(id, path)
  if (now !== text) return { theirs: { text: now } }
  const written = withEndsOf(text, draft)
  await saveText(id, path, written)
  return { written }
}

function useFile(id: string, path: string) {
  const { opened, set, setRead } = useOpened(id, path)
  const [saving, setSaving] = useState(IDLE)
  const isBusy = useRef(false)
  const failed = (error: unknown) => setSaving({ ...IDLE, problem: messageOf(error) })
  useEffect(() => {
    if (opened === null) readText(id, path).then((text) => setRead(openedOf(text)), failed)
  }, [id, path])
  const take = (text: string) => {
    set(() => openedOf(text))
    setSaving(IDLE)
  }
  const save = async (overwrites: boolean) => {
    if (opened === null || isBusy.current) return
    isBusy.current = true
    setSaving({ ...IDLE, state: 'saving' })
    try {
      const { written, theirs = null } = await stored(id, path, { ...opened, overwrites })
      // Text that was entered meanwhile is kept.
      if (written !== undefined) set(({ draft }) => ({ text: written, draft }))
      setSaving({ ...IDLE, theirs, state: theirs === null ? 'saved' : 'idle' })
    } catch (error) {
      failed(error)
    }
    isBusy.current = false
  }
  const write = (draft: string) => {
    setSaving((before) => (before.state === 'saved' ? IDLE : before))
    set(({ text }) => ({ text, draft }))
  }
  return { opened, saving, save, take, write }
}

function FileEditor({ id, path, onClose }: { id: string; path: string; onClose: () => void }) {
  const { opened, saving, save, take, write } = useFile(id, path)
  const { state, problem, theirs } = saving
  const isChanged = opened !== null && isEdited(opened)
  const keep = () => void save(false)
  return (
    <section class="ws-file" aria-label={path}>
      <div class="files-head">
        <button type="button" class="quiet" onClick={onClose}>
          ← {say('Files')}
        </button>
        <strong class="mono ws-path">{visible(path)}</strong>
        <output class="hint">{isChanged ? say('Not saved yet') : state === 'saved' ? say('Saved.') : ''}</output>
        <button type="button" class="primary" disabled={!isChanged || state === 'saving'} onClick={keep}>
          {state === 'saving' ? say('Saving…') : say('Save')}
        </button>
      </div>
      {problem !== null && <Notice kind="error">{problem}</Notice>}
      {theirs !== null && <Conflict theirs={theirs.text} onMine={() => void save(true)} onTheirs={take} />}
      {opened === null && problem === null && <p class="opening">{say('Opening…')}</p>}
      {opened !== null && (
        <Body long={!isChanged && opened.draft.length > MOST_EDITED} text={opened.draft}>
          <TextArea path={path} text={opened.draft} onText={write} onSave={() => isChanged && keep()} />
        </Body>
      )}
    </section>
  )
}

/** A longer text blocks the page for seconds in a text field. */
const MOST_EDITED = 1_000_000
const BEGINNING = 50_000

/** Only the beginning of a long text, until the user edits it. */
function Body({ long, text, children }: { long: boolean; text: string; children: ComponentChildren }) {
  const [isWanted, setIsWanted] = useState(false)
  if (!long || isWanted) return children
  return (
    <>
      <Notice kind="info" action={{ label: say('Edit it all the same'), run: () => setIsWanted(true) }}>
        {say('The file has {count} characters. This is its beginning.', { count: text.length.toLocaleString(locale) })}
      </Notice>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard */}
      <pre class="output ws-beginning" tabIndex={0}>
        {text.slice(0, BEGINNING)}
      </pre>
    </>
  )
}

type AreaProps = { path: string; text: string; onText: (text: string) => void; onSave: () => void }

function TextArea({ path, text, onText, onSave }: AreaProps) {
  const area = useRef<HTMLTextAreaElement>(null)
  useLayoutEffect(() => area.current?.focus({ preventScroll: true }), [])
  return (
    <textarea
      class="mono ws-text"
      ref={area}
      aria-label={say('Text of {path}', { path })}
      spellcheck={false}
      wrap="off"
      value={text}
      onInput={(event) => onText(event.currentTarget.value)}
      onKeyDown={(event) => {
        if (event.key !== 's' || !(event.ctrlKey || event.metaKey)) return
        event.preventDefault()
        onSave()
      }}
    />
  )
}

type ConflictProps = { theirs: string | null; onMine: () => void; onTheirs: (text: string) => void }

const Conflict = ({ theirs, onMine, onTheirs }: ConflictProps) => (
  <div class="notice warning" role="alert">
    <div>
      {theirs === null
        ? say('The file is not there any more. Nothing was saved.')
        : say('The file was changed since you opened it. Nothing was saved.')}
    </div>
    <span class="form-actions">
      {theirs !== null && (
        <button type="button" onClick={() => onTheirs(theirs)}>
          {say('Take theirs')}
        </button>
      )}
      <button type="button" class="danger" onClick={onMine}>
        {say('Save mine all the same')}
      </button>
    </span>
  </div>
)
