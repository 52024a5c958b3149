import { useCallback, useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { listFiles, messageOf, readFile, uploadFiles, zipAddress } from '../api.ts'
import { ScrolledPre } from '../scrolled-pre.tsx'
import { locale, say } from '../texts.ts'
import { Notice, useAnswer } from '../ui.tsx'
import { visible } from '../visible.ts'

type Props = {
  id: string
  /** Changes whenever the workspace may have changed. */
  revision: number
  /** The event for which the earlier files are shown; null for now. */
  at: number | null
}

type OpenFile = { path: string; text: string }

export function Files({ id, revision, at }: Props) {
  const [path, setPath] = useState('')
  const [shown, setShown] = useState<OpenFile | null>(null)
  const [uploads, setUploads] = useState(0)
  const { names, problem, setProblem } = useListing(id, { path, at }, `${revision}/${uploads}`)
  const read = useNewest(at)
  const open = async (name: string) => {
    if (name.endsWith('/')) {
      read.cancel()
      setPath(name.slice(0, -1))
      return
    }
    try {
      await read.run(readFile(id, name, at), ({ code }) => {
        setShown({ path: name, text: code })
        setProblem(null)
      })
    } catch (error) {
      setProblem(messageOf(error))
    }
  }
  useEffect(() => setShown(null), [at])
  if (shown !== null) return <FileView file={shown} onClose={() => setShown(null)} />
  return (
    <>
      <div class="files-head">
        <Crumbs path={path} onOpen={setPath} />
        {at === null && <Upload id={id} onUploaded={() => setUploads((count) => count + 1)} />}
      </div>
      {at !== null && <Notice kind="info">{say('As they were at event {n}.', { n: at })}</Notice>}
      {problem !== null && <Notice kind="error">{problem}</Notice>}
      {names?.length === 0 && <p class="empty">{say('No files here.')}</p>}
      <FileList names={names ?? []} onOpen={(name) => void open(name)} />
      <a class="button download-zip" href={zipAddress(id, at)} download>
        {say('Download as ZIP')}
      </a>
    </>
  )
}

/** Accepts only the answer to the latest request; a change of `at` cancels earlier requests. */
function useNewest(at: number | null) {
  const newest = useRef<object | null>(null)
  const cancel = () => {
    newest.current = null
  }
  useEffect(cancel, [at])
  const run = async <T,>(answer: Promise<T>, take: (value: T) => void): Promise<void> => {
    const mine = {}
    newest.current = mine
    try {
      const value = await answer
      if (mine === newest.current) take(value)
    } catch (error) {
      if (mine === newest.current) throw error
    }
  }
  return { run, cancel }
}

/** The names in a folder, read again whenever `version` changes; `null` while it is read for the first time. */
function useListing(id: string, { path, at }: { path: string; at: number | null }, version: string) {
  const ask = async () => ({ path, names: await listFiles(id, path, at) })
  const { found, problem, setProblem } = useAnswer(ask, [id, path, at, version])
  return { names: found?.path === path ? found.names : null, problem, setProblem }
}

/** The last part of a path; a folder keeps its slash. */
const baseName = (path: string): string => path.slice(path.lastIndexOf('/', path.length - 2) + 1)

function Crumbs({ path, onOpen }: { path: string; onOpen: (path: string) => void }) {
  const parts = path === '' ? [] : path.split('/')
  return (
    <nav class="crumbs" aria-label={say('Folder')}>
      <button type="button" class="quiet" onClick={() => onOpen('')}>
        workspace
      </button>
      {parts.map((part, index) => (
        <button
          type="button"
          class="quiet"
          key={parts.slice(0, index + 1).join('/')}
          onClick={() => onOpen(parts.slice(0, index + 1).join('/'))}
        >
          / {visible(part)}
        </button>
      ))}
    </nav>
  )
}

type ListProps = { names: readonly string[]; nameOf?: (path: string) => string; onOpen: (path: string) => void }

/** A folder keeps its slash. */
export const FileList = ({ names, nameOf = baseName, onOpen }: ListProps) => (
  <ul class="files-list">
    {names.map((name) => (
      <li key={name}>
        <button type="button" class="file" onClick={() => onOpen(name)}>
          {visible(nameOf(name))}
        </button>
      </li>
    ))}
  </ul>
)

function FileView({ file, onClose }: { file: OpenFile; onClose: () => void }) {
  const back = useRef<HTMLButtonElement>(null)
  // In the frame that shows it, so that a key press reaches it.
  useLayoutEffect(() => back.current?.focus(), [])
  return (
    <section class="file-view" aria-label={file.path}>
      <div class="files-head">
        <button type="button" class="quiet" ref={back} onClick={onClose}>
          ← {say('Files')}
        </button>
        <strong class="mono">{visible(file.path)}</strong>
      </div>
      <FileText text={file.text} />
    </section>
  )
}

const FOLD_AT = 100_000

/** A long text is rendered completely only on request. */
export function FileText({ text }: { text: string }) {
  const [isWhole, setIsWhole] = useState(text.length <= FOLD_AT)
  return (
    <>
      <ScrolledPre class="output">{isWhole ? text : text.slice(0, FOLD_AT)}</ScrolledPre>
      {!isWhole && (
        <button type="button" class="quiet" onClick={() => setIsWhole(true)}>
          {say('Show all {count} characters', { count: text.length.toLocaleString(locale) })}
        </button>
      )}
    </>
  )
}

type Outcome = { kind: 'info' | 'warning' | 'error'; text: string }

function outcomeOf({
  uploaded_files: stored,
  skipped_files: skipped,
}: Awaited<ReturnType<typeof uploadFiles>>): Outcome {
  const told = stored.length === 0 ? [] : [say('Stored as {names}', { names: stored.map(visible).join(', ') })]
  for (const { name, reason } of skipped) {
    told.push(say('{name} was left out: {reason}', { name: visible(name), reason }))
  }
  return { kind: skipped.length > 0 ? 'warning' : 'info', text: told.join('. ') }
}

function Upload({ id, onUploaded }: { id: string; onUploaded: () => void }) {
  const input = useRef<HTMLInputElement>(null)
  const [busy, setBusy] = useState(false)
  const [outcome, setOutcome] = useState<Outcome | null>(null)
  const send = useCallback(
    async (files: File[]) => {
      if (files.length === 0) return
      setBusy(true)
      try {
        setOutcome(outcomeOf(await uploadFiles(id, files)))
        onUploaded()
      } catch (error) {
        setOutcome({ kind: 'error', text: messageOf(error) })
      }
      setBusy(false)
      if (input.current) input.current.value = ''
    },
    [id, onUploaded],
  )
  return (
    <>
      <label class="button upload">
        {busy ? say('Uploading…') : say('Upload')}
        <input
          ref={input}
          type="file"
          multiple
          class="visually-hidden"
          disabled={busy}
          onChange={(event) => void send([...(event.currentTarget.files ?? [])])}
        />
      </label>
      {outcome !== null && <Notice kind={outcome.kind}>{outcome.text}</Notice>}
    </>
  )
}
