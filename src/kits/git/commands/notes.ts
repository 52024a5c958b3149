import { type Arguments, parseArguments, unknownWord } from '../arguments.ts'
import { textOf, utf8 } from '../bytes.ts'
import { storeCommit } from '../commits.ts'
import { editFile } from '../editor.ts'
import { failed, fatal } from '../failure.ts'
import type { Invocation } from '../invocation.ts'
import { tidyMessage } from '../message-cleanup.ts'
import { notesOf, notesRef } from '../notes.ts'
import { MODE } from '../objects.ts'
import { readText } from '../ref-files.ts'
import { revision } from '../revisions.ts'
import { writeGitFile } from '../sequencer/state-files.ts'
import { writeTree } from '../tree.ts'

const USAGE = 'usage: git notes [--ref <notes-ref>] [list | add | copy | append | edit | show | remove | get-ref]'

/** Notes attached to commits. */
export async function notes(git: Invocation, args: string[]): Promise<number> {
  const words = [...args]
  let ref = await notesRef(git)
  const given = /^--ref(?:=(.*))?$/.exec(words[0] ?? '')
  if (given) {
    words.shift()
    const name = given[1] ?? words.shift() ?? ''
    ref = name.startsWith('refs/notes/') ? name : name.startsWith('notes/') ? `refs/${name}` : `refs/notes/${name}`
  }
  const [action = 'list', ...rest] = words
  const command = ACTIONS[action]
  if (!command) throw unknownWord(action, USAGE)
  return command(git, ref, rest)
}

type Action = (git: Invocation, ref: string, args: string[]) => Promise<number>

const ACTIONS: Record<string, Action> = {
  list,
  show,
  remove,
  copy,
  add: (git, ref, args) => add(git, { ref, args, action: 'add' }),
  append: (git, ref, args) => add(git, { ref, args, action: 'append' }),
  edit: (git, ref, args) => add(git, { ref, args, action: 'edit' }),
  'get-ref': async (git, ref) => {
    git.line(ref)
    return 0
  },
}

async function objectNamed(git: Invocation, word: string): Promise<string> {
  const oid = await revision(git.repo(), word)
  if (oid === null) throw fatal(`failed to resolve '${word}' as a valid ref.`)
  return oid
}

async function list(git: Invocation, ref: string, args: string[]): Promise<number> {
  const [word] = parseArguments('notes list', [], args).rest
  const kept = await notesOf(git.repo(), ref)
  if (word === undefined) {
    for (const [oid, note] of [...kept].sort(([a], [b]) => (a < b ? -1 : 1))) git.line(`${note} ${oid}`)
    return 0
  }
  git.line(await noteFor(git, ref, word))
  return 0
}

async function noteFor(git: Invocation, ref: string, word: string): Promise<string> {
  const oid = await objectNamed(git, word)
  const note = (await notesOf(git.repo(), ref)).get(oid)
  if (note === undefined) throw failed(`no note found for object ${oid}.`)
  return note
}

async function show(git: Invocation, ref: string, args: string[]): Promise<number> {
  const [word = 'HEAD'] = parseArguments('notes show', [], args).rest
  git.out((await git.repo().objects.read(await noteFor(git, ref, word))).bytes)
  return 0
}

const TEXT_OPTIONS = ['message|m=', 'file|F=', 'reuse-message|C=', 'force|f', 'allow-empty']

type Adding = { ref: string; args: string[]; action: 'add' | 'append' | 'edit' }

async function add(git: Invocation, { ref, args, action }: Adding): Promise<number> {
  const options = parseArguments(`notes ${action}`, TEXT_OPTIONS, args)
  const repo = git.repo()
  const oid = await objectNamed(git, options.rest[0] ?? 'HEAD')
  const kept = await notesOf(repo, ref)
  const before = kept.get(oid)
  const isGiven = options.inOrder('message', 'file', 'reuse-message').length > 0
  if (before !== undefined && action === 'add' && !isGiven && !options.has('force'))
    return add(git, { ref, args, action: 'edit' })
  if (before !== undefined && action === 'add') {
    if (!options.has('force'))
      throw failed(`Cannot add notes. Found existing notes for object ${oid}. Use '-f' to overwrite existing notes`)
    git.err(`Overwriting existing notes for object ${oid}`)
  }
  const old = before === undefined ? '' : textOf((await repo.objects.read(before)).bytes)
  const text = await textFor(git, options, action === 'append' ? '' : old)
  const whole = action === 'append' && old !== '' ? `${old.replace(/\n*$/, '\n')}\n${text}` : text
  if (whole === '' && !options.has('allow-empty')) {
    if (before !== undefined || action !== 'append') git.err(`Removing note for object ${oid}`)
    if (before === undefined) return 0
    kept.delete(oid)
  } else kept.set(oid, await repo.objects.write('blob', utf8(whole)))
  await save(git, { ref, kept, action })
  return 0
}

