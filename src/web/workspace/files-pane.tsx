// The tree of the workspace, and one of its files: to read, or to write.

import { useCallback, useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { messageOf } from '../api.ts'
import { say } from '../texts.ts'
import { Notice } from '../ui.tsx'
import { type Folders, inOrder, type Row, rowAfterKey, rowsInSight, rowsOf } from './tree.ts'
import { listFolder, readText, saveText } from './workspace-api.ts'

const ROW_PX = 32

export function FilesPane({ id }: { id: string }) {
  const [path, setPath] = useState<string | null>(null)
  const tree = useTree(id)
  return (
    <div class={path === null ? 'ws-files' : 'ws-files with-file'}>
      <div class="ws-side">
        <div class="form-actions">
          <button type="button" class="quiet" onClick={tree.reload}>
            {say('Read again')}
          </button>
        </div>
        {tree.problem !== null && <Notice kind="error">{tree.problem}</Notice>}
        {tree.rows?.length === 0 && <p class="empty">{say('No files here.')}</p>}
        {tree.rows !== null && tree.rows.length > 0 && (
          <Tree rows={tree.rows} shown={path} onToggle={tree.toggle} onOpen={setPath} />
        )}
      </div>
      {path === null ? (
        <p class="empty ws-none">{say('Choose a file.')}</p>
      ) : (
        <FileEditor key={path} id={id} path={path} onClose={() => setPath(null)} />
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

/** Which rows are drawn, and which of them the keyboard stands on. */
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
      {row.name}
      {row.isFolder && '/'}
    </div>
  )
}

type Opened = { text: string; draft: string }

/** A file with what is written over it. It is stored only where nobody else changed it meanwhile, or where that is wanted. */
function useFile(id: string, path: string) {
  const [opened, setOpened] = useState<Opened | null>(null)
  const [problem, setProblem] = useState<string | null>(null)
  /** What stands there now, where somebody else changed the file. */
  const [theirs, setTheirs] = useState<string | null>(null)
  const [state, setState] = useState<'idle' | 'saving' | 'saved'>('idle')
  useEffect(() => {
    readText(id, path).then(
      (text) => setOpened({ text, draft: text }),
      (error: unknown) => setProblem(messageOf(error)),
    )
  }, [id, path])
  const take = (text: string) => {
    setOpened({ text, draft: text })
    setTheirs(null)
  }
  const save = async (overwrites: boolean) => {
    if (opened === null) return
    setState('saving')
    setProblem(null)
    try {
      const now = overwrites ? opened.text : await readText(id, path)
      if (now === opened.text) {
        await saveText(id, path, opened.draft)
        take(opened.draft)
        setState('saved')
        return
      }
      setTheirs(now)
    } catch (error) {
      setProblem(messageOf(error))
    }
    setState('idle')
  }
  const write = (draft: string) => {
    setState('idle')
    setOpened((before) => before && { ...before, draft })
  }
  return { opened, problem, theirs, state, save, take, write }
}

function FileEditor({ id, path, onClose }: { id: string; path: string; onClose: () => void }) {
  const { opened, problem, theirs, state, save, take, write } = useFile(id, path)
  const isChanged = opened !== null && opened.draft !== opened.text
  const keep = () => void save(false)
  return (
    <section class="ws-file" aria-label={path}>
      <div class="files-head">
        <button type="button" class="quiet" onClick={onClose}>
          ← {say('Files')}
        </button>
        <strong class="mono ws-path">{path}</strong>
        <output class="hint">{isChanged ? say('Not saved yet') : state === 'saved' ? say('Saved.') : ''}</output>
        <button type="button" class="primary" disabled={!isChanged || state === 'saving'} onClick={keep}>
          {state === 'saving' ? say('Saving…') : say('Save')}
        </button>
      </div>
      {problem !== null && <Notice kind="error">{problem}</Notice>}
      {theirs !== null && <Conflict onMine={() => void save(true)} onTheirs={() => take(theirs)} />}
      {opened === null && problem === null && <p class="opening">{say('Opening…')}</p>}
      {opened !== null && (
        <TextArea path={path} text={opened.draft} onText={write} onSave={() => isChanged && keep()} />
      )}
    </section>
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

const Conflict = ({ onMine, onTheirs }: { onMine: () => void; onTheirs: () => void }) => (
  <div class="notice warning" role="alert">
    <div>{say('The file was changed since you opened it. Nothing was saved.')}</div>
    <span class="form-actions">
      <button type="button" onClick={onTheirs}>
        {say('Take theirs')}
      </button>
      <button type="button" class="danger" onClick={onMine}>
        {say('Save mine all the same')}
      </button>
    </span>
  </div>
)