async function textFor(git: Invocation, options: Arguments, edited: string): Promise<string> {
  const parts = options.inOrder('message', 'file', 'reuse-message')
  const [first] = parts
  // The text of another note is used unchanged.
  if (first?.name === 'reuse-message' && parts.length === 1) return textFrom(git, first)
  const texts: string[] = []
  for (const part of parts) texts.push(await textFrom(git, part))
  if (texts.length > 0) return tidyMessage(texts.map((text) => text.replace(/\n*$/, '\n')).join('\n'))
  await writeGitFile(git.repo(), 'NOTES_EDITMSG', edited)
  return tidyMessage(await editFile(git, `${git.repo().gitDir}/NOTES_EDITMSG`, 'message'), 'strip')
}

async function textFrom(git: Invocation, { name, value }: { name: string; value: string }): Promise<string> {
  if (name === 'message') return value
  if (name === 'reuse-message') {
    const { type, bytes } = await git.repo().objects.read(await objectNamed(git, value))
    if (type !== 'blob') throw fatal(`cannot read note data from non-blob object '${value}'.`)
    return textOf(bytes)
  }
  const text = value === '-' ? git.stdin : await readText(git.fs, git.resolve(value))
  if (text === null) throw fatal(`could not open or read '${value}': No such file or directory`)
  return text
}

async function remove(git: Invocation, ref: string, args: string[]): Promise<number> {
  const options = parseArguments('notes remove', ['ignore-missing'], args)
  const kept = await notesOf(git.repo(), ref)
  const before = kept.size
  let exitCode = 0
  for (const word of options.rest.length > 0 ? options.rest : ['HEAD']) {
    const oid = await objectNamed(git, word)
    if (kept.delete(oid)) git.err(`Removing note for object ${word}`)
    else {
      git.err(`Object ${word} has no note`)
      if (!options.has('ignore-missing')) exitCode = 1
    }
  }
  if (exitCode === 0 && kept.size < before) await save(git, { ref, kept, action: 'remove' })
  return exitCode
}

async function copy(git: Invocation, ref: string, args: string[]): Promise<number> {
  const options = parseArguments('notes copy', ['force|f'], args)
  const [from, to = 'HEAD'] = options.rest
  if (from === undefined) throw failed('too few arguments', 129)
  const kept = await notesOf(git.repo(), ref)
  const [source, goal] = [await objectNamed(git, from), await objectNamed(git, to)]
  const note = kept.get(source)
  if (kept.has(goal) && !options.has('force'))
    throw failed(`Cannot copy notes. Found existing notes for object ${goal}. Use '-f' to overwrite existing notes`)
  if (note === undefined) throw failed(`missing notes on source object ${source}. Cannot copy.`)
  if (kept.has(goal)) git.err(`Overwriting existing notes for object ${goal}`)
  kept.set(goal, note)
  await save(git, { ref, kept, action: 'copy' })
  return 0
}

type Saving = { ref: string; kept: ReadonlyMap<string, string>; action: string }

/** Many notes are distributed over folders, by the first digits of the ids. */
const MANY = 256

async function save(git: Invocation, { ref, kept, action }: Saving): Promise<void> {
  const repo = git.repo()
  const place = (oid: string) => (kept.size > MANY ? `${oid.slice(0, 2)}/${oid.slice(2)}` : oid)
  const tree = await writeTree(
    repo,
    [...kept].map(([oid, note]) => ({ path: place(oid), mode: MODE.file, oid: note })),
  )
  const parent = await repo.refs.resolve(ref)
  const by = await git.signature('committer')
  const message = `Notes added by 'git notes ${action}'\n`.replace('added', action === 'remove' ? 'removed' : 'added')
  const author = await git.signature('author')
  const parents = parent === null ? [] : [parent]
  const oid = await storeCommit(repo, { tree, parents, author, committer: by, message })
  await repo.refs.change(ref, { oid, by, message: `notes: ${message.trim()}` })
}
